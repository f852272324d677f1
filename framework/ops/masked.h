// Reductions and normalisations of the elements where a boolean mask holds, which broadcasts to input's shape; without one all count. Masked-out
// elements are replaced by the identity of the operation, which then runs as usual; what no element reaches holds that identity (or NaN).
// Source: https://pytorch.org/docs/stable/masked.html
#pragma once
#include "framework/op/call.h"

namespace weir {

struct MaskedOp : Op {
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  static constexpr CallRule calling{.numpy_names = false, .truthy = true};
};

/// Over any axes, all of them for None and none.
struct MaskedOver : MaskedOp {
  std::optional<Dims> dim;
  std::optional<bool> keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedOver::dim, &MaskedOver::keepdim, &MaskedOver::dtype};
};
struct MaskedSum : MaskedOver {
  static constexpr Signature signature =
      "masked_sum(input: Tensor, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The sum over dim; 0 where nothing counts. Integers are summed as int64.";
  Tensor compose(Inputs in) const;
};
struct MaskedProd : MaskedOver {
  static constexpr Signature signature =
      "masked_prod(input: Tensor, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The product over dim; 1 where nothing counts. Integers are multiplied as int64.";
  Tensor compose(Inputs in) const;
};
struct MaskedAmax : MaskedOver {
  static constexpr Signature signature =
      "masked_amax(input: Tensor, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The maximum over dim; the dtype's lowest value where nothing counts.";
  Tensor compose(Inputs in) const;
};
struct MaskedAmin : MaskedOver {
  static constexpr Signature signature =
      "masked_amin(input: Tensor, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The minimum over dim; the dtype's highest value where nothing counts.";
  Tensor compose(Inputs in) const;
};
struct MaskedMean : MaskedOver {
  static constexpr Signature signature =
      "masked_mean(input: Tensor, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The mean over dim; NaN where nothing counts. ValueError for an integer dtype.";
  Tensor compose(Inputs in) const;
};
struct MaskedLogsumexp : MaskedOver {
  static constexpr Signature signature =
      "masked_logsumexp(input: Tensor, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "log(sum(exp(input))) over dim; -inf where nothing counts.";
  Tensor compose(Inputs in) const;
};

/// Along one axis, the first of those that are given.
struct MaskedAlong : MaskedOp {
  std::optional<Dims> dim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedAlong::dim, &MaskedAlong::dtype};
};
struct MaskedCumsum : MaskedAlong {
  static constexpr Signature signature =
      "masked_cumsum(input: Tensor, dim: int | list[int] | None, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "Running sums along dim. Shape: as input.";
  Tensor compose(Inputs in) const;
};
struct MaskedCumprod : MaskedAlong {
  static constexpr Signature signature =
      "masked_cumprod(input: Tensor, dim: int | list[int] | None, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "Running products along dim. Shape: as input.";
  Tensor compose(Inputs in) const;
};
struct MaskedSoftmax : MaskedAlong {
  static constexpr Signature signature =
      "masked_softmax(input: Tensor, dim: int | list[int] | None, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "exp(input) along dim, scaled to sum to 1; NaN where nothing counts. Shape: as input.";
  Tensor compose(Inputs in) const;
};
struct MaskedLogSoftmax : MaskedAlong {
  static constexpr Signature signature =
      "masked_log_softmax(input: Tensor, dim: int | list[int] | None, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "log(softmax(input)) along dim. Shape: as input.";
  Tensor compose(Inputs in) const;
};
struct MaskedSoftmin : MaskedAlong {
  static constexpr Signature signature =
      "masked_softmin(input: Tensor, dim: int | list[int] | None, *, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "softmax(-input) along dim. Shape: as input.";
  Tensor compose(Inputs in) const;
};

