#include "framework/ops/conv.h"

#include <algorithm>
#include <atomic>

#include "framework/core/warn.h"
#include "framework/op/autocast.h"
#include "framework/ops/complex.h"
#include "framework/ops/create.h"
#include "framework/ops/pad.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

static std::atomic<bool> filtering{true};
bool minimal_filtering() { return filtering; }
void set_minimal_filtering(bool on) { filtering = on; }

bool gives_to_onednn(DType halves) {
  if (halves == DType::float16) return __builtin_cpu_supports("avx512fp16");
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

namespace {

// Whether the layout of `t` suggests channels_last. One axis counts as two, of which the first has one position.
bool suggests_channels_last(const Tensor& t) {
  const Dims &n = t.sizes(), &s = t.strides();
  return t.ndim() == 3 ? suggests_channels_last(Dims{n[0], n[1], 1, n[2]}, Dims{s[0], s[1], s[2] * n[2], s[2]}) : suggests_channels_last(n, s);
}

// Whether PyTorch gives a convolution of three axes to oneDNN, and so keeps channels_last. Source: its use_mkldnn.
template <class Op> bool keeps_channels_last_3d(const Op& op, const Tensor& x, const Tensor& w) {
  const Dims &n = x.sizes(), &k = w.sizes();
  auto above = [](const Dims& d, int64_t least) { return std::any_of(d.begin(), d.end(), [=](int64_t v) { return v > least; }); };
  bool pays = above(op.stride, 1) || above(op.dilation, 1) || n[0] >= 16 || k[3] != 1 || k[4] != 1;
  bool large = op.groups > 1 || (k[3] > 3 && k[4] > 3) || n[0] > 1 || n[0] * n[1] * n[2] * n[3] > 20480;
  return is_reduced(x.dtype()) ? gives_to_onednn(x.dtype()) : x.dtype() == DType::float32 && pays && large;
}

// The result is channels_last where an operand is. PyTorch makes an input of one axis row-major first. `beyond`: it has positions beyond the last
// stride, which oneDNN does not take.
template <class Op> Meta laid_out(const Op& op, const Dims& sizes, const Tensor& x, const Tensor& w, bool beyond = false) {
  Meta m(sizes, x.dtype(), x.device());
  bool channels = suggests_channels_last(w) || ((sizes.n > 3 || x.is_contiguous()) && suggests_channels_last(x));
  if (channels && (sizes.n < 5 || (!beyond && keeps_channels_last_3d(op, x, w)))) m.strides = channels_last_strides(sizes);
  return m;
}

/// Of nothing (`none`) a dilation may be zero, as in PyTorch, where kernels refuse it that are not asked then.
void check_params(const char* op, const Dims& stride, const Dims& padding, const Dims& dilation, int64_t groups, int n, bool none) {
  check(groups > 0, op, ": expected groups to be greater than 0, but got groups=", groups);
  for (auto& [name, d] : {std::pair{"stride", &stride}, {"padding", &padding}, {"dilation", &dilation}})
    check(d->n == n, op, ": expected ", name, " to be a single integer value or a list of ", n, " values to match the convolution dimensions, but got ", *d);
  for (int64_t s : stride) check(s > 0, op, ": non-positive stride is not supported");
  for (int64_t p : padding) check(p >= 0, op, ": negative padding is not supported");
  for (int64_t d : dilation) check(d > 0 || (none && d == 0), op, ": dilation should be greater than zero");
}

void check_types(const char* op, const Tensor& a, const Tensor& w, const Tensor& bias) {
  check(!a.numel() || a.dtype() == w.dtype(), op, ": Input type (", name_of(a.dtype()), ") and weight type (", name_of(w.dtype()), ") should be the same");
  check(!bias || bias.dtype() == a.dtype(), op, ": Input type (", name_of(a.dtype()), ") and bias type should be the same");
  check<NotImplemented>(a.dtype() != DType::boolean || !a.numel(), op, ": not implemented for 'bool'");
  check<NotImplemented>(!is_complex(a.dtype()), op, ": not implemented for '", name_of(a.dtype()), "'");
}

/// Of a bias that is not compared with the input, but cast. Source: PyTorch, whose kernels add it to a result that has the input's dtype: but the product
/// of volumes that are convolved `back`; of nothing, and of what is convolved back, by `+=`. That oneDNN refuses it beside bfloat16, on CPUs where it
/// is asked, is not imitated.
void check_cast(const char* op, const Tensor& x, const Tensor& bias, int n, bool back) {
  if (!bias || bias.dtype() == x.dtype()) return;
  const bool none = x.numel() == 0, strict = is_complex(x.dtype()) || (!none && back && n == 3);
  check(!strict, op, ": Input type (", name_of(x.dtype()), ") and bias type (", name_of(bias.dtype()), ") should be the same");
  const DType sum = promote_types(x.dtype(), bias.dtype());
  check(!(none || back) || can_cast(sum, x.dtype()), op, ": result type ", name_of(sum), " can't be cast to the desired output type ", name_of(x.dtype()));
}

int64_t out_size(int64_t in, int64_t k, int64_t s, int64_t p, int64_t d) { return (in + 2 * p - d * (k - 1) - 1) / s + 1; }

Dims spread(const Dims& d, int n) { return d.n == 1 ? Dims(n, d[0]) : d; }

// Runs `f` on a batched input; takes the batch axis off again when it was added.
template <class F> Tensor batched(const char* op, const Tensor& x, const Tensor& w, int n, F&& f) {
  check(w.ndim() == n + 2, op, ": Expected ", n + 2, "-dimensional weight, but got ", w.ndim(), "-dimensional weight of size ", w.sizes());
  check(x.ndim() == n + 1 || x.ndim() == n + 2, op, ": Expected ", n + 1, "D (unbatched) or ", n + 2, "D (batched) input to ", op,
        ", but got input of size: ", x.sizes());
  if (x.ndim() == n + 2) return f(x);
  return squeeze(f(unsqueeze(x, int64_t(0))), std::optional<Dims>(Dims{0}));
}

// f(input, weight), which is linear in both, and a bias: of complex numbers by their parts.
template <class F> Tensor by_parts(const Tensor& x, const Tensor& w, const Tensor& bias, F&& f) {
  if (!is_complex(x.dtype()) || !is_complex(w.dtype())) return f(x, w, bias);
  check(!bias || bias.dtype() == x.dtype(), "conv: Input type (", name_of(x.dtype()), ") and bias type should be the same");
  WithoutAutocast scope;  // which has no precision for complex numbers, and so none for their parts
  // Not Gauss's three products, which PyTorch has: they cancel where the parts differ much.
  Tensor none, xr = real(x), xi = imag(x), wr = real(w), wi = imag(w);
  Tensor re = f(xr, wr, bias ? real(bias) : none) - f(xi, wi, none), im = f(xr, wi, bias ? imag(bias) : none) + f(xi, wr, none);
  return fn::complex(re, im);
}

template <int n, class Op> Tensor conv(const char* op, const Op& o, Inputs in, const Dims& padding) {
  return batched(op, in[0], in[1], n, [&](const Tensor& x) {
    return by_parts(x, in[1], in[2], [&](const Tensor& input, const Tensor& weight, const Tensor& bias) {
      return fn::convolution(input, weight, bias, spread(o.stride, n), padding, spread(o.dilation, n), o.groups);
    });
  });
}

template <int n, class Op> Tensor conv_text(const char* op, const Op& o, Inputs given) {
  // PyTorch compares the bias's dtype where padding is numbers, and casts it where padding is a word.
  check_cast(op, given[0], given[2], n, false);
  const Tensor in[3] = {given[0], given[1], given[2] ? cast_to(given[2], given[0].dtype()) : Tensor()};
  if (o.padding == "valid") return conv<n>(op, o, in, Dims(n, 0));
  check(o.padding == "same", op, ": Invalid padding string: '", o.padding.view(), "'");
  Dims stride = spread(o.stride, n), dilation = spread(o.dilation, n), half(n, 0), extra;
  for (int64_t s : stride) check(s == 1, op, ": padding='same' is not supported for strided convolutions");
  check(in[1].ndim() == n + 2, op, ": Expected ", n + 2, "-dimensional weight, but got ", in[1].ndim());
  bool uneven = false;
  for (int i = n - 1; i >= 0; i--) {
    int64_t total = dilation[i] * (in[1].sizes()[i + 2] - 1);
    half[i] = total / 2;
    extra.push(0), extra.push(total % 2);
    uneven |= total % 2;
  }
  if (!uneven) return conv<n>(op, o, in, half);
  warn_once("Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be created");
  Tensor padded[3] = {fn::constant_pad_nd(in[0], extra, Scalar(0)), in[1], in[2]};
  return conv<n>(op, o, padded, half);
}

template <int n, class Op> Tensor conv_transpose(const char* op, const Op& o, Inputs in) {
  const Tensor &w = in[1];
  return batched(op, in[0], w, n, [&](const Tensor& x) {
    Dims stride = spread(o.stride, n), padding = spread(o.padding, n), extra = spread(o.output_padding, n), dilation = spread(o.dilation, n);
    check_params(op, stride, padding, dilation, o.groups, n, x.numel() == 0);
    check(w.sizes()[0] >= o.groups && w.sizes()[0] % o.groups == 0, op, ": Given groups=", o.groups, ", expected weight to be divisible by ", o.groups,
          " at dimension 0, but got weight of size ", w.sizes());
    check(x.sizes()[1] == w.sizes()[0], op, ": Given transposed=1, weight of size ", w.sizes(), ", expected input", x.sizes(), " to have ",
          w.sizes()[0], " channels, but got ", x.sizes()[1], " channels instead");
    for (int64_t each : extra) check(each >= 0, op, ": negative output_padding is not supported");
    if (w.numel() == 0) {
      check<IndexError>(x.sizes()[0] > 0, op, ": index 0 is out of range for an input of no samples");  // PyTorch looks at the first
      check(false, op, ": non-empty weight tensor expected, but got: ", w.sizes());
    }
    check(extra.n == n, op, ": expected output_padding to be a single integer value or a list of ", n,
          " values to match the convolution dimensions, but got ", extra);
    Dims size{x.sizes()[0], w.sizes()[1] * o.groups};
    for (int i = 0; i < n; i++) {
      check(!x.numel() || extra[i] < stride[i] || extra[i] < dilation[i], op, ": output padding must be smaller than either stride or dilation, but got output_padding ",
            extra, ", stride ", stride, ", dilation ", dilation);
      int64_t s = checked_sub(checked_mul(x.sizes()[i + 2] - 1, stride[i]), checked_mul(2, padding[i]));
      s = checked_add(s, checked_add(checked_mul(dilation[i], w.sizes()[i + 2] - 1), checked_add(extra[i], 1)));
      check(s > 0, op, ": Given input size per channel: ", x.sizes(), ". Calculated output size per channel: ", s, ". Output size is too small");
      size.push(s);
    }
    check_cast(op, x, in[2], n, true);
    return by_parts(x, w, in[2], [&](const Tensor& input, const Tensor& weight, const Tensor& bias) {
      return fn::convolution_input(input, weight, bias, size, stride, padding, dilation, o.groups);
    });
  });
}

// The first positions of `t`: with an output padding beyond the stride a convolution has more than there were inputs.
Tensor trimmed(Tensor t, const Dims& sizes) {
  for (int i = 2; i < t.ndim(); i++)
    if (t.size(i) > sizes[i]) t = slice(t, int64_t(i), int64_t(0), sizes[i], int64_t(1));
  return t;
}

Tensor bias_grad(const Tensor& dy) {
  Dims axes{0};
  for (int i = 2; i < dy.ndim(); i++) axes.push(i);
  return sum(dy, axes);
}

}  // namespace

Meta Convolution::infer(Inputs in) const {
  const Tensor &x = in[0], &w = in[1], &b = in[2];
  int n = x.ndim() - 2;
  check_params("conv", stride, padding, dilation, groups, n, x.numel() == 0);
  check_types("conv", x, w, b);
  const bool dilated = std::any_of(dilation.begin(), dilation.end(), [](int64_t d) { return d > 1; });
  check<NotImplemented>(is_inexact(x.dtype()) || x.dtype() == DType::int64 || !dilated || x.numel() == 0, "\"slow_conv_dilated<>\" not implemented for '", name_of(x.dtype()), "'");
  check(w.sizes()[0] >= groups && w.sizes()[0] % groups == 0, "conv: Given groups=", groups, ", expected weight to be at least ", groups,
        " at dimension 0 and divisible by it, but got weight of size ", w.sizes());
  check(x.sizes()[1] == w.sizes()[1] * groups, "conv: Given groups=", groups, ", weight of size ", w.sizes(), ", expected input", x.sizes(),
        " to have ", w.sizes()[1] * groups, " channels, but got ", x.sizes()[1], " channels instead");
  check(!b || (b.ndim() == 1 && b.sizes()[0] == w.sizes()[0]), "conv: Given weight of size ", w.sizes(), ", expected bias to be 1-dimensional with ",
        w.sizes()[0], " elements, but got bias of size ", b ? b.sizes() : Dims(), " instead");
  Dims sizes{x.sizes()[0], x.sizes()[1] ? w.sizes()[0] : 0};  // no channels in, none out: PyTorch's answer
  for (int i = 0; i < n; i++) {
    int64_t k = w.sizes()[i + 2];
    check<IndexError>(k > 0 || x.sizes()[0] || !x.sizes()[1], "conv: index 0 is out of range for an input of no samples");  // PyTorch looks at the first
    check(k > 0 || x.sizes()[1] == 0, "conv: kernel size should be greater than zero");
    const int64_t padded = checked_add(x.sizes()[i + 2], checked_mul(2, padding[i]));
    check(padded >= checked_add(checked_mul(dilation[i], k - 1), 1), "conv: Calculated padded input size per channel: (", padded, "). Kernel size: (", k, "). Kernel size can't be greater than actual input size");
    sizes.push(out_size(x.sizes()[i + 2], k, stride[i], padding[i], dilation[i]));
  }
  return laid_out(*this, sizes, x, w);
}
Tensors Convolution::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), w = s.input(1);
  return {s.needs(0) ? fn::convolution_input(dy, w, Tensor(), s.input_meta(0).sizes, stride, padding, dilation, groups) : Tensor(),
          s.needs(1) ? fn::convolution_weight(x, dy, s.input_meta(1).sizes, stride, padding, dilation, groups) : Tensor(),
          !s.needs(2) ? Tensor() : dy.size(1) ? bias_grad(dy) : zeros_of(s.input_meta(2))};
}

