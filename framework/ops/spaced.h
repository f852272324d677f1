// Numbers at equal distances, and powers at equal ratios. Source of each: the PyTorch page of its name.
#pragma once
#include <cmath>

#include "framework/op/call.h"

namespace weir {

/// An end of a range of integers loses its fraction before distances are divided.
inline Scalar as_end(const Scalar& s, bool whole) { return whole && s.is_real() && std::isfinite(s.to_double()) ? Scalar(s.to_int()) : s; }

struct EvenlySpaced : Op {
  static constexpr Signature signature = "linspace(start: Tensor | Number, end: Tensor | Number, steps: int, *, dtype: dtype | None = None, "
                                         "device: device | None = None) -> Tensor";
  static constexpr auto doc =
      "`steps` equally spaced numbers from start to end, both included. In an integer dtype both lose their fractions first. Tensors must have no axes.";
  static constexpr CallRule calling{.creates = true, .only_numbers = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr OutRule out{Out::row, OutHistory::kept};
  bool into_out = false;  // which requires grad where an end does, though there is no derivative, as in PyTorch
  void take_out(Inputs, const Tensor&) { into_out = true; }
  static constexpr Autocast autocast = Autocast::opaque;
  int64_t steps;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&EvenlySpaced::steps, &EvenlySpaced::dtype, &EvenlySpaced::device};
  Tensor compose(Inputs in) const;
};

struct LogSpaced : Op {
  static constexpr Signature signature = "logspace(start: Tensor | Number, end: Tensor | Number, steps: int, base: float = 10.0, *, "
                                         "dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "base ** linspace(start, end, steps).";
  static constexpr CallRule calling{.creates = true, .only_numbers = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr OutRule out{Out::row, OutHistory::kept};
  bool into_out = false;  // which requires grad where an end does, though there is no derivative, as in PyTorch
  void take_out(Inputs, const Tensor&) { into_out = true; }
  static constexpr Autocast autocast = Autocast::opaque;
  int64_t steps;
  double base;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&LogSpaced::steps, &LogSpaced::base, &LogSpaced::dtype, &LogSpaced::device};
  Tensor compose(Inputs in) const;
};

struct SpacedBetween : Op {
  static constexpr Signature signature = "linspace_between(start: Tensor, end: Tensor, steps: int, whole: bool, dtype: dtype) -> Tensor";
  static constexpr auto doc = "`steps` equally spaced numbers between the values of two tensors without axes, which lose their fractions first if `whole`.";
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Module module = Module::hidden;
  int64_t steps;
  bool whole;
  DType dtype;
  static constexpr Fields fields{&SpacedBetween::steps, &SpacedBetween::whole, &SpacedBetween::dtype};
  Meta infer(Inputs in) const;
};

using SpacedOps = OpList<EvenlySpaced, LogSpaced, SpacedBetween>;

namespace fn {
inline constexpr Fn<SpacedBetween> linspace_between;
}  // namespace fn

}  // namespace weir
