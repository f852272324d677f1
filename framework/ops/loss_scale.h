// The two steps of loss scaling that look at values: gradients are divided by the scale, and the scale moves. Source: torch.amp.GradScaler.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct AmpUnscale : Op {
  static constexpr Signature signature = "amp_unscale(input: Tensor, found_inf: Tensor, inv_scale: Tensor) -> Tensor";
  static constexpr auto doc = "input times the number inv_scale; found_inf, a float32 number, becomes 1 in place where an element of input is not finite. Floating dtypes. Shape: as input.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  Meta infer(Inputs in) const;
};

struct AmpUpdateScale : Op {
  static constexpr Signature signature =
      "amp_update_scale(input: Tensor, growth_tracker: Tensor, found_inf: Tensor, scale_growth_factor: float, scale_backoff_factor: float, growth_interval: int) -> Tensor";
  static constexpr auto doc =
      "The scale, a float32 number, for the next step: times scale_backoff_factor where found_inf is not zero, times scale_growth_factor after growth_interval steps "
      "without, if that is finite. growth_tracker, an int32 number, counts those in place.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  double scale_growth_factor, scale_backoff_factor;
  int64_t growth_interval;
  static constexpr Fields fields{&AmpUpdateScale::scale_growth_factor, &AmpUpdateScale::scale_backoff_factor, &AmpUpdateScale::growth_interval};
  Meta infer(Inputs in) const;
};

using LossScaleOps = OpList<AmpUnscale, AmpUpdateScale>;

}  // namespace weir
