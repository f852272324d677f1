#include "framework/ops/native.h"

#include <algorithm>
#include <limits>

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/factory.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/norm.h"
#include "framework/ops/plain.h"
#include "framework/ops/pool.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/resample.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"

namespace weir {
namespace {

// Statistics are kept in float32; PyTorch shows them in the parameters' dtype.
Tensors shown(Tensors r, DType t) {
  for (int i : {1, 2}) r[i] = cast_to(r[i], t);
  return r;
}

// Zero, which requires grad where `t` does.
Tensor nothing_of(const Tensor& t) {
  return fn::sum(fn::slice(fn::reshape(t, Dims{-1}), int64_t(0), int64_t(0), int64_t(0), int64_t(1)));
}

Tensors batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& var, bool training, double momentum,
                   double eps) {
  check_statistics(mean, var);
  if (training) wrap_dim(1, x.ndim(), "native_batch_norm");  // statistics are per channel; given ones are looked at last
  check<ValueError>(bool(mean) == bool(var), "running_mean and running_var must either both be None or neither be None");
  check<NotImplemented>(training ? is_inexact(x.dtype()) : is_floating(x.dtype()), "\"batch_norm\" not implemented for '", name_of(x.dtype()), "'");
  wrap_dim(1, x.ndim(), "native_batch_norm");
  check(!training || x.numel(), "native_batch_norm: input tensor must have at least one element, but got input_sizes = ", x.sizes());
  for (const Tensor& p : {mean, var}) check(!p || p.ndim() == 1, "native_batch_norm: expected statistics of one dimension, but got ", p ? p.sizes() : Dims());
  const DType t = check_parameters("native_batch_norm", x, std::array{weight, bias, mean, var});
  if (x.numel() == 0) {  // nothing is looked at
    const Tensor none = unfilled(Meta(Dims{0}, t, x.device()));
    return {fn::clone(x), none, none};
  }
  // Of parameters and statistics of more channels than there are, the first ones are the input's, where all lie densely: those that PyTorch's loops find
  // there. Other memory it reads by broadcasting, as what is normalised alone asks for: taken statistics have one number per channel.
  const int64_t channels = x.ndim() > 1 ? x.size(1) : 1;
  const std::array read{weight, bias, training ? Tensor() : mean, training ? Tensor() : var};
  auto row_major = [](const Tensor& p) { return !p || p.is_contiguous(); };
  if (!(x.is_contiguous() || is_channels_last(x.sizes(), x.strides())) || !std::all_of(read.begin(), read.end(), row_major))
    for (const Tensor& p : read)
      check(!p || p.numel() <= channels || channels == 1, "The size of tensor a (", channels, ") must match the size of tensor b (", p ? p.numel() : 0,
            ") at non-singleton dimension 1");
  auto own = [&](const Tensor& p) { return p && p.numel() > channels ? fn::narrow(fn::flatten(p), int64_t(0), int64_t(0), channels) : p; };
  auto r = fn::batch_norm_forward(x, own(weight), own(bias), own(mean), own(var), training, momentum, eps);
  return shown({r[0], r[1], r[2]}, t);
}

}  // namespace

Tensors NativeBatchNorm::compose(Inputs in) const { return batch_norm(in[0], in[1], in[2], in[3], in[4], training, momentum, eps); }
Tensors BatchNormLegit::compose(Inputs in) const { return batch_norm(in[0], in[1], in[2], in[3], in[4], training, momentum, eps); }
Tensors BatchNormLegitNoStats::compose(Inputs in) const { return batch_norm(in[0], in[1], in[2], Tensor(), Tensor(), training, momentum, eps); }
Tensors BatchNormWithUpdate::compose(Inputs in) const {
  Tensors r = batch_norm(in[0], in[1], in[2], in[3], in[4], true, momentum, eps);
  r.push_back(unfilled(Meta(Dims{0}, DType::uint8, in[0].device())));
  return r;
}

Tensors NativeLayerNorm::compose(Inputs in) const {
  auto r = fn::layer_norm_forward(in[0], normalized_shape, in[1], in[2], eps);
  return shown({r[0], r[1], r[2]}, in[1] ? in[1].dtype() : in[0].dtype());
}

