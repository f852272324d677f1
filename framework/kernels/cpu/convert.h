// Numbers of one dtype as numbers of another; `convert` of loops.h looks for the function each time.
#pragma once
#include <cstdint>

#include "framework/core/dtype.h"

namespace weir {
namespace WEIR_ISA {

/// Reads n numbers from the first pointer, its stride in elements behind it, and writes them at the second.
using Converter = void (*)(const void*, int64_t, void*, int64_t, int64_t);
/// For loops over short runs, which would otherwise look for the types in each.
Converter converter(DType from, DType to);

}  // namespace WEIR_ISA
}  // namespace weir
