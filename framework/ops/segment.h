// Reductions of consecutive segments of an axis. Source: the PyTorch page of segment_reduce.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Segments of the axis behind the batch axes of `bounds`: either their lengths or their offsets.
struct SegmentReduce : Op {
  static constexpr Signature signature =
      "segment_reduce(data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: int = 0, unsafe: bool = False, initial: Number | None = None) -> Tensor";
  static constexpr auto doc =
      "The sum, mean, max, min or prod of each segment along axis, of which lengths (*, S) or offsets (*, S + 1) say where they lie; empty ones "
      "give `initial`, or what the reduction starts with. Shape: data's with S along axis.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  Str reduce;
  int64_t axis;
  bool unsafe;
  std::optional<Scalar> initial;
  static constexpr Fields fields{&SegmentReduce::reduce, &SegmentReduce::axis, &SegmentReduce::unsafe, &SegmentReduce::initial};
  Tensor compose(Inputs in) const;
};

struct SegmentForward : Op {
  static constexpr Signature signature = "segment_forward(data: Tensor, offsets: Tensor, reduce: str, checked: bool, initial: Number | None = None) -> Tensor";
  static constexpr auto doc = "segment_reduce by offsets. RuntimeError, if checked, where they do not cover the axis.";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11, .outputs = 0b1};
  Str reduce;
  bool checked;
  std::optional<Scalar> initial;
  static constexpr Fields fields{&SegmentForward::reduce, &SegmentForward::checked, &SegmentForward::initial};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct SegmentBackward : Op {
  static constexpr Signature signature =
      "segment_backward(grad: Tensor, output: Tensor, data: Tensor, offsets: Tensor, reduce: str, initial: Number | None = None) -> Tensor";
  static constexpr auto doc = "Gradient of segment_forward's data; the largest (or smallest) elements share it where it is above zero. It has none of its own, as PyTorch's.";
  static constexpr Module module = Module::hidden;
  Str reduce;
  std::optional<Scalar> initial;
  static constexpr Fields fields{&SegmentBackward::reduce, &SegmentBackward::initial};
  Meta infer(Inputs in) const;
};

using SegmentOps = OpList<SegmentForward, SegmentBackward, SegmentReduce>;

namespace fn {
inline constexpr Fn<SegmentForward> segment_forward;
inline constexpr Fn<SegmentBackward> segment_backward;
}  // namespace fn

}  // namespace weir
