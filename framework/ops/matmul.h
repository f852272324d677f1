// Matrix products. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"
#include "framework/ops/create.h"

namespace weir {

struct Mm : Op {
  static constexpr Signature signature = "mm(input: Tensor, mat2: Tensor) -> Tensor";
  static constexpr auto doc = "Product of two matrices. Shapes: (n, m), (m, p) -> (n, p).";
  static constexpr Notation notation = "nm, mp -> np";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Bmm : Op {
  static constexpr Signature signature = "bmm(input: Tensor, mat2: Tensor) -> Tensor";
  static constexpr auto doc = "Products of two batches of matrices. Shapes: (b, n, m), (b, m, p) -> (b, n, p).";
  static constexpr Notation notation = "bnm, bmp -> bnp";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Linear : Op {
  static constexpr Signature signature = "linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "input @ weight.T + bias. Shapes: (*, in), (out, in), (out) -> (*, out).";
  static constexpr Module module = Module::functional;
  static constexpr Notation notation = "Xi, oi, o -> Xo";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr Save saves{.inputs = 0b11, .factors = true};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Matmul : Op {
  static constexpr Signature signature = "matmul(input: Tensor, other: Tensor) -> Tensor";
  static constexpr auto doc = "Matrix product with broadcast batch axes; vectors count as rows or columns.";
  static constexpr Autocast autocast = Autocast::lower;
  static constexpr OutRule out{Out::same};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct Addmm : Op {
  static constexpr Signature signature =
      "addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "beta * input + alpha * (mat1 @ mat2).";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::lower;
  Scalar beta, alpha;
  static constexpr Fields fields{&Addmm::beta, &Addmm::alpha};
  Tensor compose(Inputs in) const;
};

struct Baddbmm : Op {
  static constexpr Signature signature =
      "baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "beta * input + alpha * bmm(batch1, batch2).";
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr OutRule out{Out::exact};
  static constexpr Autocast autocast = Autocast::lower;
  Scalar beta, alpha;
  static constexpr Fields fields{&Baddbmm::beta, &Baddbmm::alpha};
  Tensor compose(Inputs in) const;
};

// Sums in another dtype than that of the factors. PyTorch has kernels for these on CUDA alone: NotImplementedError.
struct MmOfDtype : Op {
  static constexpr Signature signature = "mm.dtype(input: Tensor, mat2: Tensor, out_dtype: dtype) -> Tensor";
  static constexpr auto doc = "mm, with sums and a result of out_dtype. NotImplementedError on a CPU.";
  DType out_dtype;
  static constexpr Fields fields{&MmOfDtype::out_dtype};
  Tensor compose(Inputs in) const;
};

struct BmmOfDtype : Op {
  static constexpr Signature signature = "bmm.dtype(input: Tensor, mat2: Tensor, out_dtype: dtype) -> Tensor";
  static constexpr auto doc = "bmm, with sums and a result of out_dtype. NotImplementedError on a CPU.";
  DType out_dtype;
  static constexpr Fields fields{&BmmOfDtype::out_dtype};
  Tensor compose(Inputs in) const;
};

struct AddmmOfDtype : Op {
  static constexpr Signature signature =
      "addmm.dtype(input: Tensor, mat1: Tensor, mat2: Tensor, out_dtype: dtype, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "addmm, with sums and a result of out_dtype. NotImplementedError on a CPU.";
  DType out_dtype;
  Scalar beta, alpha;
  static constexpr Fields fields{&AddmmOfDtype::out_dtype, &AddmmOfDtype::beta, &AddmmOfDtype::alpha};
  Tensor compose(Inputs in) const;
};

struct BaddbmmOfDtype : Op {
  static constexpr Signature signature =
      "baddbmm.dtype(input: Tensor, batch1: Tensor, batch2: Tensor, out_dtype: dtype, *, beta: Number = 1, alpha: Number = 1) -> Tensor";
  static constexpr auto doc = "baddbmm, with sums and a result of out_dtype. NotImplementedError on a CPU.";
  DType out_dtype;
  Scalar beta, alpha;
  static constexpr Fields fields{&BaddbmmOfDtype::out_dtype, &BaddbmmOfDtype::beta, &BaddbmmOfDtype::alpha};
  Tensor compose(Inputs in) const;
};

using MatmulOps = OpList<Mm, Bmm, Linear, Matmul, Addmm, Baddbmm, MmOfDtype, BmmOfDtype, AddmmOfDtype, BaddbmmOfDtype>;

namespace fn {
inline constexpr Fn<Mm> mm;
inline constexpr Fn<Bmm> bmm;
inline constexpr Fn<Linear> linear;
inline constexpr Fn<Matmul> matmul;
inline constexpr Fn<Addmm> addmm;
inline constexpr Fn<Baddbmm> baddbmm;
}  // namespace fn

/// sum(in[0], in[1], in[2]) of a given tensor and two factors: of halves rounded once, at its end, as PyTorch's BLAS does it.
template <class F> Tensor rounded_once(Inputs in, F&& sum) {
  const DType type = in[0].dtype();
  const bool half = type == DType::bfloat16 || type == DType::float16 || (is_float8(type) && type != DType::float8_e8m0fnu);
  if (!half || mode.autocast || in[1].dtype() != type || in[2].dtype() != type) return sum(in[0], in[1], in[2]);
  auto wide = [](const Tensor& x) { return cast_to(x, DType::float32); };
  return cast_to(sum(wide(in[0]), wide(in[1]), wide(in[2])), type);
}
/// RuntimeError unless `x` may be multiplied by beta in place; beta 0, by which it is not multiplied, is any.
void check_scales(const char* op, const Tensor& x, const Scalar& beta);
/// beta given + alpha product, where given broadcasts to product's shape; with beta 0 given's NaN do not count. Where nothing was `multiplied`, beta is a number
/// that a tensor is multiplied with, which may lie beyond its dtype, as in PyTorch.
Tensor scaled_sum(const char* op, const Tensor& given, const Tensor& product, const Scalar& beta, const Scalar& alpha, bool by_library = false,
                  bool multiplied = true);
/// Whether the product of `a` and another tensor is one of any elements.
bool multiplies(const Tensor& a, const Tensor& product);
/// alpha, unless it is multiplied with sums over no elements, as where `a` has none: PyTorch makes none.
Scalar factor_of_product(const Tensor& a, const Scalar& alpha);
/// Whether an infinite or NaN alpha goes into the terms of the products, as PyTorch's library does it: what it scales are sums only of halves and integers.
bool scales_terms(const Tensor& a, const Scalar& alpha);

}  // namespace weir
