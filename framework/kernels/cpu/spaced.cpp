#include "framework/kernels/cpu/spaced.h"

#include "framework/op/op.h"
#include "framework/ops/spaced.h"

namespace weir {
namespace WEIR_ISA {

static void between(const SpacedBetween& op, Inputs in, Outputs out) {
  fill_spaced(out[0], as_end(item(in[0]), op.whole), as_end(item(in[1]), op.whole));
}

static const bool bound = [] {
  set_kernel<SpacedBetween, between>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
