// Padding of convolutions whose zeros are multiplied: a border of zeros in memory.
#pragma once
#include <algorithm>

#include "framework/kernels/cpu/conv_columns.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/onednn.h"

namespace weir {
namespace WEIR_ISA {

inline void fill_zero(const Tensor& out) {
  Tensor zero = empty(Dims{}, DType::float32);
  *zero.data<float>() = 0;
  run_copy(zero, out);
}

// By exponents of ones, in blocks that vectors take: number by number this was half the time of a float16 convolution of few positions.
template <class Bits> bool none_has(Bits exponent, const Bits* x, int64_t count) {
  constexpr int64_t kBlock = 4096;
  for (int64_t i = 0; i < count; i += kBlock) {
    Bits found = 0;
    for (int64_t k = i; k < std::min(count, i + kBlock); k++) found |= Bits((x[k] & exponent) == exponent);
    if (found) return false;
  }
  return true;
}
inline bool all_finite(const Tensor& t) {
  const Tensor dense = is_non_overlapping_and_dense(t.sizes(), t.strides()) ? t : copied(t, Meta(t.sizes(), t.dtype()));
  const int64_t n = dense.numel();
  switch (t.dtype()) {
    case DType::float64: return none_has(uint64_t{0x7ff} << 52, reinterpret_cast<const uint64_t*>(dense.data<double>()), n);
    case DType::float32: return none_has(uint32_t{0xff} << 23, reinterpret_cast<const uint32_t*>(dense.data<float>()), n);
    default: break;
  }
  return visit_dtype(t.dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (kIsComplex<T> || sizeof(T) != 2 || std::is_integral_v<T>) return true;  // asked of real numbers only
    else return none_has(uint16_t(t.dtype() == DType::float16 ? 0x7c00 : 0x7f80), reinterpret_cast<const uint16_t*>(dense.data<T>()), n);
  });
}
// Whether padding counts as zeros that are multiplied, which leaves NaN beside numbers of `b` that are not finite. Source: PyTorch's loops, which
// it has for volumes, for what oneDNN refuses and for dtypes that it takes on no CPU, or few; of what oneDNN computes there, it says itself.
inline bool multiplies_padding(const Dims& padding, const Tensor& x, const Tensor& b, int64_t count) {
  const bool padded = std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p > 0; });
  const bool by_loops = x.ndim() == 5 || count <= kFewProducts || b.dtype() == DType::float64 || (b.dtype() == DType::float16 && !gives_to_onednn(b.dtype()));
  return padded && is_floating(b.dtype()) && by_loops && !all_finite(b);
}
inline Tensor with_border(const Tensor& x, const Dims& padding) {
  Dims sizes = x.sizes();
  for (int i = 0; i < padding.n; i++) sizes[i + 2] += 2 * padding[i];
  const Tensor wide = empty(sizes, x.dtype(), x.device());
  fill_zero(wide);
  int64_t offset = wide->offset;
  for (int i = 0; i < padding.n; i++) offset += padding[i] * wide.strides()[i + 2];
  run_copy(x, alias(wide->storage, x.dtype(), x.sizes(), wide.strides(), offset));
  return wide;
}
template <class Op> Op without_padding(Op op) {
  std::fill(op.padding.begin(), op.padding.end(), 0);
  return op;
}

}  // namespace WEIR_ISA
}  // namespace weir
