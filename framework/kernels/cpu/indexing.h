// What the kernels that read and write by indices share.
#pragma once
#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/op/out.h"

namespace weir {
namespace WEIR_ISA {

inline int64_t index_at(const Tensor& t, int64_t offset) {
  return t.dtype() == DType::int64 ? t.data<int64_t>()[offset] : t.data<int32_t>()[offset];
}

/// Element offset of the i-th position (row-major) of `sizes` under `strides`.
inline int64_t offset_of(int64_t i, const Dims& sizes, const Dims& strides) {
  int64_t o = 0;
  for (int d = sizes.n; d-- > 0;) {
    o += i % sizes[d] * strides[d];
    i /= sizes[d];
  }
  return o;
}

// Source of the exception's type: PyTorch raises RuntimeError in gather and scatter, IndexError elsewhere.
inline int64_t checked_along(int64_t i, int64_t n, int d) {
  check(i >= 0 && i < n, "index ", i, " is out of bounds for dimension ", d, " with size ", n);
  return i;
}

// Whether all n indices lie in [0, limit) (with `wrap`, [-limit, limit)): a loop without branches.
inline bool in_range(const int64_t* at, int64_t n, int64_t limit, bool wrap) {
  int64_t signs = 0, low = wrap ? limit : 0;  // negative once one index is outside
  for (int64_t i = 0; i < n; i++) signs |= (at[i] + low) | (limit - 1 - at[i]);
  return signs >= 0;
}

// dst += v in the type's own arithmetic (half types through float, bool as or).
template <class T, class Alpha> void add_to(T& dst, T v, Alpha alpha) {
  if constexpr (kIsComplex<T>) dst += T(alpha) * v;
  else if constexpr (kIsComplex<Alpha>) add_to(dst, v, alpha.real());
  else if constexpr (std::is_same_v<T, bool>) dst = dst | v;  // no branch
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) dst = T(float(dst) + float(alpha) * float(v));
  else if constexpr (std::is_integral_v<T>) dst = T(dst + T(alpha) * v);
  else dst += T(alpha) * v;
}

// Without a factor, which would make NaN of an infinity's other part.
template <class T> void add_to(T& dst, T v) {
  if constexpr (kIsComplex<T>) dst += v;
  else add_to(dst, v, 1.0);
}

// A 0-d tensor counts as one of a single element.
inline Tensor one_axis(const Tensor& t) { return t.ndim() ? t : alias(t, Dims{1}, Dims{1}, t->offset); }

// Calls f(target): `self`'s numbers in a tensor of its dtype, in place where nothing that is read lies in the same memory.
// Indices are looked at before, so that an error leaves everything as it was.
template <class F> void scattered(Inputs in, const Tensor& out, bool dense, F&& f) {
  bool aside = out.dtype() != in[0].dtype() || (dense && !out.is_contiguous());
  for (const Tensor& t : in.subspan(1)) aside = aside || t->storage == out->storage;
  if (aside) {
    Tensor target = copied(in[0], Meta(in[0].sizes(), in[0].dtype()));
    f(one_axis(target));
    return run_copy(target, out);
  }
  if (!(out->storage == in[0]->storage)) run_copy(in[0], out);
  f(one_axis(out));
}

/// Adds `src` at `index` along dim to `to`, all of one dtype but the int64 index, which has src's axes and lies within `to`. Halves are rounded once.
void scatter_sums(const Tensor& to, int64_t dim, const Tensor& index, const Tensor& src);

}  // namespace WEIR_ISA
}  // namespace weir
