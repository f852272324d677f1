// Reductions over some or all axes. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// A set of axes, a bit for each.
using AxisSet = uint64_t;
static_assert(kMaxDims <= 64);
constexpr AxisSet axis_bit(int64_t d) { return AxisSet(1) << d; }
constexpr AxisSet first_axes(int n) { return n == 64 ? ~AxisSet(0) : axis_bit(n) - 1; }
/// Which axes a reduction runs over; none named means all.
AxisSet reduced_axes(const char* op, const std::optional<Dims>& dim, int ndim);
Dims reduced_sizes(const Dims& sizes, AxisSet axes, bool keepdim);

struct Sum : Op {
  static constexpr Signature signature =
      "sum(input: Tensor, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Sum over dim (all axes when None). Integers sum in int64.";
  static constexpr Notation notation = "reduce dim, linear";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr CallRule calling{.keepdim_alone = false, .out_alone = false};
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Sum::dim, &Sum::keepdim, &Sum::dtype};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Nansum : Op {
  static constexpr Signature signature =
      "nansum(input: Tensor, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Sum over dim, NaN counted as 0.";
  static constexpr Notation notation = "reduce dim, linear";
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr Save saves{.inputs = 0b1};
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Nansum::dim, &Nansum::keepdim, &Nansum::dtype};
  static void take_out(Inputs in, const Tensor& out);
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Mean : Op {
  static constexpr Signature signature =
      "mean(input: Tensor, dim: int | list[int] | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Mean over dim (all axes when None). RuntimeError for integers unless dtype is floating.";
  static constexpr Notation notation = "reduce dim, linear";
  static constexpr CallRule calling{.keepdim_alone = false};
  std::optional<Dims> dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Mean::dim, &Mean::keepdim, &Mean::dtype};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Prod : Op {
  static constexpr Signature signature = "prod(input: Tensor, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Product of all elements.";
  static constexpr Notation notation = "reduce";
  static constexpr OutRule out{Out::none};
  static constexpr Autocast autocast = Autocast::float32;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Prod::dtype};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ProdDim : Op {
  static constexpr Signature signature =
      "prod.dim(input: Tensor, dim: int, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Product over one axis.";
  static constexpr Autocast autocast = Autocast::float32;
  static constexpr Notation notation = "reduce dim";
  int64_t dim;
  bool keepdim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&ProdDim::dim, &ProdDim::keepdim, &ProdDim::dtype};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Norm2 : Op {
  static constexpr Signature signature = "norm2(input: Tensor, dim: int | list[int] = [], keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Root of the sum of squares over dim (all axes when empty); its gradient where it is 0 is 0.";
  static constexpr GradientRule gradient{.holomorphic = false};
  static constexpr Module module = Module::hidden;
  static constexpr Notation notation = "reduce dim";
  Dims dim;
  bool keepdim;
  static constexpr Fields fields{&Norm2::dim, &Norm2::keepdim};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Amax : Op {
  static constexpr Signature signature =
      "amax(input: Tensor, dim: int | list[int] | None = [], keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Largest element over dim (all axes when empty); equal ones share the gradient.";
  static constexpr Notation notation = "reduce dim";
  std::optional<Dims> dim;
  bool keepdim;
  static constexpr Fields fields{&Amax::dim, &Amax::keepdim};
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Amin : Op {
  static constexpr Signature signature =
      "amin(input: Tensor, dim: int | list[int] | None = [], keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Smallest element over dim (all axes when empty); equal ones share the gradient.";
  static constexpr Notation notation = "reduce dim";
  std::optional<Dims> dim;
  bool keepdim;
  static constexpr Fields fields{&Amin::dim, &Amin::keepdim};
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Argmax : Op {
  static constexpr Signature signature = "argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "int64 index of the first largest element over dim, or in the flattened tensor.";
  static constexpr Notation notation = "reduce dim";
  static constexpr GradientRule gradient{.exists = false};
  std::optional<int64_t> dim;
  bool keepdim;
  static constexpr Fields fields{&Argmax::dim, &Argmax::keepdim};
  Meta infer(Inputs in) const;
};

struct Argmin : Op {
  static constexpr Signature signature = "argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "int64 index of the first smallest element over dim, or in the flattened tensor.";
  static constexpr Notation notation = "reduce dim";
  static constexpr GradientRule gradient{.exists = false};
  std::optional<int64_t> dim;
  bool keepdim;
  static constexpr Fields fields{&Argmin::dim, &Argmin::keepdim};
  Meta infer(Inputs in) const;
};

struct MaxDim : Op {
  static constexpr Signature signature =
      "max.dim(input: Tensor, dim: int, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "Largest element over dim and the int64 index of its first occurrence.";
  static constexpr Notation notation = "reduce dim";
  int64_t dim;
  bool keepdim;
  static constexpr Fields fields{&MaxDim::dim, &MaxDim::keepdim};
  static constexpr Save saves{.outputs = 0b10};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MinDim : Op {
  static constexpr Signature signature =
      "min.dim(input: Tensor, dim: int, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  static constexpr auto doc = "Smallest element over dim and the int64 index of its first occurrence.";
  static constexpr Notation notation = "reduce dim";
  int64_t dim;
  bool keepdim;
  static constexpr Fields fields{&MinDim::dim, &MinDim::keepdim};
  static constexpr Save saves{.outputs = 0b10};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MaxAll : Op {
  static constexpr Signature signature = "max(input: Tensor) -> Tensor";
  static constexpr auto doc = "Largest of all elements; equal ones share the gradient, as NaN do.";
  static constexpr Notation notation = "reduce";
  static constexpr OutRule out{Out::cast};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct MinAll : Op {
  static constexpr Signature signature = "min(input: Tensor) -> Tensor";
  static constexpr auto doc = "Smallest of all elements; equal ones share the gradient, as NaN do.";
  static constexpr Notation notation = "reduce";
  static constexpr OutRule out{Out::cast};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};
struct MaxOther : Op {
  static constexpr Signature signature = "max.other(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "As maximum.";
  Tensor compose(Inputs in) const;
};
struct MinOther : Op {
  static constexpr Signature signature = "min.other(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "As minimum.";
  Tensor compose(Inputs in) const;
};

struct Any : Op {
  static constexpr Signature signature =
      "any(input: Tensor, dim: list[int] | int | None = None, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Is any element nonzero? bool (uint8 for uint8).";
  static constexpr OutRule out{Out::truth};
  std::optional<Dims> dim;
  bool keepdim;
  static constexpr Fields fields{&Any::dim, &Any::keepdim};
  Tensor compose(Inputs in) const;
};

struct All : Op {
  static constexpr Signature signature =
      "all(input: Tensor, dim: list[int] | int | None = None, keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "Are all elements nonzero? bool (uint8 for uint8).";
  static constexpr OutRule out{Out::truth};
  std::optional<Dims> dim;
  bool keepdim;
  static constexpr Fields fields{&All::dim, &All::keepdim};
  Tensor compose(Inputs in) const;
};

struct Logsumexp : Op {
  static constexpr Signature signature = "logsumexp(input: Tensor, dim: int | list[int], keepdim: bool = False) -> Tensor";
  static constexpr auto doc = "log(sum(exp(x))) over dim without overflow.";
  Dims dim;
  bool keepdim;
  static constexpr Fields fields{&Logsumexp::dim, &Logsumexp::keepdim};
  bool into_reals = false;  // a real out= takes the real parts of the complex sum, as in PyTorch, which sums into it
  void take_out(Inputs, const Tensor& out) { into_reals = out && is_floating(out.dtype()); }
  Tensor compose(Inputs in) const;
};

struct Cumsum : Op {
  static constexpr Signature signature = "cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Running sum along dim.";
  static constexpr Notation notation = "along dim";
  static constexpr InplaceRule inplace{.offered = true};
  int64_t dim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Cumsum::dim, &Cumsum::dtype};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Cumprod : Op {
  static constexpr Signature signature = "cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor";
  static constexpr auto doc = "Running product along dim.";
  static constexpr Notation notation = "along dim";
  static constexpr InplaceRule inplace{.offered = true};
  int64_t dim;
  std::optional<DType> dtype;
  static constexpr Fields fields{&Cumprod::dim, &Cumprod::dtype};
  static constexpr Save saves{.inputs = 0b1, .outputs = 0b1};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

// MaxOther stands before MaxDim: a 0-d tensor of integers would pass for a dim.
using ReduceOps = OpList<Sum, Nansum, Mean, Norm2, ProdDim, Prod, Amax, Amin, Argmax, Argmin, MaxOther, MinOther, MaxDim,
                         MinDim, MaxAll, MinAll, Any, All, Logsumexp, Cumsum,
                         Cumprod>;

namespace fn {
inline constexpr Fn<Sum> sum;
inline constexpr Fn<Nansum> nansum;
inline constexpr Fn<Mean> mean;
inline constexpr Fn<Prod, ProdDim> prod;
inline constexpr Fn<Norm2> norm2;
inline constexpr Fn<Amax> amax;
inline constexpr Fn<Amin> amin;
inline constexpr Fn<Argmax> argmax;
inline constexpr Fn<Argmin> argmin;
inline constexpr Fn<MaxDim, MaxAll, MaxOther> max;
inline constexpr Fn<MinDim, MinAll, MinOther> min;
inline constexpr Fn<Any> any;
inline constexpr Fn<All> all;
inline constexpr Fn<Logsumexp> logsumexp;
inline constexpr Fn<Cumsum> cumsum;
inline constexpr Fn<Cumprod> cumprod;
}  // namespace fn

/// `t` summed to `sizes`, the reverse of a broadcast.
Tensor sum_to(const Tensor& t, const Dims& sizes);

}  // namespace weir
