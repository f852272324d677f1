#include "framework/kernels/load.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "framework/core/error.h"

namespace weir {
namespace {

bool supported(std::string_view isa) {
  __builtin_cpu_init();
  if (isa == "baseline") return true;
  if (isa == "avx2") return __builtin_cpu_supports("x86-64-v3");
  if (isa == "avx512") return __builtin_cpu_supports("x86-64-v4");
  return false;
}

std::filesystem::path library_of(std::string_view isa) {
  Dl_info here;
  dladdr(reinterpret_cast<void*>(&load_cpu_kernels), &here);
  return std::filesystem::path(here.dli_fname).parent_path() / str("libweir_cpu_", isa, ".so");
}

// A package holds all sets, a build of its own machine's often the widest alone.
std::string choose() {
  const char* asked = std::getenv("WEIR_CPU_CAPABILITY");
  if (asked && *asked) {  // set to nothing is not set
    check(supported(asked), "WEIR_CPU_CAPABILITY=", asked, ": expected baseline, avx2 or avx512, and a machine that has it");
    check(exists(library_of(asked)), "WEIR_CPU_CAPABILITY=", asked, ": these kernels are not built; ./scripts/setup with this variable builds them");
    return asked;
  }
  for (const char* isa : {"avx512", "avx2", "baseline"})
    if (supported(isa) && exists(library_of(isa))) return isa;
  throw Error(str("no CPU kernels for this machine lie in ", library_of("").parent_path().string(), "; ./scripts/setup builds them"));
}

std::string load() {
  const std::string isa = choose(), path = library_of(isa);
  // In two steps: as arguments of one call, dlerror might be asked before dlopen has failed.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(library, "cannot load the CPU kernels: ", library ? "" : dlerror());
  return isa;
}

}  // namespace

std::string_view load_cpu_kernels() {
  static const std::string isa = load();
  return isa;
}

}  // namespace weir
