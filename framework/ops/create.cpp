#include "framework/ops/create.h"

#include <cmath>

#include "framework/core/warn.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/factory.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

Meta preserved(const Tensor& x, DType dtype) { return with_strides({x.sizes(), dtype, x.device()}, x); }

void check_matrix(const char* op, const Tensor& x) {
  check(x.ndim() >= 2, op, ": input tensor must have at least 2 dimensions");
}

}  // namespace

Meta Clone::infer(Inputs in) const {
  const Tensor& x = in[0];
  if (memory_format.value_or(MemoryFormat::preserve) == MemoryFormat::preserve) return preserved(x, x.dtype());
  return in_format({x.sizes(), x.dtype(), x.device()}, memory_format, "clone");
}
Tensors Clone::vjp(const Saved&, const Tensor& dy) const { return {dy}; }

Meta ToDtype::infer(Inputs in) const {
  warn_of_lost_parts(in[0].dtype(), dtype, in[0].numel());
  return preserved(in[0], dtype);
}
Tensors ToDtype::vjp(const Saved&, const Tensor& dy) const { return {dy}; }  // the engine casts back

// Source: PyTorch, where a tensor's number is copied, and into elements that share memory nothing is.
void Fill::take_out(Inputs in, const Tensor& out) const {
  if (!in[1].has_flag(kWrappedNumber)) check_no_repeats(out);
}
Meta Fill::infer(Inputs in) const {
  check(in[1].ndim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", in[1].ndim(),
        " dimensions.");
  if (!in[1].has_flag(kWrappedNumber)) return Copy().infer(in);
  if (!in[1].is_meta()) check_filled(item(in[1]), in[0].sizes(), in[0].dtype());
  return with_strides({in[0].sizes(), in[0].dtype(), in[0].device()}, in[0]);  // a number that is real loses nothing
}
Tensors Fill::vjp(const Saved& s, const Tensor& dy) const { return Copy().vjp(s, dy); }

Meta Zero::infer(Inputs in) const { return with_strides({in[0].sizes(), in[0].dtype(), in[0].device()}, in[0]); }
Tensors Zero::vjp(const Saved&, const Tensor& dy) const { return {fn::zero(dy)}; }

Meta Linspace::infer(Inputs) const {
  check<NotImplemented>(dtype != DType::boolean, "\"linspace_cpu\" not implemented for 'Bool'");
  check(steps >= 0, "linspace: number of steps must be non-negative");
  return {Dims{steps}, dtype};
}

Meta Tril::infer(Inputs in) const { return check_matrix("tril", in[0]), Meta(in[0].sizes(), in[0].dtype(), in[0].device()); }
Tensors Tril::vjp(const Saved&, const Tensor& dy) const { return {fn::tril(dy, diagonal)}; }
Meta Triu::infer(Inputs in) const { return check_matrix("triu", in[0]), Meta(in[0].sizes(), in[0].dtype(), in[0].device()); }
Tensors Triu::vjp(const Saved&, const Tensor& dy) const { return {fn::triu(dy, diagonal)}; }

// Elements that shared memory in what `meta` was taken from, as an expanded input, have their own in a new tensor.
static Meta apart(Meta meta) {
  bool repeats = false;
  for (int i = 0; i < meta.strides.n; i++) repeats = repeats || (meta.strides[i] == 0 && meta.sizes[i] > 1);
  if (repeats) meta.strides = dense_strides(meta.sizes, std::array{meta.strides});
  return meta;
}

Tensor zeros_of(const Meta& meta) {
  if (mode.recorder) return full_of(meta, Scalar(0));
  Tensor t = empty(apart(meta));
  if (!t.is_meta()) std::memset(t.raw(), 0, t->storage->bytes);
  return t;
}
Tensor full_of(const Meta& meta, const Scalar& value) {
  if (meta.dtype != DType::boolean) check_fits(value, meta.dtype);
  Tensor t = unfilled(apart(meta));
  GradMode off(false);
  copy_into(t, wrapped_number(value, meta.device));
  t->storage->version = 0;  // its first content: nobody can have saved it before
  return t;
}
void fill_into(const Tensor& self, const Tensor& value) { fn::fill.inplace(self, value); }
Tensor arange_of(int64_t n) { return fn::arange(Scalar(0), Scalar(n)); }
Tensor clone_of(const Tensor& t, std::optional<MemoryFormat> format) { return fn::clone(t, format); }
Tensor cast_to(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : fn::to_dtype(t, dtype); }
Tensor contiguous_of(const Tensor& t) { return t.is_contiguous() ? t : clone_of(t, MemoryFormat::contiguous); }

// What the backward engine needs of ops.
static const bool installed = [] {
  grad_ops = {
      [](const Tensor& t, const Dims& sizes) { return sum_to(t, sizes); },
      [](const Tensor& t, DType dtype) { return cast_to(is_complex(t.dtype()) && !is_complex(dtype) ? fn::real(t) : t, dtype); },
      [](const Tensor& a, const Tensor& b) { return fn::add(a, b); },
      [](const Tensor& a, const Tensor& b) { fn::add.inplace(a, b); },
      zeros_of,
      [](const Tensor& t) { return clone_of(t); },
      [](const Tensor& t) { return clone_of(t, MemoryFormat::contiguous); },
      shown_as,
      conj,
      [](const Tensor& t) { return fn::resolve_conj(t); },
      [](const Tensor& t, const Dims& sizes) { return fn::expand(t, sizes); },
      [](const Tensor& t) {
        GradMode off(false);
        return is_inexact(t.dtype()) && !t.is_meta() && item(fn::any(fn::isnan(t))).to<bool>();
      },
  };
  return true;
}();

static const CreateOps::Registration ops;

}  // namespace weir
