#include "framework/ops/linalg.h"

#include "framework/autograd/variable.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

void check_matrices(const char* op, const Tensor& t, const char* name, Nothing nothing) {
  const bool empty = t.numel() == 0, any = empty && nothing == Nothing::of_any_dtype, half = any || (empty && nothing == Nothing::of_half);
  check(any || is_inexact(t.dtype()), op, ": Expected a floating point or complex tensor as input. Got ", name_of(t.dtype()));
  check(half || !is_reduced(t.dtype()), op, ": Low precision dtypes not supported. Got ", name_of(t.dtype()));
  check(t.ndim() >= 2, op, ": The input tensor ", name, " must have at least 2 dimensions.");
}
void check_square(const char* op, const Tensor& t, const char* name, Nothing nothing) {
  check_matrices(op, t, name, nothing);
  check(t.size(-1) == t.size(-2), op, ": ", name, " must be batches of square matrices, but they are ", t.size(-2), " by ", t.size(-1),
        " matrices");
}

Dims batch_of(const Tensor& t) {
  Dims d = t.sizes();
  d.n -= 2;
  return d;
}
Dims with_matrix(Dims batch, int64_t rows, int64_t cols) {
  batch.push(rows);
  batch.push(cols);
  return batch;
}
Dims column_strides(const Dims& sizes) {
  Dims strides(sizes.n, 1);
  const int64_t rows = std::max<int64_t>(sizes[sizes.n - 2], 1);
  strides[sizes.n - 1] = rows;
  int64_t step = checked_mul(rows, std::max<int64_t>(sizes.back(), 1));
  for (int d = sizes.n - 2; d-- > 0;) {
    strides[d] = step;
    step = checked_mul(step, std::max<int64_t>(sizes[d], 1));
  }
  return strides;
}
Meta column_meta(const Dims& sizes, DType t, const Tensor& like) { return Meta(sizes, column_strides(sizes), t, like.device()); }
Meta column_meta(const Dims& sizes, const Tensor& like) { return column_meta(sizes, like.dtype(), like); }
Tensor column_major(const Tensor& t) { return mT(clone(mT(t), MemoryFormat::contiguous)); }

Tensor mT(const Tensor& t) { return transpose(t, int64_t(-2), int64_t(-1)); }
Tensor mH(const Tensor& t) { return conj(mT(t)); }
Tensor diagonal_of(const Tensor& t) { return diagonal(t, int64_t(0), int64_t(-2), int64_t(-1)); }
Tensor eye_of(int64_t rows, int64_t cols, DType dtype, Device) {
  return cast_to(eq(unsqueeze(arange_of(rows), int64_t(-1)), arange_of(cols)), dtype);
}
Tensor with_diagonal(const Tensor& t, const Tensor& values) {
  return where(eye_of(t.size(-2), t.size(-1), DType::boolean, t.device()), values.ndim() ? column(values) : values, t);
}
Tensor diag_of(const Tensor& values) {
  Tensor zero = full_of(Meta(Dims{}, values.dtype(), values.device()), Scalar(0.0));
  return where(eye_of(values.size(-1), values.size(-1), DType::boolean, values.device()), column(values), zero);
}
Tensor row(const Tensor& t) { return unsqueeze(t, int64_t(-2)); }
Tensor column(const Tensor& t) { return unsqueeze(t, int64_t(-1)); }
Tensor up_to(const Tensor& t, int64_t dim, int64_t end) { return t.size(dim) == end ? t : slice(t, dim, int64_t(0), end, int64_t(1)); }
Tensor from(const Tensor& t, int64_t dim, int64_t start) { return slice(t, dim, start, t.size(dim), int64_t(1)); }

std::pair<Tensor, Tensor> same_batch(const char* op, const Tensor& a, const Tensor& b) {
  Dims batch = broadcast(op, batch_of(a), batch_of(b));
  auto grown = [&](const Tensor& t) {
    return batch_of(t) == batch ? t : expand(t, with_matrix(batch, t.size(-2), t.size(-1)));
  };
  return {grown(a), grown(b)};
}
Tensor own_batch(Tensor t, const Dims& given, int batch_axes) {
  const int grown = batch_axes - given.n;
  for (int d = 0; d < grown; d++) t = t.sizes()[0] ? select(t, int64_t(0), int64_t(0)) : reshape(t, Dims{0});
  for (int d = 0; d < given.n && t.ndim() >= given.n; d++)
    if (t.sizes()[d] != given[d]) t = up_to(t, d, given[d]);
  return t;
}
bool any_true(const Tensor& mask) {
  if (mask.numel() == 0) return false;
  Tensor t = any(mask);
  return *t.data<bool>();
}
Tensor or_zeros(const Tensor& grad, const Tensor& value) {
  return grad ? grad : zeros_of(Meta(value.sizes(), value.dtype(), value.device()));
}

}  // namespace weir
