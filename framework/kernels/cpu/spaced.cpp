#include "framework/kernels/cpu/spaced.h"

#include <cmath>

#include "framework/op/op.h"
#include "framework/ops/spaced.h"

namespace weir {
namespace WEIR_ISA {

static void between(const SpacedBetween& op, Inputs in, Outputs out) {
  auto end = [&](int i) {
    const Scalar s = item(in[i]);
    return op.whole && s.is_real() && std::isfinite(s.to_double()) ? Scalar(s.to_int()) : s;
  };
  fill_spaced(out[0], end(0), end(1));
}

static const bool bound = [] {
  set_kernel<SpacedBetween, between>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
