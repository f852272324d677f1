// Windows of pictures as columns, and columns summed back into pictures.
// Source: https://pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html, .../torch.nn.functional.fold.html
#pragma once
#include "framework/op/call.h"

namespace weir {

/// How windows lie in a picture: along y and x each their size, the step between their points, the border, the step between them.
struct Window {
  Dims kernel, dilation, padding, stride;
  int64_t starts(int64_t length, int axis) const;
};

/// A number for each of y and x, where one may stand for both.
inline Dims both(const Dims& d) { return d.n == 1 ? Dims{d[0], d[0]} : d; }

struct Im2col : Op {
  static constexpr Signature signature =
      "im2col(input: Tensor, kernel_size: int | list[int], dilation: int | list[int] = 1, padding: int | list[int] = 0, stride: int | list[int] = 1) -> Tensor";
  static constexpr auto doc = "All windows of (N, C, H, W) as columns: (N, C kh kw, L). Without N: (C, H, W) to (C kh kw, L).";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  Dims kernel_size, dilation, padding, stride;
  static constexpr Fields fields{&Im2col::kernel_size, &Im2col::dilation, &Im2col::padding, &Im2col::stride};
  Window window() const { return {both(kernel_size), both(dilation), both(padding), both(stride)}; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Col2im : Op {
  static constexpr Signature signature =
      "col2im(input: Tensor, output_size: int | list[int], kernel_size: int | list[int], dilation: int | list[int] = 1, padding: int | list[int] = 0, stride: int | list[int] = 1) -> Tensor";
  static constexpr auto doc = "Sums columns (N, C kh kw, L) back into (N, C, H, W): the transpose of im2col. N may be missing.";
  static constexpr Notation notation = "window";
  static constexpr Module module = Module::hidden;
  Dims output_size, kernel_size, dilation, padding, stride;
  static constexpr Fields fields{&Col2im::output_size, &Col2im::kernel_size, &Col2im::dilation, &Col2im::padding, &Col2im::stride};
  Window window() const { return {both(kernel_size), both(dilation), both(padding), both(stride)}; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using Im2colOps = OpList<Im2col, Col2im>;

namespace fn {
inline constexpr Fn<Im2col> im2col;
inline constexpr Fn<Col2im> col2im;
}  // namespace fn

}  // namespace weir