Tensors NativeGroupNorm::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(group > 0 && C % group == 0, "native_group_norm: expected C to be divisible by group, but got ", C, " and ", group);
  check(x.numel() == checked_mul(N, checked_mul(C, HxW)) && x.ndim() >= 2, "native_group_norm: expected an input of N * C * HxW = ", N, " * ", C, " * ",
        HxW, " elements, but got ", x.sizes());
  for (int i : {1, 2})
    check(!in[i] || in[i].numel() == C, "native_group_norm: expected ", i == 1 ? "weight" : "bias", " of ", C, " elements, but got ", in[i] ? in[i].sizes() : Dims());
  check<NotImplemented>(is_floating(x.dtype()), "native_group_norm: not implemented for '", name_of(x.dtype()), "'");
  check(x.is_contiguous() || is_channels_last(x.sizes(), x.strides()), "native_group_norm: expected a contiguous input, but got strides ", x.strides());
  check_parameters("native_group_norm", x, in.subspan(1, 2));
  const Dims channels{N, C, 1}, groups{N, group};
  if (is_plain(in)) {
    auto line = [&](const Tensor& t) { return t ? fn::reshape(t, Dims{C}) : t; };
    const auto r = fn::group_norm_forward(contiguous_of(fn::reshape(x, Dims{N, C, HxW})), group, line(in[1]), line(in[2]), eps);
    return shown({fn::reshape(r[0], x.sizes()), r[1], r[2]}, in[1] ? in[1].dtype() : x.dtype());
  }
  // Infinities meet as in PyTorch: y = x * scale + shift.
  const Tensor wide = in_single(x), parts = fn::reshape(wide, Dims{N, group, C / group * HxW});
  const Tensor plain = fn::mean(parts, Dims{2}, true), mean = plain + (plain - plain);  // NaN for an infinity, as by Welford's steps
  const Tensor rest = parts - mean, rstd = fn::rsqrt(fn::mean(rest * rest, Dims{2}, true) + eps);
  Tensor scale = fn::expand(rstd, Dims{N, group, C / group}), shift = -mean;
  scale = in[1] ? scale * fn::reshape(in[1], Dims{group, C / group}) : scale;
  shift = shift * scale;
  if (in[2]) shift = shift + fn::reshape(in[2], Dims{group, C / group});
  const Tensor y = fn::reshape(wide, Dims{N, C, HxW}) * fn::reshape(scale, channels) + fn::reshape(shift, channels);
  // All three require grad where any input does. Gradients pass through the mean and the deviation too, as in PyTorch where both have one.
  Tensor none = nothing_of(x);
  for (int i : {1, 2})
    if (in[i]) none = none + nothing_of(in[i]);
  return shown({cast_to(fn::reshape(y, x.sizes()), x.dtype()), fn::reshape(mean, groups) + none, fn::reshape(rstd, groups) + none}, in[1] ? in[1].dtype() : x.dtype());
}

// Source: PyTorch, whose CPU kernel works in the dtype of the gradient, and has no half precision result of a float32 one.
Tensor SoftmaxBackwardData::compose(Inputs in) const {
  check(in[0].dtype() != DType::float32 || input_dtype != DType::float16, "_softmax_backward_data: expected scalar type Float but found Half");
  return fn::softmax_backward(in[0], in[1], dim);
}

Tensors NativeDropout::compose(Inputs in) const {
  const Tensor& x = in[0];
  if (x.numel() == 0) return {x->flags & kMarks ? fn::clone(x) : x, fn::empty_like(x)};  // PyTorch resolves conjugate views before it looks
  const std::optional<DType> mask_type = DType::boolean;
  if (!train.value_or(true)) return {fn::clone(x), fn::ones_like(x, mask_type)};
  const Tensor mask = fn::empty_like(x, mask_type);
  fn::bernoulli_fill.inplace(mask, 1 - p);
  Tensor kept = x * mask;
  fn::mul.inplace(kept, p == 1 ? 0.0 : 1 / (1 - p));
  return {kept, mask};
}

Tensor NativeDropoutBackward::compose(Inputs in) const { return in[0] * in[1] * scale; }

