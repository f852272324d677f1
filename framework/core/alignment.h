// Where elements may stand: kernels read them through pointers of their type, which promise the compiler its alignment.
#pragma once
#include <cstdint>

#include "framework/core/dtype.h"

namespace weir {

/// Whether elements of `t` may stand at `p`. Our own memory is aligned for all; NumPy's, a buffer's or a file's need not be.
inline bool is_aligned_for(DType t, const void* p) { return reinterpret_cast<uintptr_t>(p) % size_of(real_type(t)) == 0; }

}  // namespace weir
