// Memory that nobody has written yet. Where a program asks for deterministic algorithms it holds numbers that show in a result.
#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/core/dtype.h"

namespace weir {

/// Whether `empty` and `resize_` write into the memory they take. Source: torch.utils.deterministic.fill_uninitialized_memory.
extern bool fill_unset_memory;
/// NaN for floating numbers and the real parts of complex ones, else the largest of the dtype, in `bytes` of memory.
void write_unset(std::byte* p, int64_t bytes, DType dtype);

}  // namespace weir
