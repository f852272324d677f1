// What families that read and write by index share: results laid out as an input is, and its gradient to begin with.
#pragma once
#include "framework/core/layout.h"
#include "framework/op/copy.h"
#include "framework/ops/create.h"
#include "framework/ops/view.h"

namespace weir {

inline Meta like(const Tensor& x) { return {x.sizes(), x.dtype(), x.device()}; }

/// A copy of clone(memory_format=contiguous_format), or `t` itself where its strides are those, axes of size 1 included.
inline Tensor row_major_of(const Tensor& t) { return t.strides() == contiguous_strides(t.sizes()) ? t : clone_of(t, MemoryFormat::contiguous); }

/// `r` with strides as `want` has them: itself, or a copy.
inline Tensor laid_out(const Tensor& r, const Meta& want) {
  if (r.strides() == (want.row_major() ? contiguous_strides(r.sizes()) : want.strides)) return r;
  const Tensor copy = unfilled({r.sizes(), want.row_major() ? contiguous_strides(r.sizes()) : want.strides, r.dtype(), r.device()});
  copy_into(copy, r);
  return copy;
}
/// `r` in the strides of a clone of `x`, as where PyTorch writes into one.
inline Tensor laid_out_as(const Tensor& r, const Tensor& x) { return laid_out(r, with_strides(like(r), x)); }
/// `t` in the layout in which ops on pictures answer for the input `x`: channels last where x's strides say so.
inline Tensor pictured_as(const Tensor& x, const Tensor& t) {
  if (!suggests_channels_last(x.sizes(), x.strides()) || is_channels_last(t.sizes(), t.strides())) return t;
  return clone_of(t, t.ndim() == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d);
}

/// Zeros of the shape of input `i`, in the gradient's dtype.
inline Tensor zeros_as(const Saved& s, int i, const Tensor& dy) { return zeros_of(Meta(s.input_meta(i).sizes, dy.dtype(), dy.device())); }

/// A 0-d tensor as one of a single element, as PyTorch counts it.
inline Tensor one_axis(const Tensor& t) { return t.ndim() ? t : fn::reshape(t, Dims{1}); }

inline void check_index_type(const char* op, const Tensor& index) {
  check(index.dtype() == DType::int64 || index.dtype() == DType::int32, op, "(): Expected dtype int64 for index, got ", name_of(index.dtype()));
}

}  // namespace weir
