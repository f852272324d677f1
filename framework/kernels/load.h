// Opens the CPU kernel library for the best instruction set of this machine.
#pragma once
#include <string_view>

namespace weir {

/// Loads the kernels once; "baseline", "avx2" or "avx512" says which: the widest that is built, unless
/// WEIR_CPU_CAPABILITY names another one.
/// RuntimeError (of Python's `import weir`, ImportError) when the library is missing or the machine lacks the instructions asked for.
std::string_view load_cpu_kernels();

}  // namespace weir
