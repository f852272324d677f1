#include "framework/ops/copies.h"

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

static void detach_copy(const DetachCopy&, Inputs in, Outputs out) { run_copy(in[0], out[0]); }

static const bool bound = [] {
  set_kernel<DetachCopy, detach_copy>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
