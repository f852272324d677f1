// What families that read and write by index share: results laid out as an input is, and its gradient to begin with.
#pragma once
#include "framework/ops/create.h"
#include "framework/ops/view.h"

namespace weir {

inline Meta like(const Tensor& x) { return {x.sizes(), x.dtype(), x.device()}; }

/// `m` with x's strides where they are dense, as by empty_like. Those of axes of size 1 decide what counts as channels_last.
inline Meta with_strides(Meta m, const Tensor& x) {
  if (x.strides() != contiguous_strides(x.sizes()) && is_non_overlapping_and_dense(x.sizes(), x.strides())) m.strides = x.strides();
  return m;
}

/// Zeros of the shape of input `i`, in the gradient's dtype.
inline Tensor zeros_as(const Saved& s, int i, const Tensor& dy) { return zeros_of(Meta(s.input_meta(i).sizes, dy.dtype(), dy.device())); }

/// A 0-d tensor as one of a single element, as PyTorch counts it.
inline Tensor one_axis(const Tensor& t) { return t.ndim() ? t : fn::reshape(t, Dims{1}); }

inline void check_index_type(const char* op, const Tensor& index) {
  check(index.dtype() == DType::int64 || index.dtype() == DType::int32, op, "(): Expected dtype int64 for index, got ", name_of(index.dtype()));
}

}  // namespace weir
