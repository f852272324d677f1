#include "framework/kernels/load.h"

#include <dlfcn.h>

#include <cstdlib>
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

std::string choose() {
  if (const char* asked = std::getenv("WEIR_CPU_CAPABILITY")) {
    check(supported(asked), "WEIR_CPU_CAPABILITY=", asked, ": expected baseline, avx2 or avx512, and a machine that has it");
    return asked;
  }
  for (const char* isa : {"avx512", "avx2"})
    if (supported(isa)) return isa;
  return "baseline";
}

std::string load() {
  std::string isa = choose();
  Dl_info here;
  dladdr(reinterpret_cast<void*>(&load_cpu_kernels), &here);
  std::string path = here.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "libweir_cpu_" + isa + ".so";
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
