#include "framework/ops/pool_line.h"

#include "framework/core/layout.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/pool.h"
#include "framework/ops/scatter.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

void check_batched(const char* op, const Tensor& x, int axes) {
  check(x.ndim() == axes + 1 || x.ndim() == axes + 2, op, ": expected ", axes + 1, "D or ", axes + 2, "D input, but got ", x.sizes());
}
// One number as that of a picture of one row.
Dims of_a_row(const char* name, const Dims& given, int64_t across) {
  check(given.n == 1, name, " must be one int, got ", given.n);
  return Dims{across, given[0]};
}
Dims stride_of(const std::optional<Dims>& stride, const Dims& kernel_size) { return of_a_row("stride", stride && stride->n ? *stride : kernel_size, 1); }
Tensor as_picture(const Tensor& x) { return fn::unsqueeze(x, int64_t(-2)); }
Tensor as_line(const Tensor& x) { return fn::squeeze(x, Dims{-2}); }

}  // namespace

Tensor AvgPool1d::compose(Inputs in) const {
  check_batched("avg_pool1d", in[0], 1);
  return as_line(fn::avg_pool2d(as_picture(in[0]), of_a_row("kernel_size", kernel_size, 1), stride_of(stride, kernel_size), of_a_row("padding", padding, 0),
                                ceil_mode, count_include_pad));
}
Tensors MaxPool1dWithIndices::compose(Inputs in) const {
  check_batched("max_pool1d", in[0], 1);
  const Tensors r = fn::max_pool2d_with_indices(as_picture(in[0]), of_a_row("kernel_size", kernel_size, 1), stride_of(stride, kernel_size),
                                                of_a_row("padding", padding, 0), of_a_row("dilation", dilation, 1), ceil_mode);
  return {as_line(r[0]), as_line(r[1])};
}
// How many windows the kernel of values alone finds along a line; 0 where it is not meant for the call, or the call is refused.
static int64_t windows_of_values(const MaxPool1d& op, const Tensor& x, int64_t step) {
  if ((x.ndim() != 2 && x.ndim() != 3) || x.numel() == 0 || op.kernel_size.n != 1 || op.padding.n != 1 || op.dilation.n != 1 || (op.stride && op.stride->n > 1)) return 0;
  const int64_t k = op.kernel_size[0], pad = op.padding[0];
  if (k < 1 || step < 1 || pad < 0 || 2 * pad > k || op.dilation[0] < 1 || op.dilation[0] > x.size(-1)) return 0;
  const int64_t left = x.size(-1) + 2 * pad - (k - 1) * op.dilation[0] - 1;
  if (left < 0) return 0;
  const int64_t windows = (left + (op.ceil_mode ? step - 1 : 0)) / step + 1;
  return windows - (op.ceil_mode && (windows - 1) * step >= x.size(-1) + pad);  // none begins behind the line
}

Meta MaxOfWindows::infer(Inputs in) const {
  Dims sizes = in[0].sizes();
  sizes[sizes.n - 1] = windows;
  return {sizes, in[0].dtype(), in[0].device()};
}

// Source: PyTorch's kernel for calls that record nothing reads and writes row by row.
Tensor MaxPool1d::compose(Inputs in) const {
  Tensor x = in[0];
  if (!is_differentiated(x)) {
    check<NotImplemented>(is_floating(x.dtype()), "max_pool1d: not implemented for ", name_of(x.dtype()));
    // The strides of one channel must not suggest another layout.
    x = x.ndim() > 1 && x.size(-2) == 1 ? clone_of(x, MemoryFormat::contiguous) : contiguous_of(x);
    const int64_t step = stride && stride->n ? (*stride)[0] : kernel_size.n ? kernel_size[0] : 0;
    if (const int64_t windows = windows_of_values(*this, x, step)) return fn::max_of_windows(x, windows, kernel_size[0], step, padding[0], dilation[0]);
  }
  return fn::max_pool1d_with_indices(x, kernel_size, stride, padding, dilation, ceil_mode)[0];
}

Tensor MaxUnpool::compose(Inputs in) const {
  const Tensor &x = in[0], &indices = in[1];
  const int n = output_size.n;
  const std::string op = str("max_unpool", n, "d");
  for (const auto& each : {stride, padding}) check(n > 0 && (!each || each->n == n), op, ": expected ", n, " strides and paddings, got ", each ? *each : Dims());
  check_batched(op.c_str(), x, n);
  check<NotImplemented>(x.numel() == 0 || is_floating(x.dtype()), op, ": not implemented for ", name_of(x.dtype()));
  check(!is_complex(x.dtype()) || !is_differentiated(x), op, " does not support automatic differentiation for outputs with complex dtype.");
  if (stride)
    for (int64_t step : *stride) check(step > 0, "strides should be greater than zero, but got stride: ", *stride);
  check(indices.dtype() == DType::int64, "elements in indices should be type int64 but got: ", name_of(indices.dtype()));
  check(indices.sizes() == x.sizes(), "Expected shape of indices to be same as that of the input tensor (", x.sizes(), ") but got indices tensor with shape: ",
        indices.sizes());
  Dims lead, result;
  for (int i = 0; i < x.ndim(); i++) {
    if (i < x.ndim() - n) lead.push(x.sizes()[i]);
    check(i < x.ndim() - n - 1 || x.sizes()[i] > 0, op, ": Expected input to have non-zero size for non-batch dimensions, but got ", x.sizes());
  }
  result = lead;
  int64_t cells = 1;
  for (int64_t s : output_size) cells = checked_mul(cells, s), result.push(s);
  lead.push(cells);
  const Tensor values = fn::flatten(x, int64_t(-n), int64_t(-1));
  if (cells == 0) return fn::reshape(fn::slice(values, int64_t(-1), int64_t(0), int64_t(0), int64_t(1)), result);  // nothing is written, whatever the indices
  const Tensor flat = fn::scatter(zeros_of(Meta(lead, x.dtype(), x.device())), int64_t(-1), fn::flatten(indices, int64_t(-n), int64_t(-1)), values);
  const Tensor r = fn::reshape(flat, result);
  return n == 2 ? pictured_as(x, r) : r;
}

static const PoolLineOps::Registration ops;

}  // namespace weir
