// Single numbers of dense tensors, of whatever dtype those are.
#pragma once

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// Number i of t.
inline double number_at(const Tensor& t, int64_t i = 0) {
  double v;
  convert(t.dtype(), t.raw() + i * int64_t(size_of(t.dtype())), 1, DType::float64, &v, 1, 1);
  return v;
}

/// v as number i of t.
template <class A> void put(const Tensor& t, int64_t i, A v) {
  if (t.dtype() == dtype_of<A>()) t.data<A>()[i] = v;
  else convert(dtype_of<A>(), &v, 1, t.dtype(), t.raw() + i * int64_t(size_of(t.dtype())), 1, 1);
}
/// n numbers as those of t from number i on.
template <class A> void put_all(const Tensor& t, int64_t i, const A* v, int64_t n) {
  convert(dtype_of<A>(), v, 1, t.dtype(), t.raw() + i * int64_t(size_of(t.dtype())), 1, n);
}

}  // namespace WEIR_ISA
}  // namespace weir