Tensor MaxPool2dWithIndicesBackward::compose(Inputs in) const {
  const Tensor &grad = in[0], &x = in[1], &indices = in[2];
  check(grad.sizes() == indices.sizes(), "max_pool2d_with_indices_backward: expected grad_output of the shape of indices, ", indices.sizes(), ", but got ",
        grad.sizes());
  check(x.ndim() == 3 || x.ndim() == 4, "max_pool2d_with_indices_backward: expected a 3D or 4D input, but got ", x.sizes());
  check(grad.ndim() == x.ndim(), "max_pool2d_with_indices_backward: expected grad_output of dimension ", x.ndim(), ", but got ", grad.sizes());
  for (int d = 0; d < x.ndim() - 2; d++)
    check(grad.sizes()[d] == x.sizes()[d], "max_pool2d_with_indices_backward: expected grad_output of size ", x.sizes()[d], " at dimension ", d, ", but got ", grad.sizes());
  check(indices.dtype() == DType::int64, "max_pool2d_with_indices_backward: expected indices of int64, but got ", name_of(indices.dtype()));
  // input gets zeros for a gradient, not none.
  const Tensor dy = is_differentiated(x) ? grad + cast_to(nothing_of(x), grad.dtype()) : grad;
  if (x.ndim() == 4) return fn::max_pool_backward(dy, indices, x.sizes());
  Dims sizes = x.sizes();
  sizes.insert(0, 1);
  return fn::squeeze(fn::max_pool_backward(fn::unsqueeze(dy, int64_t(0)), fn::unsqueeze(indices, int64_t(0)), sizes), Dims{0});
}

static Tensor bilinear_aa(const Tensor& x, const Dims& size, bool align_corners, const std::optional<double>& scales_h, const std::optional<double>& scales_w) {
  check(x.ndim() == 4 && size.n == 2, "_upsample_bilinear2d_aa: expected a 4D input and two sizes, but got ", x.sizes(), " and ", size);
  Floats steps;
  for (int i = 0; i < 2; i++) {
    const double old = double(x.sizes()[2 + i]), now = double(size[i]);
    const auto& scale = i ? scales_w : scales_h;
    steps.push(align_corners ? (now > 1 ? (old - 1) / (now - 1) : 0) : scale && *scale > 0 ? 1 / *scale : old / now);
  }
  return fn::upsample(x, size, steps, Str("linear"), align_corners, true);
}
Tensor UpsampleBilinear2dAa::compose(Inputs in) const { return bilinear_aa(in[0], output_size, align_corners, scales_h, scales_w); }
Tensor UpsampleBilinear2dAaVec::compose(Inputs in) const {
  check(bool(output_size) != bool(scale_factors), "_upsample_bilinear2d_aa: Must specify exactly one of output_size and scale_factors");
  if (output_size) return bilinear_aa(in[0], *output_size, align_corners, std::nullopt, std::nullopt);
  check(in[0].ndim() == 4 && scale_factors->n == 2, "_upsample_bilinear2d_aa: expected a 4D input and two scale factors, but got ", in[0].sizes());
  const Floats& f = *scale_factors;
  return bilinear_aa(in[0], Dims{int64_t(double(in[0].sizes()[2]) * f[0]), int64_t(double(in[0].sizes()[3]) * f[1])}, align_corners, f[0], f[1]);
}

Tensor ChunkCat::compose(Inputs in) const {
  check(in.size() > 0, "_chunk_cat expects a non-empty input tensor list");
  check(num_chunks > 0, "_chunk_cat expects positive num_chunks, got ", num_chunks);
  const int d = wrap_dim(dim, in[0].ndim(), "_chunk_cat");
  Tensors parts;
  for (const Tensor& t : in) {
    check(t.ndim() > d, "_chunk_cat expects tensors of more than ", d, " axes, got ", t.sizes());
    check(t.dtype() == in[0].dtype(), "_chunk_cat expects all input tensors with the same dtype");
    check(t.numel() > 0, "_chunk_cat expects non-empty tensor");
    for (int i = 0; i < d; i++) check(t.sizes()[i] == in[0].sizes()[i], "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors");
    const int64_t n = t.sizes()[d], piece = (n + num_chunks - 1) / num_chunks;
    Dims sizes = t.sizes(), flat;
    sizes[d] = piece * num_chunks - n;
    Tensor whole = sizes[d] ? fn::cat(Tensors{t, zeros_of(Meta(sizes, t.dtype(), t.device()))}, int64_t(d)) : t;
    for (int i = 0; i < d; i++) flat.push(t.sizes()[i]);
    flat.push(num_chunks), flat.push(-1);
    parts.push_back(fn::reshape(whole, flat));
  }
  return fn::cat(parts, int64_t(d + 1));
}

static const NativeOps::Registration ops;

}  // namespace weir
