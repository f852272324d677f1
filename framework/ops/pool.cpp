#include "framework/ops/pool.h"

#include <algorithm>

#include "framework/ops/create.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

Meta laid_out(const Dims& sizes, DType t, const Tensor& like) {
  Meta m(sizes, t, like.device());
  if (suggests_channels_last(like.sizes(), like.strides())) {
    Dims s = channels_last_strides(sizes);
    if (!(s == contiguous_strides(sizes))) m.strides = s;
  }
  return m;
}

// Source: PyTorch's pooling_output_shape: with ceil_mode the last window must start inside the input or left padding.
int64_t pooled(int64_t in, int64_t k, int64_t s, int64_t p, int64_t d, bool ceil) {
  int64_t out = (in + 2 * p - d * (k - 1) - 1 + (ceil ? s - 1 : 0));
  out = (out < 0 ? -((-out + s - 1) / s) : out / s) + 1;
  if (ceil && (out - 1) * s >= in + p) out--;
  return out;
}

Dims pooled_sizes(const char* op, const Dims& in, const Dims& k, const Dims& s, const Dims& p, const Dims& d, bool ceil) {
  Dims out{in[0], in[1]};
  for (int i = 0; i < k.n; i++) {
    check(k[i] > 0, op, ": kernel size should be greater than zero, but got ", k);
    check(s[i] > 0, op, ": stride should be greater than zero, but got ", s);
    check(d[i] > 0, op, ": dilation should be greater than zero, but got ", d);
    check(p[i] >= 0, op, ": pad must be non-negative, but got pad: ", p[i]);
    // One axis of windows may be longer in PyTorch; nothing real is.
    check(std::max({k[i], s[i], p[i], d[i]}) <= std::numeric_limits<int32_t>::max(), op, ": integer out of range: kernel size ", k, ", stride ", s, ", padding ", p, ", dilation ", d);
    check(p[i] <= k[i] / 2, op, ": pad should be at most half of kernel size, but got pad=", p[i], " and kernel_size=", k[i]);
    int64_t n = pooled(in[i + 2], k[i], s[i], p[i], d[i], ceil);
    check(n > 0, op, ": Given input size: ", in, ". Calculated output size: ", n, ". Output size is too small");
    out.push(n);
  }
  return out;
}

Dims spread(const char* op, const char* name, const Dims& d, int n) {
  check(d.n == 1 || d.n == n, op, ": ", name, " must either be a single int, or a tuple of ", n, " ints, got ", d);
  return d.n == 1 ? Dims(n, d[0]) : d;
}

// The last `filled` extents may not be 0.
void check_input(const char* op, const Tensor& x, int n, int filled) {
  bool ok = x.ndim() == n + 1 || x.ndim() == n + 2;
  for (int i = x.ndim() - filled; ok && i < x.ndim(); i++) ok = i < 0 || x.sizes()[i] > 0;
  check(ok, op, ": Expected ", n + 1, "D or ", n + 2, "D tensor with optional 0 dim batch size for input, but got ", x.sizes());
}

template <class F> Tensor batched(const Tensor& x, int n, F&& f) {
  if (x.ndim() == n + 2) return f(x);
  return squeeze(f(unsqueeze(x, int64_t(0))), std::optional<Dims>(Dims{0}));
}

template <int n, class Op> Tensors max_pool(const char* op, const Op& o, Inputs in) {
  check_input(op, in[0], n, n + 1);
  Dims k = spread(op, "kernel_size", o.kernel_size, n), s = o.stride.empty() ? k : spread(op, "stride", o.stride, n);
  bool single = in[0].ndim() == n + 1;
  Tensor x = single ? unsqueeze(in[0], int64_t(0)) : in[0];
  auto r = fn::max_pool_nd(x, k, s, spread(op, "padding", o.padding, n), spread(op, "dilation", o.dilation, n), o.ceil_mode);
  std::optional<Dims> first(Dims{0});
  return {single ? squeeze(r[0], first) : r[0], single ? squeeze(r[1], first) : r[1]};
}
template <int n, class Op> Tensor avg_pool(const char* op, const Op& o, Inputs in) {
  Dims k = spread(op, "kernel_size", o.kernel_size, n), s = o.stride.empty() ? k : spread(op, "stride", o.stride, n);
  if (n == 2) wrap_dim(-3, in[0].ndim(), op);  // PyTorch asks for the channels before it looks at the rank
  check_input(op, in[0], n, n + 1);
  check(!o.divisor_override || *o.divisor_override != 0, op, ": divisor must be not zero");
  return batched(in[0], n, [&](const Tensor& x) {
    // Source: PyTorch, whose means over volumes are row-major always.
    return fn::avg_pool_nd(n == 3 ? contiguous_of(x) : x, k, s, spread(op, "padding", o.padding, n), o.ceil_mode,
                         o.count_include_pad, o.divisor_override);
  });
}

}  // namespace

