#include "framework/ops/norm.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "framework/core/warn.h"
#include "framework/op/changes.h"
#include "framework/op/copy.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/like.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

// Statistics are float32 even for half inputs.
DType stat_type(DType t) { return is_reduced(t) ? DType::float32 : t; }

Meta in_order(const Tensor& x, bool channels_last) {
  Meta m(x.sizes(), x.dtype(), x.device());
  if (channels_last) m.strides = channels_last_strides(x.sizes());
  return m;
}
// Source: PyTorch's suggest_memory_format_contig, to which an input that is contiguous either way is row-major. Axes of size 1 say
// nothing of an input without holes; of others suggest_memory_format asks them.
bool last_by_memory(const Tensor& x) {
  return !x.is_contiguous() && (is_channels_last(x.sizes(), x.strides()) || suggests_channels_last(x.sizes(), x.strides()));
}
Meta as_input(const Tensor& x) { return in_order(x, last_by_memory(x)); }

void check_channel(const char* name, const Tensor& t, int64_t channels) {
  check(!t || t.numel() == channels, "batch_norm: ", name, " should contain ", channels, " elements not ", t ? t.numel() : 0);
}

// Gradients of the backward ops come from their own formula, written in ops over (outer, axis, inner) shapes.
Tensor over(const Tensor& t, const Dims& axes) { return axes.n ? sum(t, axes, true) : t; }  // to sum, no axes are all

// Mean and 1 / standard deviation of n numbers each, over `axes`.
std::pair<Tensor, Tensor> statistics_over(const Tensor& x, const Dims& axes, double n, double eps) {
  const Tensor mean = over(x, axes) / n;
  return {mean, rsqrt(over((x - mean) * (x - mean), axes) / n + eps)};
}

// d of a normalisation's input gradient: g = w * r * (dy - mean(dy) - xhat * mean(dy * xhat)), all means over `axes`.
Tensors double_backward(const Tensor& ddx, const Tensor& ddw, const Tensor& ddb, const Tensor& dy, const Tensor& x, const Tensor& mean,
                        const Tensor& r, const Tensor& w, const Dims& axes, const Dims& param_axes, double n, bool training) {
  Tensor scale = w ? w : num(1.0), d_dy, d_x, d_w;
  Tensor xhat = (x - mean) * r;
  auto add = [](Tensor& to, const Tensor& t) { to = to ? to + t : t; };
  if (ddx) {
    Tensor g = ddx * scale;                      // cotangent of r * (u - ...), u = dy * w
    Tensor u = dy * scale;
    if (!training) {
      add(d_dy, g * r);
      if (w) add(d_w, over(ddx * r * dy, param_axes));
    } else {
      // Projection P(v) = v - mean(v) - xhat mean(v xhat) is symmetric; the op is r P(dy) w for a scale outside the means.
      auto project = [&](const Tensor& v) { return v - over(v, axes) / n - xhat * (over(v * xhat, axes) / n); };
      bool inside = !(axes == param_axes);       // layer norm scales inside the means, batch norm outside
      Tensor v = inside ? u : dy, h = inside ? ddx : g;
      Tensor ph = project(h);
      add(d_dy, inside ? scale * (r * ph) : r * ph);
      if (w) add(d_w, inside ? over(dy * r * ph, param_axes) : over(ddx * r * project(dy), param_axes));
      // through xhat and r
      Tensor a = over(v * xhat, axes) / n, b = over(h * xhat, axes) / n, hv = over(h * project(v), axes) / n;
      Tensor vm = v - over(v, axes) / n, hm = h - over(h, axes) / n;
      Tensor dxhat = -(r * (hm * a + vm * b));
      Tensor back = dxhat - over(dxhat, axes) / n - xhat * (over(dxhat * xhat, axes) / n);
      add(d_x, r * back - r * r * xhat * hv);
    }
  }
  if (ddw) {
    add(d_dy, xhat * ddw);
    Tensor h = dy * ddw;
    if (training) add(d_x, r * (h - over(h, axes) / n - xhat * (over(h * xhat, axes) / n)));
    else add(d_x, h * r);
  }
  if (ddb) add(d_dy, ddb + x * 0.0);
  return {d_dy, d_x, Tensor(), Tensor(), d_w};
}

}  // namespace

