#include "framework/op/copy.h"

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {
void copy(const Copy&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }
}  // namespace

static const bool registered = (set_kernel<Copy, copy>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
