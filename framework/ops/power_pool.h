// Powers averaged over windows. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct LpPool : Op {
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  static constexpr auto doc = "(sum of x ** norm_type) ** (1 / norm_type) over windows of the last axes.";
  Dims kernel_size;
  std::optional<Dims> stride;
  bool ceil_mode;
  static constexpr Fields fields{&LpPool::kernel_size, &LpPool::stride, &LpPool::ceil_mode};
};

struct LpPool1d : LpPool {
  static constexpr Signature signature = "lp_pool1d(input: Tensor, norm_type: Tensor | Number, kernel_size: int | list[int], "
                                         "stride: int | list[int] | None = None, ceil_mode: bool = False) -> Tensor";
  Tensor compose(Inputs in) const;
};

struct LpPool2d : LpPool {
  static constexpr Signature signature = "lp_pool2d(input: Tensor, norm_type: Tensor | Number, kernel_size: int | list[int], "
                                         "stride: int | list[int] | None = None, ceil_mode: bool = False) -> Tensor";
  Tensor compose(Inputs in) const;
};

struct LpPool3d : LpPool {
  static constexpr Signature signature = "lp_pool3d(input: Tensor, norm_type: Tensor | Number, kernel_size: int | list[int], "
                                         "stride: int | list[int] | None = None, ceil_mode: bool = False) -> Tensor";
  Tensor compose(Inputs in) const;
};

struct LocalResponseNorm : Op {
  static constexpr Signature signature =
      "local_response_norm(input: Tensor, size: int, alpha: Tensor | Number = 0.0001, beta: Tensor | Number = 0.75, k: Tensor | Number = 1.0) -> Tensor";
  static constexpr auto doc = "x / (k + alpha * mean of x^2 over `size` neighbouring channels) ** beta. Source: Krizhevsky et al. 2012.";
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  int64_t size;
  static constexpr Fields fields{&LocalResponseNorm::size};
  Tensor compose(Inputs in) const;
};

using PowerPoolOps = OpList<LpPool1d, LpPool2d, LpPool3d, LocalResponseNorm>;

}  // namespace weir
