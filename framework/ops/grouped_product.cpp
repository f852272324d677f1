#include "framework/ops/grouped_product.h"

#include "framework/ops/view.h"

namespace weir {
namespace {

void check_kind(const char* what, const Tensor& t) {
  const DType d = t.dtype();
  check(d == DType::float32 || d == DType::bfloat16 || d == DType::float16, "Expected ", what, " to be Float32, BFloat16 or Float16 matrix, got ", name_of(d));
}

// One of a matrix's axes is dense, and lines along it begin 16 bytes, or a multiple of them, apart.
void check_strides(const Tensor& t) {
  const int64_t rows = t.size(-2), columns = t.size(-1), across = t.stride(-2), along = t.stride(-1), aligned = 16 / int64_t(size_of(t.dtype()));
  const bool by_columns = across == 1 && along >= std::max<int64_t>(1, rows), by_rows = along == 1 && across >= std::max<int64_t>(1, columns);
  check(by_columns || by_rows, "Invalid strides/sizes, got ", t.strides(), " for strides and ", t.sizes(), " for sizes");
  check((by_columns ? along : across) % aligned == 0, "strides should be multiple of 16 bytes");
}

bool lies_by_columns(const Tensor& t) { return t.stride(-2) == 1 && t.stride(-1) >= std::max<int64_t>(1, t.size(-2)); }
Tensor turned(const Tensor& t) { return fn::transpose(t, -2, -1); }

}  // namespace

Tensor GroupedMm::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1], &offs = in[2];
  check_kind("mat_a", a);
  check_kind("mat_b", b);
  check(a.ndim() == 2 || a.ndim() == 3, "mat_a has to be 2 or 3d");
  check(b.ndim() == 2 || b.ndim() == 3, "mat_b has to be 2 or 3d");
  const bool apart = a.ndim() == 3 && b.ndim() == 3;
  check((a.ndim() == 2 && b.ndim() == 2) || a.size(-1) == b.size(-2), "contraction dimension of mat_a and mat_b must match");
  check_strides(a);
  check_strides(b);
  check(bool(offs) == !apart, "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d");
  check(!offs || offs.ndim() == 1, "offs has to be 1D");
  check(!offs || offs.dtype() == DType::int32, "Offsets have to be int32");
  check(!in[3], "Bias not supported yet");
  check(!out_dtype || *out_dtype == a.dtype(), "Grouped gemm output dtype must match `mat_a` dtype");
  check(a.dtype() == b.dtype(), "expected m1 and m2 to have the same dtype, but got: ", name_of(a.dtype()), " != ", name_of(b.dtype()));
  return fn::grouped_product(a, b, offs);
}

// Rows of the result begin 16 bytes, or a multiple of them, apart, as operands' do.
Meta GroupedProduct::infer(Inputs in) const {
  const Tensor &a = in[0], &b = in[1], &offs = in[2];
  const int64_t rows = a.size(-2), columns = b.size(-1), aligned = 16 / int64_t(size_of(a.dtype())), step = (columns + aligned - 1) / aligned * aligned;
  if (a.ndim() != b.ndim()) {
    check(offs.size(0) == (a.ndim() == 3 ? a : b).size(0), "matrix batch sizes have to match");
    return {Dims{rows, columns}, Dims{step, 1}, a.dtype(), a.device()};
  }
  const int64_t groups = a.ndim() == 3 ? a.size(0) : offs.size(0);
  check(a.ndim() == 2 || b.size(0) == groups, "batched dimension has to match");
  return {Dims{groups, rows, columns}, Dims{rows * step, step, 1}, a.dtype(), a.device()};
}

// What is shared out among the groups stays the same axis. A gradient lies as its operand does.
Tensors GroupedProduct::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor &a = s.input(0), &b = s.input(1), &offs = s.input(2);
  Tensors r(3);
  if (s.needs(0)) r[0] = lies_by_columns(a) ? turned(fn::grouped_product(b, turned(dy), offs)) : fn::grouped_product(dy, turned(b), offs);
  if (s.needs(1)) r[1] = lies_by_columns(b) ? turned(fn::grouped_product(turned(dy), a, offs)) : fn::grouped_product(turned(a), dy, offs);
  return r;
}

static const GroupedProductOps::Registration ops;

}  // namespace weir
