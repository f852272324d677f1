// Hashes of tensors. Source: https://pytorch.org/docs/stable/generated/torch.hash_tensor.html
#pragma once
#include "framework/op/call.h"

namespace weir {

struct HashTensor : Op {
  static constexpr Signature signature = "hash_tensor(input: Tensor, dim: int | list[int] = [], *, keepdim: bool = False, mode: int = 0) -> Tensor";
  static constexpr auto doc = "The bits of input's elements, as float64 or int64, joined by exclusive or over dim (all axes when empty). Shape: reduced, uint64.";
  static constexpr OutRule out{Out::exact};
  Dims dim;
  bool keepdim;
  int64_t mode;
  static constexpr Fields fields{&HashTensor::dim, &HashTensor::keepdim, &HashTensor::mode};
  Tensor compose(Inputs in) const;
};

struct XorSum : Op {
  static constexpr Signature signature = "xor_sum(input: Tensor, dim: list[int], keepdim: bool) -> Tensor";
  static constexpr auto doc = "int64 numbers joined by exclusive or over dim (all axes when empty).";
  static constexpr Notation notation = "reduce dim";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  Dims dim;
  bool keepdim;
  static constexpr Fields fields{&XorSum::dim, &XorSum::keepdim};
  Meta infer(Inputs in) const;
};

using HashingOps = OpList<HashTensor, XorSum>;

namespace fn {
inline constexpr Fn<XorSum> xor_sum;
}  // namespace fn

}  // namespace weir