std::array<Meta, 3> BatchNormForward::infer(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(is_floating(x.dtype()), "batch_norm: not implemented for '", name_of(x.dtype()), "'");
  check(x.ndim() >= 2, "batch_norm: expected at least 2D input, got ", x.ndim(), "D");
  int64_t c = x.sizes()[1];
  check_channel("weight", in[1], c), check_channel("bias", in[2], c);
  check_channel("running_mean", in[3], c), check_channel("running_var", in[4], c);
  check<ValueError>(bool(in[3]) == bool(in[4]), "running_mean and running_var must either both be None or neither be None");
  check(training || in[3], "batch_norm: running_mean and running_var must be defined in evaluation mode");
  check_parameters("batch_norm", x, in.subspan(1, 4));
  Meta stat(Dims{training ? c : 0}, stat_type(x.dtype()), x.device());
  return {as_input(x), stat, stat};
}
Tensors BatchNormForward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), mean, invstd;
  if (training) mean = s.output(1), invstd = s.output(2);
  else mean = s.input(3), invstd = rsqrt(s.input(4) + eps);
  auto g = fn::batch_norm_backward(dy, x, detach(mean), detach(invstd), s.input(1), training, eps);
  return {g[0], s.needs(1) ? g[1] : Tensor(), s.needs(2) ? g[2] : Tensor()};
}
// What is added behind a batch norm of x: nothing, or its shape, with its own statistics and weights or none.
static void check_other(const char* op, const Tensor& x, Inputs other) {
  check(!other[0] || (other[0].sizes() == x.sizes() && other[0].dtype() == x.dtype()), op, ": other must have input's shape and dtype");
  const char* names[] = {"other_mean", "other_invstd", "other_weight", "other_bias"};
  for (size_t i = 1; i < 5; i++) check_channel(names[i - 1], other[i], x.sizes()[1]);
  check(bool(other[1]) == bool(other[2]) && (other[1] || !(other[3] || other[4])) && (other[0] || !other[1]), op, ": other's statistics and weights come with other, and weights with statistics");
}
std::array<Meta, 3> BatchNormRelu::infer(Inputs in) const {
  BatchNormForward op;
  op.training = training, op.momentum = momentum, op.eps = eps;
  const auto r = op.infer(in.first(5));
  check_other("batch_norm_relu", in[0], in.subspan(5));
  return r;
}
Meta BatchNormApply::infer(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(is_floating(x.dtype()), "batch_norm_apply: not implemented for '", name_of(x.dtype()), "'");
  check(x.ndim() >= 2, "batch_norm_apply: expected at least 2D input, got ", x.ndim(), "D");
  int64_t c = x.sizes()[1];
  check_channel("weight", in[1], c), check_channel("bias", in[2], c), check_channel("mean", in[3], c), check_channel("invstd", in[4], c);
  check(in[3] && in[4], "batch_norm_apply: needs mean and invstd");
  check(!in[5] || relu, "batch_norm_apply: other comes with relu");
  check_other("batch_norm_apply", x, in.subspan(5));
  return as_input(x);
}
std::array<Meta, 2> BatchNormStatistics::infer(Inputs in) const {
  BatchNormForward op;
  op.training = true, op.momentum = momentum, op.eps = eps;
  const auto [y, mean, invstd] = op.infer(std::array{in[0], Tensor(), Tensor(), in[1], in[2]});
  return {mean, invstd};
}
std::array<Meta, 3> BatchNormBackward::infer(Inputs in) const {
  Meta stat(Dims{in[1].sizes()[1]}, in[4] ? in[4].dtype() : stat_type(in[1].dtype()), in[1].device());
  // As the input's strides suggest; by its memory where dy is row-major beside it. Found by calling PyTorch with every order of axes.
  const Tensor &dy = in[0], &x = in[1];
  return {in_order(x, suggests_channels_last(x.sizes(), x.strides()) || (dy.is_contiguous() && last_by_memory(x))), stat, stat};
}
// Of a gradient, and the inputs of batch_norm_backward behind it.
static std::array<Meta, 3> infer_backward(const char* op, const Tensor& dy, Inputs in) {
  const Tensor& x = in[0];
  check(x.ndim() >= 2 && dy.sizes() == x.sizes() && dy.dtype() == x.dtype(), op, ": expected a gradient of input's shape and dtype, at least 2D, got ", dy.sizes(), " and ", x.sizes());
  const char* names[] = {"mean", "invstd", "weight", "bias"};
  for (size_t i = 1; i < in.size(); i++) check_channel(names[i - 1], in[i], x.sizes()[1]);
  check(in[1] && in[2], op, ": needs mean and invstd");
  const Tensor parts[] = {dy, x, in[1], in[2], in[3]};
  return BatchNormBackward().infer(parts);
}
std::array<Meta, 3> BatchNormReluBackward::infer(Inputs in) const { return infer_backward("batch_norm_relu_backward", in[0], in.subspan(1)); }
std::array<Meta, 4> BatchNormSumReluBackward::infer(Inputs in) const {
  Dims stepped = in[0].sizes();
  check(step.n == 0 || step.n == in[0].ndim() - 2, "batch_norm_sum_relu_backward: expected a step for each axis behind the channels, got ", step);
  for (int i = 0; i < step.n; i++) {
    check(step[i] > 0, "batch_norm_sum_relu_backward: expected steps above 0, got ", step);
    stepped[i + 2] = (stepped[i + 2] + step[i] - 1) / step[i];
  }
  const int64_t bytes = (in[0].numel() + 7) / 8;
  for (int i : {1, 2}) {
    if (i == 2 && in[i].dtype() == DType::uint8) {
      check(in[i].sizes() == Dims{bytes}, "batch_norm_sum_relu_backward: expected bits of ", bytes, " bytes, got ", in[i].sizes());
      continue;
    }
    const Dims& sizes = i == 1 ? stepped : in[0].sizes();
    check(in[i].sizes() == sizes && in[i].dtype() == in[0].dtype(), "batch_norm_sum_relu_backward: expected tensors of one dtype and shape, or of steps in it, got ", in[i].sizes(), " beside ", in[0].sizes());
  }
  auto [dx, dw, db] = infer_backward("batch_norm_sum_relu_backward", in[0], in.subspan(3));
  return {dx, dx, dw, db};
}
Tensors BatchNormBackward::vjp(const Saved& s, const Tensor&) const {
  Tensor dy = s.input(0), x = s.input(1), w = s.input(4);
  Dims channel(x.ndim(), 1), axes;
  channel[1] = x.sizes()[1];
  for (int i = 0; i < x.ndim(); i++)
    if (i != 1) axes.push(i);
  auto shaped = [&](const Tensor& t) { return t ? reshape(t, channel) : t; };
  double n = double(x.numel()) / double(std::max<int64_t>(1, channel[1]));
  Tensors r = double_backward(s.cotangent(0), shaped(s.cotangent(1)), shaped(s.cotangent(2)), dy, x, shaped(s.input(2)), shaped(s.input(3)), shaped(w), axes, axes, n, training);
  if (r[4]) r[4] = reshape(r[4], Dims{channel[1]});
  return r;
}
Tensor BatchNorm::compose(Inputs in) const {
  if (in[0].numel()) {
    check_statistics(in[3], in[4]);
    for (int i : {3, 4}) check(training || in[i], i == 3 ? "running_mean" : "running_var", " must be defined in evaluation mode");
    return fn::batch_norm_forward.over(in, training, momentum, eps)[0];
  }
  Tensor y = fn::clone(in[0], std::nullopt);  // nothing to normalise: PyTorch asks of the parameters only that they have a first element
  for (int i : {1, 2})
    if (in[i]) y = i == 1 ? y * select(in[i], int64_t(0), int64_t(0)) : y + select(in[i], int64_t(0), int64_t(0));
  return y;
}