Meta ConvolutionPacked::infer(Inputs in) const {
  constexpr int64_t kMostThreads = 4096;
  check(weight_size.n == in[0].ndim(), "convolution_packed: expected a weight of ", in[0].ndim(), " axes, got ", weight_size);
  check(in[1].dtype() == DType::uint8 && in[1].is_contiguous(), "convolution_packed: expected a row of bytes as weight, got ", name_of(in[1].dtype()),
        " of ", in[1].sizes());
  check(threads > 0 && threads <= kMostThreads, "convolution_packed: expected 1 to ", kMostThreads, " threads, got ", threads);
  Convolution plain;
  plain.stride = stride, plain.padding = padding, plain.dilation = dilation, plain.groups = groups;
  Tensor given[3] = {in[0], symbolic(Meta(weight_size, in[0].dtype(), in[0].device())), in[2]};
  Meta out = plain.infer(given);
  check(bool(in[3]) == bool(in[4]), "convolution_packed: expected scale and shift, or neither");
  for (const Tensor& t : {in[3], in[4]})
    check(!t || (t.dtype() == DType::float32 && t.is_contiguous() && t.sizes() == Dims{weight_size[0]}), "convolution_packed: expected scale and shift of ",
          weight_size[0], " float32 numbers, got ", t ? name_of(t.dtype()) : "none", " of ", t ? t.sizes() : Dims());
  check(!in[5] || (in[5].dtype() == out.dtype && in[5].sizes() == out.sizes), "convolution_packed: expected other as the result, ", name_of(out.dtype), " of ",
        out.sizes, ", got ", in[5] ? name_of(in[5].dtype()) : "none", " of ", in[5] ? in[5].sizes() : Dims());
  check(!in[6] || (in[6].dtype() == DType::float32 && in[6].is_contiguous()), "convolution_packed: expected a row of float32 as panels, got ",
        in[6] ? name_of(in[6].dtype()) : "none");
  return out;
}