struct MaskedPlace : MaskedOp {
  std::optional<int64_t> dim;
  std::optional<bool> keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedPlace::dim, &MaskedPlace::keepdim, &MaskedPlace::dtype};
};
struct MaskedArgmax : MaskedPlace {
  static constexpr Signature signature =
      "masked_argmax(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The index of the maximum along dim, in `dtype`, input's by default as in PyTorch.";
  Tensor compose(Inputs in) const;
};
struct MaskedArgmin : MaskedPlace {
  static constexpr Signature signature =
      "masked_argmin(input: Tensor, dim: int | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The index of the minimum along dim, in `dtype`, input's by default as in PyTorch.";
  Tensor compose(Inputs in) const;
};

struct MaskedNorm : MaskedOp {
  static constexpr Signature signature =
      "masked_norm(input: Tensor, ord: Number = 2.0, dim: int | list[int] | None = None, *, keepdim: bool | None = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The vector norm of order ord over dim; 0 where nothing counts, inf for ord -inf.";
  Scalar ord;
  std::optional<Dims> dim;
  std::optional<bool> keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedNorm::ord, &MaskedNorm::dim, &MaskedNorm::keepdim, &MaskedNorm::dtype};
  Tensor compose(Inputs in) const;
};
struct MaskedNormalize : MaskedOp {
  static constexpr Signature signature =
      "masked_normalize(input: Tensor, ord: Number, dim: int | list[int] | None, *, eps: float = 1e-12, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "input / max(norm(input, ord), eps) along dim, 0 where the mask does not hold. Shape: as input.";
  Scalar ord;
  std::optional<Dims> dim;
  double eps;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedNormalize::ord, &MaskedNormalize::dim, &MaskedNormalize::eps, &MaskedNormalize::dtype};
  Tensor compose(Inputs in) const;
};

struct MaskedSpread : MaskedOp {
  std::optional<Dims> dim;
  std::optional<bool> unbiased;
  std::optional<double> correction;
  std::optional<bool> keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedSpread::dim, &MaskedSpread::unbiased, &MaskedSpread::correction, &MaskedSpread::keepdim, &MaskedSpread::dtype};
  Tensor variance(Inputs in) const;
};
struct MaskedVar : MaskedSpread {
  static constexpr Signature signature =
      "masked_var(input: Tensor, dim: int | list[int] | None = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool | None = False, "
      "dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The variance over dim, divided by count - correction (default 1), which is 0 at least.";
  Tensor compose(Inputs in) const;
};
struct MaskedStd : MaskedSpread {
  static constexpr Signature signature =
      "masked_std(input: Tensor, dim: int | list[int] | None = None, unbiased: bool | None = None, *, correction: float | None = None, keepdim: bool | None = False, "
      "dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The root of var.";
  Tensor compose(Inputs in) const;
};

struct MaskedMedian : MaskedOp {
  static constexpr Signature signature =
      "masked_median(input: Tensor, dim: int | list[int] | None = -1, *, keepdim: bool = False, dtype: dtype | None = None, mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "The lower median along dim; NaN where nothing counts, which is a ValueError for integers. Only of these dtype is another.";
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedMedian::dim, &MaskedMedian::keepdim, &MaskedMedian::dtype};
  Tensor compose(Inputs in) const;
};
struct MaskedLogaddexp : MaskedOp {
  static constexpr Signature signature =
      "masked_logaddexp(input: Tensor, other: Tensor, *, dtype: dtype | None = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "log(exp(input) + exp(other)) of two tensors with a mask each.";
  std::optional<DType> dtype;
  static constexpr Fields fields{&MaskedLogaddexp::dtype};
  Tensor compose(Inputs in) const;
};

using MaskedOps = OpList<MaskedSum, MaskedProd, MaskedAmax, MaskedAmin, MaskedMean, MaskedLogsumexp, MaskedCumsum, MaskedCumprod, MaskedSoftmax, MaskedLogSoftmax,
                         MaskedSoftmin, MaskedArgmax, MaskedArgmin, MaskedNorm, MaskedNormalize, MaskedVar, MaskedStd, MaskedMedian, MaskedLogaddexp>;

}  // namespace weir