static std::string any_before(const Dims& sizes) {
  std::string text = "[*";
  for (int64_t n : sizes) text += ", " + std::to_string(n);
  return text + "]";
}

std::array<Meta, 3> LayerNormForward::infer(Inputs in) const {
  const Tensor& x = in[0];
  int k = normalized_shape.n, lead = x.ndim() - k;
  check(k > 0, "layer_norm: Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = ", normalized_shape);
  bool fits = lead >= 0;
  for (int i = 0; fits && i < k; i++) fits = x.sizes()[lead + i] == normalized_shape[i];
  if (!fits) check(false, "layer_norm: Given normalized_shape=", normalized_shape, ", expected input with shape ", any_before(normalized_shape), ", but got input of size", x.sizes());
  check(!in[1] || in[1].sizes() == normalized_shape, "layer_norm: Expected weight to be of same shape as normalized_shape, but got weight of shape ",
        in[1] ? in[1].sizes() : Dims(), " and normalized_shape = ", normalized_shape);
  check(!in[2] || in[2].sizes() == normalized_shape, "layer_norm: Expected bias to be of same shape as normalized_shape, but got bias of shape ",
        in[2] ? in[2].sizes() : Dims(), " and normalized_shape = ", normalized_shape);
  check<NotImplemented>(is_floating(x.dtype()), "\"LayerNormKernelImpl\" not implemented for '", name_of(x.dtype()), "'");
  check_parameters("layer_norm", x, in.subspan(1, 2));
  Dims stat;
  for (int i = 0; i < x.ndim(); i++) stat.push(i < lead ? x.sizes()[i] : 1);
  Meta m(stat, stat_type(x.dtype()), x.device());
  return {Meta(x.sizes(), x.dtype(), x.device()), m, m};
}
Tensors LayerNormForward::vjp(const Saved& s, const Tensor& dy) const {
  auto g = fn::layer_norm_backward(dy, s.input(0), detach(s.output(1)), detach(s.output(2)), s.input(1), int64_t(normalized_shape.n), eps,
                                   s.needs(1) || s.needs(2));
  return {g[0], s.needs(1) ? g[1] : Tensor(), s.needs(2) ? g[2] : Tensor()};
}
std::array<Meta, 3> LayerNormBackward::infer(Inputs in) const {
  Dims shape;
  for (int i = in[1].ndim() - int(normalized_ndim); parameters && i < in[1].ndim(); i++) shape.push(in[1].sizes()[i]);
  if (!parameters) shape.push(0);
  Meta p(shape, in[4] ? in[4].dtype() : in[1].dtype(), in[1].device());
  return {Meta(in[1].sizes(), in[1].dtype(), in[1].device()), p, p};
}
Tensors LayerNormBackward::vjp(const Saved& s, const Tensor&) const {
  Tensor dy = s.input(0), x = s.input(1), w = s.input(4);
  Dims axes, lead;
  double n = 1;
  for (int i = 0; i < x.ndim(); i++) {
    bool inner = i >= x.ndim() - int(normalized_ndim);
    (inner ? axes : lead).push(i);
    if (inner) n *= double(x.sizes()[i]);
  }
  bool narrow = n <= double(kShortRow) && x.dtype() == DType::float32;
  auto wide = [&](const Tensor& t) { return t && narrow ? cast_to(t, DType::float64) : t; };
  Tensor mean = s.input(2), rstd = s.input(3);
  dy = wide(dy), x = wide(x), w = wide(w);
  if (narrow) std::tie(mean, rstd) = statistics_over(x, axes, n, eps);
  auto of = [&](int i) { return parameters ? wide(s.cotangent(i)) : Tensor(); };  // those of nothing may be given as nothing
  Tensors r = double_backward(wide(s.cotangent(0)), of(1), of(2), dy, x, mean, rstd, w, axes, lead, n, true);
  if (r[4] && w) r[4] = sum_to(r[4], w.sizes());
  return r;
}
Tensor LayerNorm::compose(Inputs in) const { return fn::layer_norm_forward.over(in, normalized_shape, eps)[0]; }