Meta ConvolutionInput::infer(Inputs in) const {
  check_types("conv_transpose", in[0], in[1], Tensor());  // a bias of another dtype is cast
  check<NotImplemented>(is_floating(in[0].dtype()) || in[0].dtype() == DType::int64 || !in[0].numel(), "conv_transpose: not implemented for '",
                        name_of(in[0].dtype()), "'");
  check(!in[2] || (in[2].ndim() == 1 && in[2].sizes()[0] == input_size[1]), "conv_transpose: expected bias to be 1-dimensional with ",
        input_size[1], " elements, but got bias of size ", in[2] ? in[2].sizes() : Dims());
  bool beyond = false;
  for (int i = 0; i < stride.n; i++) {
    const int64_t reached = (in[0].sizes()[i + 2] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (in[1].sizes()[i + 2] - 1) + 1;
    beyond = beyond || input_size[i + 2] - reached >= stride[i];
  }
  return laid_out(*this, input_size, in[0], in[1], beyond);
}
Tensors ConvolutionInput::vjp(const Saved& s, const Tensor& d) const {
  Tensor dy = s.input(0), w = s.input(1);
  return {s.needs(0) ? trimmed(fn::convolution(d, w, Tensor(), stride, padding, dilation, groups), s.input_meta(0).sizes) : Tensor(),
          s.needs(1) ? fn::convolution_weight(d, dy, s.input_meta(1).sizes, stride, padding, dilation, groups) : Tensor(),
          s.needs(2) ? bias_grad(d) : Tensor()};
}

Meta ConvolutionWeight::infer(Inputs in) const {
  check_types("conv", in[0], in[1], Tensor());
  return laid_out(*this, weight_size, in[0], in[1]);
}
Tensors ConvolutionWeight::vjp(const Saved& s, const Tensor& dw) const {
  Tensor x = s.input(0), dy = s.input(1);
  return {s.needs(0) ? fn::convolution_input(dy, dw, Tensor(), s.input_meta(0).sizes, stride, padding, dilation, groups) : Tensor(),
          s.needs(1) ? trimmed(fn::convolution(x, dw, Tensor(), stride, padding, dilation, groups), s.input_meta(1).sizes) : Tensor()};
}

std::pair<ConvolutionInput, ConvolutionWeight> ConvolutionGradients::apart(const Dims& input_size, const Dims& weight_size) const {
  ConvolutionInput input;
  ConvolutionWeight weight;
  input.input_size = input_size, weight.weight_size = weight_size;
  input.stride = weight.stride = stride, input.padding = weight.padding = padding, input.dilation = weight.dilation = dilation, input.groups = weight.groups = groups;
  return {input, weight};
}
std::array<Meta, 2> ConvolutionGradients::infer(Inputs in) const {
  Convolution forward;
  forward.stride = stride, forward.padding = padding, forward.dilation = dilation, forward.groups = groups;
  const auto [input, weight] = apart(in[0].sizes(), in[2].sizes());
  const Meta y = forward.infer(std::array{in[0], in[2], Tensor()});
  check(y.sizes == in[1].sizes(), "convolution_gradients: expected a gradient of sizes ", y.sizes, ", got ", in[1].sizes());
  return {input.infer(std::array{in[1], in[2], Tensor()}), weight.infer(in.first(2))};
}

Tensor Conv1d::compose(Inputs in) const { return conv<1>("conv1d", *this, in, spread(padding, 1)); }
Tensor Conv2d::compose(Inputs in) const { return conv<2>("conv2d", *this, in, spread(padding, 2)); }
Tensor Conv3d::compose(Inputs in) const { return conv<3>("conv3d", *this, in, spread(padding, 3)); }
Tensor Conv1dStr::compose(Inputs in) const { return conv_text<1>("conv1d", *this, in); }
Tensor Conv2dStr::compose(Inputs in) const { return conv_text<2>("conv2d", *this, in); }
Tensor Conv3dStr::compose(Inputs in) const { return conv_text<3>("conv3d", *this, in); }
Tensor ConvTranspose1d::compose(Inputs in) const { return conv_transpose<1>("conv_transpose1d", *this, in); }
Tensor ConvTranspose2d::compose(Inputs in) const { return conv_transpose<2>("conv_transpose2d", *this, in); }
Tensor ConvTranspose3d::compose(Inputs in) const { return conv_transpose<3>("conv_transpose3d", *this, in); }

static const ConvOps::Registration ops;

}  // namespace weir
