#include "framework/op/copy.h"

#include "framework/kernels/cpu/loops.h"
#include "framework/ops/create.h"

namespace weir {
namespace WEIR_ISA {
namespace {
void copy(const Copy&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }
void fill(const Fill&, Inputs in, Outputs out) { run_copy(in[1], out[0]); }
}  // namespace

static const bool registered = (set_kernel<Copy, copy>(DeviceType::cpu), set_kernel<Fill, fill>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