Tensor by_channel(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Dims channel(x.ndim(), 1);
  channel[1] = -1;
  Tensor y = x;
  if (weight) y = y * reshape(weight, channel);
  if (bias) y = y + reshape(bias, channel);
  return cast_to(y, x.dtype());
}

DType check_parameters(const char* op, const Tensor& x, Inputs parameters) {
  DType t = x.dtype();
  for (bool first = true; const Tensor& p : parameters) {
    if (!p) continue;
    if (std::exchange(first, false)) t = p.dtype();
    check(t == x.dtype() || (is_reduced(x.dtype()) && t == DType::float32), op, ": mixed dtype: expected parameters of ", name_of(x.dtype()),
          is_reduced(x.dtype()) ? " or float32" : "", ", but got ", name_of(t));
    check(p.dtype() == t, op, ": expected all parameters to be ", name_of(t), ", but got ", name_of(p.dtype()));
  }
  return t;
}

void check_statistics(const Tensor& mean, const Tensor& var) {
  for (const Tensor& t : {mean, var})
    check(!t || !mode.grad || !t.has_flag(kRequiresGrad), "The function 'native_batch_norm' is not differentiable with respect to argument '",
          t == mean ? "running_mean" : "running_var", "'. This input cannot have requires_grad True.");
}

static void check_groups(const Tensor& x, Inputs parameters, int64_t groups) {
  check(x.ndim(), "group_norm: Expected at least 2 dimensions for input tensor but received 0");
  check<NotImplemented>(is_floating(x.dtype()), "group_norm: not implemented for '", name_of(x.dtype()), "'");
  const int64_t c = x.size(1);
  check(groups > 0, "group_norm: Expected num groups to be greater than 0, got ", groups);
  check(c % groups == 0, "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape ", x.sizes(),
        " and num_groups=", groups);
  check_parameters("group_norm", x, parameters);
  for (int i = 0; i < 2; i++)
    check(!parameters[i] || (parameters[i].ndim() == 1 && parameters[i].numel() == c), "group_norm: Expected ", i ? "bias" : "weight",
          " to be a vector of size equal to the number of channels in input, but got it of shape ", parameters[i] ? parameters[i].sizes() : Dims(),
          " and input of shape ", x.sizes());
}

