#include "framework/ops/loss_scale.h"

#include "framework/op/changes.h"

namespace weir {
namespace {

void check_number(const char* what, const Tensor& t) { check(t.numel() == 1, what, " must be a 1-element tensor."); }
void check_float(const char* what, const Tensor& t) { check(t.dtype() == DType::float32, what, " must be a float tensor."); }

}  // namespace

Meta AmpUnscale::infer(Inputs in) const {
  check_number("inv_scale", in[2]);
  check_number("found_inf", in[1]);
  check_float("inv_scale", in[2]);
  check_float("found_inf", in[1]);
  const DType t = in[0].dtype();
  check<NotImplemented>(is_floating(t), "\"_amp_foreach_non_finite_check_and_unscale_cpu\" not implemented for '", name_of(t), "'");
  return in[0].meta();
}

Meta AmpUpdateScale::infer(Inputs in) const {
  check_number("growth_tracker", in[1]);
  check_number("current_scale", in[0]);
  check_number("found_inf", in[2]);
  check(in[1].dtype() == DType::int32, "growth_tracker must be an int tensor.");
  check_float("current_scale", in[0]);
  check_float("found_inf", in[2]);
  return in[0].meta();
}

static const LossScaleOps::Registration ops;
static const bool changing = [] {
  LossScaleOps::for_each([]<class T>(TypeTag<T>) { set_changes(op_type<T>(), [](const void*, Inputs) { return std::vector{1}; }); });
  return true;
}();

}  // namespace weir
