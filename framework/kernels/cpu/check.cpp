#include "framework/ops/check.h"

#include <algorithm>

#include "framework/kernels/cpu/loops.h"
#include "framework/ops/index.h"

namespace weir {
namespace WEIR_ISA {
namespace {

void check_range(const CheckRange& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  visit_real_dtype("check_range", x.dtype(), [&](auto tag) {
    auto* v = x.data<typename decltype(tag)::type>();
    bool ok = true;
    for (int64_t i = 0; i < x.numel(); i++) ok &= double(v[i]) >= op.low && double(v[i]) <= op.high;
    check(ok, op.what.view(), " must be in the range [", op.low, ", ", op.high, "]");
  });
  run_copy(x, out[0]);
}

void check_not_negative(const CheckNotNegative& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  visit_real_dtype("check_not_negative", x.dtype(), [&](auto tag) {
    auto* v = x.data<typename decltype(tag)::type>();
    bool below = false;
    for (int64_t i = 0; i < x.numel(); i++) below |= double(v[i]) < 0;
    check<ValueError>(!below || op.error == "RuntimeError", op.what.view(), " has negative entries");
    check(!below, op.what.view(), " has negative entries");
  });
  run_copy(x, out[0]);
}

void check_nonzero(const CheckNonzero& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]);
  visit_real_dtype("check_nonzero", x.dtype(), [&](auto tag) {
    auto* v = x.data<typename decltype(tag)::type>();
    bool ok = true;
    for (int64_t i = 0; i < x.numel(); i++) ok &= double(v[i]) != 0;
    check(ok, op.what.view(), " must not be zero");
  });
  run_copy(x, out[0]);
}

void check_number(const CheckNumber& op, Inputs in, Outputs out) {
  weir::check_written(in[0], op.dtype);
  run_copy(in[0], out[0]);
}

void check_true(const CheckTrue& op, Inputs in, Outputs out) {
  const Tensor condition = row_major(in[1]);
  const bool* holds = condition.data<bool>();
  const bool ok = std::all_of(holds, holds + condition.numel(), [](bool x) { return x; });
  check<ValueError>(ok || op.error == "RuntimeError", op.op.view(), ": ", op.what.view());
  check(ok, op.op.view(), ": ", op.what.view());
  run_copy(in[0], out[0]);
}

void underived(const Underived&, Inputs in, Outputs out) { run_copy(in[0], out[0]); }

const bool bound = [] {
  set_kernel<Underived, underived>(DeviceType::cpu);
  set_kernel<CheckRange, check_range>(DeviceType::cpu);
  set_kernel<CheckNotNegative, check_not_negative>(DeviceType::cpu);
  set_kernel<CheckNumber, check_number>(DeviceType::cpu);
  set_kernel<CheckNonzero, check_nonzero>(DeviceType::cpu);
  set_kernel<CheckTrue, check_true>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
