// Storages whose memory a program took away while tensors still show it (`UntypedStorage.resize_(0)`): reversible and sharded modules do so
// to save memory until they fill it again. Their tensors stay as long as they were. So that none reads what belongs to somebody else, the
// storage keeps its addresses, of pages that the system takes back: they read as zeros until they are filled again.
#pragma once
#include "framework/core/storage.h"

namespace weir {

/// May a program change the number of bytes? Not of foreign memory, nor where NumPy or DLPack looks at it.
bool resizable(const Storage& storage);
/// From now on the memory keeps its address: others look at it.
void keep_in_place(Storage& storage);
/// Leaves `bytes` of the memory, no more than there are, and gives the rest back to the system.
void shrink(Storage& storage, size_t bytes);
/// Of a storage that was shrunk: makes room for `bytes`. False for any other.
bool regrow(Storage& storage, size_t bytes);

}  // namespace weir