// A result like x that keeps channels-last memory, and has rows otherwise.
static Meta as_pictures(const Tensor& x) {
  const bool last = !x.is_contiguous() && is_channels_last(x.sizes(), x.strides());
  return Meta(x.sizes(), last ? channels_last_strides(x.sizes()) : contiguous_strides(x.sizes()), x.dtype(), x.device());
}

std::array<Meta, 3> GroupNormForward::infer(Inputs in) const {
  const Tensor& x = in[0];
  check_groups(x, in.subspan(1, 2), num_groups);
  const Meta m(Dims{x.size(0), num_groups}, stat_type(x.dtype()), x.device());
  return {as_pictures(x), m, m};
}
Tensors GroupNormForward::vjp(const Saved& s, const Tensor& dy) const {
  auto g = fn::group_norm_backward(dy, s.input(0), detach(s.output(1)), detach(s.output(2)), s.input(1), num_groups, eps);
  return {g[0], s.needs(1) ? g[1] : Tensor(), s.needs(2) ? g[2] : Tensor()};
}
std::array<Meta, 3> GroupNormBackward::infer(Inputs in) const {
  const Tensor &x = in[1], none;
  check_groups(x, std::array{in[4], none}, num_groups);
  check(in[0].sizes() == x.sizes(), "group_norm_backward: expected a gradient of input's shape ", x.sizes(), ", but got ", in[0].sizes());
  for (int i : {2, 3})
    check(in[i].numel() == checked_mul(x.size(0), num_groups), "group_norm_backward: expected statistics of ", x.size(0), " * ", num_groups, " groups, but got ", in[i].sizes());
  const Meta p(Dims{x.size(1)}, in[4] ? in[4].dtype() : x.dtype(), x.device());
  return {as_pictures(x), p, p};
}
Tensors GroupNormBackward::vjp(const Saved& s, const Tensor&) const {
  const Tensor x = s.input(1), w = s.input(4);
  const int64_t c = x.size(1), each = c / num_groups, rest = x.numel() / (x.size(0) * c);
  const Dims parts{x.size(0), num_groups, each, rest}, channel{1, num_groups, each, 1}, group{x.size(0), num_groups, 1, 1}, within{2, 3};
  const double n = double(each * rest);
  const bool narrow = n <= double(kShortRow) && x.dtype() == DType::float32;
  auto shaped = [&](const Tensor& t, const Dims& sizes) { return t ? reshape(narrow ? cast_to(t, DType::float64) : t, sizes) : t; };
  const Tensor v = shaped(x, parts);
  Tensor mean = shaped(s.input(2), group), rstd = shaped(s.input(3), group);
  if (narrow) std::tie(mean, rstd) = statistics_over(v, within, n, eps);
  Tensors r = double_backward(shaped(s.cotangent(0), parts), shaped(s.cotangent(1), channel), shaped(s.cotangent(2), channel), shaped(s.input(0), parts), v, mean, rstd,
                              shaped(w, channel), within, Dims{0, 3}, n, true);
  for (int i : {0, 1})
    if (r[i]) r[i] = reshape(r[i], x.sizes());
  if (r[4]) r[4] = reshape(r[4], Dims{c});
  return r;
}