std::array<Meta, 2> MaxPool::infer(Inputs in) const {
  Dims sizes = pooled_sizes("max_pool", in[0].sizes(), kernel_size, stride, padding, dilation, ceil_mode);
  return {laid_out(sizes, in[0].dtype(), in[0]), laid_out(sizes, DType::int64, in[0])};
}
Tensors MaxPool::vjp(const Saved& s, const Tensor& dy) const {
  if (!dy) return {Tensor()};
  return {fn::max_pool_backward(dy, s.output(1), s.input_meta(0).sizes)};
}
Meta MaxPoolBackward::infer(Inputs in) const { return laid_out(input_size, in[0].dtype(), in[1]); }
Tensors MaxPoolBackward::vjp(const Saved& s, const Tensor& d) const {
  Tensor index = s.input(1);
  if (d.numel() == 0 || index.numel() == 0) return {zeros_of(Meta(index.sizes(), d.dtype(), d.device())), Tensor()};
  Dims plane{d.sizes()[0], d.sizes()[1], -1};
  return {reshape(gather_of(reshape(d, plane), 2, reshape(index, plane)), index.sizes()), Tensor()};
}
Meta AvgPool::infer(Inputs in) const {
  DType t = in[0].dtype();
  check<NotImplemented>(is_floating(t) || t == DType::int64, "\"avg_pool2d\" not implemented for '", name_of(t), "'");
  check<NotImplemented>(kernel_size.n < 3 || !is_reduced(t), "\"avg_pool3d\" not implemented for '", name_of(t), "'");
  const Dims &given = in[0].sizes(), sizes = pooled_sizes("avg_pool", given, kernel_size, stride, padding, Dims(kernel_size.n, 1), ceil_mode);
  for (int i = 0; kernel_size.n == 3 && i < 3; i++)  // Source: PyTorch, of volumes alone
    check(given[given.n - 3 + i] >= kernel_size[i], "avg_pool3d: input of size ", given, " is smaller than the kernel ", kernel_size);
  return laid_out(sizes, in[0].dtype(), in[0]);
}
Tensors AvgPool::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::avg_pool_backward(dy, s.input_meta(0).sizes, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)};
}
Meta AvgPoolBackward::infer(Inputs in) const { return laid_out(input_size, in[0].dtype(), in[0]); }
Tensors AvgPoolBackward::vjp(const Saved&, const Tensor& d) const {
  return {fn::avg_pool_nd(d, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)};
}
Meta AdaptiveAvgPool::infer(Inputs in) const {
  const bool nothing = in[0].numel() == 0 || output_size.contains(0);
  check<NotImplemented>(is_floating(in[0].dtype()) || (output_size.n == 2 && nothing), "\"adaptive_avg_pool2d\" not implemented for '", name_of(in[0].dtype()), "'");
  Dims sizes{in[0].sizes()[0], in[0].sizes()[1]};
  for (int64_t s : output_size) sizes.push(s);
  if (output_size.n == 3) return {sizes, in[0].dtype(), in[0].device()};  // row-major, as PyTorch's of volumes
  return laid_out(sizes, in[0].dtype(), in[0]);
}
Tensors AdaptiveAvgPool::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::adaptive_avg_pool_backward(dy, s.input_meta(0).sizes)};
}
Meta AdaptiveAvgPoolBackward::infer(Inputs in) const { return laid_out(input_size, in[0].dtype(), in[0]); }
Tensors AdaptiveAvgPoolBackward::vjp(const Saved& s, const Tensor& d) const {
  Dims out;
  for (int i = 2; i < s.input_meta(0).sizes.n; i++) out.push(s.input_meta(0).sizes[i]);
  return {fn::adaptive_avg_pool_nd(d, out)};
}

Tensors MaxPool2dWithIndices::compose(Inputs in) const { return max_pool<2>("max_pool2d", *this, in); }
Tensors MaxPool3dWithIndices::compose(Inputs in) const {
  check(in[0].ndim() != 4 || !suggests_channels_last(in[0].sizes(), in[0].strides()), "Unsupported memory format. Supports only ChannelsLast3d, Contiguous");
  return max_pool<3>("max_pool3d", *this, in);
}
Tensor AvgPool2d::compose(Inputs in) const { return avg_pool<2>("avg_pool2d", *this, in); }
Tensor AvgPool3d::compose(Inputs in) const { return avg_pool<3>("avg_pool3d", *this, in); }

static const PoolOps::Registration ops;

}  // namespace weir