Tensor GroupNorm::compose(Inputs in) const {
  const Tensor& x = in[0];
  check_groups(x, in.subspan(1, 2), num_groups);
  if (x.numel() == 0) return pictured_as(x, by_channel(x * 1.0, in[1], in[2]));
  if (std::none_of(in.begin(), in.end(), [](const Tensor& t) { return t && t.is_batched(); })) {
    const Tensor parts[] = {is_channels_last(x.sizes(), x.strides()) ? x : contiguous_of(x), in[1], in[2]};
    return pictured_as(x, fn::group_norm_forward.over(parts, num_groups, eps)[0]);
  }
  const int64_t rest = x.numel() / (x.sizes()[0] * num_groups);  // a layer norm takes a whole batch of examples at once
  const Tensor flat[] = {reshape(x, Dims{x.sizes()[0], num_groups, rest}), Tensor(), Tensor()};
  return pictured_as(x, by_channel(reshape(fn::layer_norm_forward.over(flat, Dims{rest}, eps)[0], x.sizes()), in[1], in[2]));
}

Tensor InstanceNorm::compose(Inputs in) const {
  check(use_input_stats || (in[3] && in[4]), "Expected running_mean and running_var to be defined when use_input_stats is false");
  const Tensor& x = in[0];
  const int64_t samples = x.size(0), channels = x.size(1);
  Dims together = x.sizes();
  together[0] = 1, together[1] = checked_mul(samples, channels);
  auto repeated = [&](const Tensor& t) { return t ? repeat(t, Dims{samples}) : t; };
  // Statistics of another dtype are taken as of input's.
  const bool fit = !in[3] || !in[4] || in[3].dtype() != in[4].dtype() || (is_reduced(x.dtype()) && in[3].dtype() == DType::float32);
  auto statistics = [&](const Tensor& t) { return t && !fit && is_floating(x.dtype()) ? cast_to(repeated(t), x.dtype()) : repeated(t); };
  Tensor parts[] = {reshape(contiguous_of(x), together), repeated(in[1]), repeated(in[2]), statistics(in[3]), statistics(in[4])};
  Tensor y = fn::batch_norm.over(parts, use_input_stats, momentum, eps)[0];
  for (int i : {3, 4})
    if (in[i] && use_input_stats) {
      GradMode off(false);
      copy_into(in[i], mean(reshape(parts[i], Dims{samples, channels}), Dims{0}));
    }
  return reshape(y, x.sizes());
}

Tensor RmsNorm::compose(Inputs in) const {
  const Tensor &x = in[0], &weight = in[1];
  const int axes = normalized_shape.n, lead = x.ndim() - axes;
  check(axes > 0, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = ",
        normalized_shape);
  check(!weight || weight.sizes() == normalized_shape, "Expected weight to be of same shape as normalized_shape, but got weight of shape ",
        weight ? weight.sizes() : Dims(), " and normalized_shape = ", normalized_shape);
  check<ValueError>(lead >= 0, "Input tensor must have at least ", axes, " dimensions, but got ", x.ndim());
  bool fits = true;
  for (int i = 0; fits && i < axes; i++) fits = x.sizes()[lead + i] == normalized_shape[i];
  if (!fits) check(false, "Given normalized_shape=", normalized_shape, ", expected input with shape ", any_before(normalized_shape), ", but got input of size", x.sizes());
  check<NotImplemented>(is_inexact(x.dtype()), "\"rms_norm\" not implemented for '", name_of(x.dtype()), "'");
  if (weight && weight.dtype() != x.dtype() && !is_complex(x.dtype()))  // no kernel of PyTorch's fuses complex numbers
    warn_once(str("Mismatch dtype between input and weight: input dtype = ", name_of(x.dtype()), ", weight dtype = ", name_of(weight.dtype())));
  const Tensor wide = in_single(x);
  Dims last;
  for (int i = lead; i < x.ndim(); i++) last.push(i);
  const double epsilon = real_type(wide.dtype()) == DType::float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  Tensor y = wide * rsqrt(mean(square(wide), last, true) + eps.value_or(epsilon));
  if (!suggests_channels_last(x.sizes(), x.strides())) y = contiguous_of(y);
  return cast_to(weight ? y * weight : y, x.dtype());
}

static const NormOps::Registration ops;
static const bool changing = [] {
  set_changes(op_type<BatchNormForward>(), [](const void* op, Inputs) {
    return static_cast<const BatchNormForward*>(op)->training ? std::vector{3, 4} : std::vector<int>();  // running statistics
  });
  return true;
}();

}  // namespace weir
