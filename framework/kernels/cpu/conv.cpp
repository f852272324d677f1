#include "framework/ops/conv.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "framework/kernels/cpu/affine.h"
#include "framework/kernels/cpu/arithmetic.h"
#include "framework/kernels/cpu/conv_columns.h"
#include "framework/kernels/cpu/conv_padding.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/conv_reference.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/onednn.h"
#include "framework/kernels/cpu/weight_pairs.h"
#include "framework/kernels/cpu/weight_products.h"
#include "framework/kernels/cpu/weight_tiles.h"
#include "framework/kernels/cpu/winograd.h"
#include "framework/op/packing.h"

namespace weir {
namespace WEIR_ISA {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

struct Entry {
  dnnl::primitive primitive;
  Md src, weights, dst, bias, scratch;
  Md channel, other;  // of what follows: a number for each channel, what is added
  Move move_src, move_weights, move_dst, move_other;
};

// What a convolution's own pass does to its result, in this order.
struct Then {
  Tensor scale, shift, other;
  bool relu = false;
};

dnnl::memory::dims list(const Dims& d, int64_t minus = 0) {
  dnnl::memory::dims r(d.begin(), d.end());
  for (auto& x : r) x -= minus;
  return r;
}

// Weights with their groups as an axis of their own, as oneDNN wants them.
Dims grouped(const Dims& w, int64_t groups) {
  if (groups == 1) return w;
  Dims g{groups, w[0] / groups};
  for (int i = 1; i < w.n; i++) g.push(w[i]);
  return g;
}
Dims grouped_strides(const Dims& sizes, const Dims& strides, int64_t groups) {
  if (groups == 1) return strides;
  Dims g{sizes[0] / groups * strides[0]};
  for (int64_t s : strides) g.push(s);
  return g;
}

// As is_channels_last, but of one axis too.
bool channels_innermost(const Tensor& t) { return same_layout(t.sizes(), t.strides(), channels_last_strides(t.sizes())); }
bool dense_for_onednn(const Tensor& t) { return t.is_contiguous() || channels_innermost(t); }
// Dense strides in the order that the axes have in memory: a part of the channels of a channels_last tensor stays channels_last.
Dims dense_strides(const Tensor& t) {
  if (dense_for_onednn(t)) return t.strides();
  return suggests_channels_last(t.sizes(), t.strides()) ? channels_last_strides(t.sizes()) : contiguous_strides(t.sizes());
}
Tensor dense(const Tensor& t) {
  return dense_for_onednn(t) ? t : copied(t, Meta(t.sizes(), dense_strides(t), t.dtype(), t.device()));
}
Meta with_type(const Tensor& t, DType type) { return Meta(t.sizes(), dense_strides(t), type, {}); }
Tensor as_type(const Tensor& t, DType type) { return copied(t, with_type(t, type)); }

// Half precision that oneDNN has no kernels of runs as float32.
DType computed_in(DType t) { return is_reduced(t) && !onednn_computes(t) ? DType::float32 : t; }

// A size-1 axis may carry any stride; oneDNN reads the layout off the strides. Of one position either order holds: it is taken for that of the
// convolution's `other` side, since between two orders oneDNN has no kernel but its reference.
Md plain(const Tensor& t, const Tensor& other) {
  bool last = channels_innermost(t) && (!t.is_contiguous() || only_channels_last(other));
  return describe(t.sizes(), last ? channels_last_strides(t.sizes()) : contiguous_strides(t.sizes()), t.dtype());
}
Md plain_weights(const Tensor& w, int64_t groups) {
  bool last = channels_innermost(w) && !w.is_contiguous();
  Dims strides = last ? channels_last_strides(w.sizes()) : contiguous_strides(w.sizes());
  return describe(grouped(w.sizes(), groups), grouped_strides(w.sizes(), strides, groups), w.dtype());
}

template <class Op> Key key_of(char kind, const Op& op, const Tensor& a, const Tensor& b, const Tensor& c, bool bias) {
  Key k(kind);
  k << a << b << c << op.stride << op.padding << op.dilation << op.groups << int64_t(bias) << int64_t(omp_get_max_threads());
  return k;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr a;
  a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return a;
}

// Activations keep their layout when they are channels_last; from row-major ones oneDNN may ask for blocks.
Md activation(const Tensor& t, const Tensor& other) {
  return channels_innermost(t) ? plain(t, other) : describe_any(t.sizes(), t.dtype());
}

// make(activation) of the layouts that the tensors have, or, where oneDNN has only its reference for them, of those that it likes best: lines with
// channels innermost in groups took sixty times as long, and to bring them into another order costs less.
template <class Make> auto in_quick_layouts(Make&& make) {
  auto is_reference = [](const auto& pd) { return std::string_view(pd.impl_info_str()).starts_with("ref"); };
  auto pd = make(activation);
  if (!is_reference(pd)) return pd;
  auto other = make([](const Tensor& t, const Tensor&) { return describe_any(t.sizes(), t.dtype()); });
  return is_reference(other) ? pd : other;
}

Tensor scratch_of(const Entry& e) {
  size_t n = e.scratch.get_size();
  return n ? empty(Dims{int64_t(n)}, DType::uint8) : Tensor();
}
dnnl::memory scratch_memory(const Entry& e, const Tensor& t) { return wrap_memory(e.scratch, t ? t.raw() : nullptr); }

// As oneDNN's steps: a product and a sum by channel, a sum, ReLU.
struct Steps {
  Steps(const Then& then, const Tensor& out, const Md& dst) {
    if (then.scale) {
      Dims sizes(out.ndim(), 1);
      sizes[1] = out.sizes()[1];
      channel = describe(sizes, contiguous_strides(sizes), DType::float32);
      all.append_binary(dnnl::algorithm::binary_mul, channel);
      all.append_binary(dnnl::algorithm::binary_add, channel);
    }
    if (then.other) {
      other = dst;
      all.append_binary(dnnl::algorithm::binary_add, other);
    }
    if (then.relu) all.append_eltwise(dnnl::algorithm::eltwise_relu, 0, 0);
  }
  static int argument(int step) { return DNNL_ARG_ATTR_MULTIPLE_POST_OP(step) | DNNL_ARG_SRC_1; }
  dnnl::post_ops all;
  Md channel, other;
};

// Of `w` and `then` only shapes, dtypes and which are there count.
Entry& forward_entry(const Convolution& op, const Tensor& x, const Tensor& w, bool b, const Tensor& out, const Then& then) {
  Key key = key_of('f', op, x, w, out, b);
  key << int64_t(bool(then.scale) + 2 * bool(then.other) + 4 * then.relu);
  return cached<Entry>(key, [&] {
    const Md wei = describe_any(grouped(w.sizes(), op.groups), w.dtype()), bias = b ? describe(Dims{w.sizes()[0]}, Dims{1}, x.dtype()) : Md();
    const auto pad = list(op.padding);
    Md channel;
    auto pd = in_quick_layouts([&](auto&& layout) {
      const Md dst = layout(out, x);
      const Steps steps(then, out, dst);
      channel = steps.channel;
      auto attr = attributes();
      attr.set_post_ops(steps.all);
      return convolution_forward::primitive_desc(onednn_engine(), dnnl::prop_kind::forward_training, kDirect, layout(x, out), wei, bias, dst, list(op.stride),
                                                 list(op.dilation, 1), pad, pad, attr);
    });
    return Entry{convolution_forward(pd), pd.src_desc(), pd.weights_desc(), pd.dst_desc(), bias, pd.scratchpad_desc(), channel, then.other ? pd.dst_desc() : Md()};
  });
}

// `layout` is that of w's memory.
void forward(const Convolution& op, const Tensor& x, const Tensor& w, const Md& layout, const Tensor& b, const Tensor& out, const Then& then = {}) {
  Entry& e = forward_entry(op, x, w, bool(b), out, then);
  Operand src(plain(x, out), e.src, x, true, e.move_src), wei(layout, e.weights, w, true, e.move_weights), dst(plain(out, x), e.dst, out, false, e.move_dst);
  Tensor scratch = scratch_of(e);
  Arguments args;
  args.add(DNNL_ARG_SRC, src.memory).add(DNNL_ARG_WEIGHTS, wei.memory).add(DNNL_ARG_DST, dst.memory).add(DNNL_ARG_SCRATCHPAD, scratch_memory(e, scratch));
  if (b) args.add(DNNL_ARG_BIAS, wrap_memory(e.bias, b));
  int step = 0;
  if (then.scale)
    for (const Tensor& t : {then.scale, then.shift}) args.add(Steps::argument(step++), wrap_memory(e.channel, t));
  std::optional<Operand> other;
  if (then.other) args.add(Steps::argument(step), other.emplace(plain(then.other, x), e.other, then.other, true, e.move_other).memory);
  args.run(e.primitive);
  dst.finish();
}

template <class Op> convolution_forward::primitive_desc hint(const Op& op, const Md& src, const Md& wei, const Md& dst) {
  auto pad = list(op.padding);
  return {onednn_engine(), dnnl::prop_kind::forward_training, kDirect, src, wei, dst, list(op.stride), list(op.dilation, 1), pad, pad, attributes()};
}

// oneDNN's right padding need not equal the left one: a transposed convolution with output_padding reads less.
void backward_input(const ConvolutionInput& op, const Tensor& dy, const Tensor& w, const Tensor& dx) {
  auto& e = cached<Entry>(key_of('i', op, dy, w, dx, false), [&] {
    const Md wei = describe_any(grouped(w.sizes(), op.groups), w.dtype());
    const auto pad = list(op.padding);
    auto pd = in_quick_layouts([&](auto&& layout) {
      const Md src = layout(dx, dy), dst = layout(dy, dx);
      return convolution_backward_data::primitive_desc(onednn_engine(), kDirect, src, wei, dst, list(op.stride), list(op.dilation, 1), pad, pad, hint(op, src, wei, dst),
                                                       attributes());
    });
    return Entry{convolution_backward_data(pd), pd.diff_src_desc(), pd.weights_desc(), pd.diff_dst_desc(), Md(), pd.scratchpad_desc()};
  });
  Operand src(plain(dx, dy), e.src, dx, false, e.move_src), wei(plain_weights(w, op.groups), e.weights, w, true, e.move_weights),
      dst(plain(dy, dx), e.dst, dy, true, e.move_dst);
  Tensor scratch = scratch_of(e);
  Arguments args;
  args.add(DNNL_ARG_DIFF_SRC, src.memory).add(DNNL_ARG_WEIGHTS, wei.memory).add(DNNL_ARG_DIFF_DST, dst.memory).add(DNNL_ARG_SCRATCHPAD, scratch_memory(e, scratch));
  args.run(e.primitive);
  src.finish();
}

// Below AVX-512 oneDNN's weight gradients run at half speed on channels_last activations. Blocks cost a pass over both, which pays
// where every number meets enough others. AMD Zen 3, one thread, 16 x 64 x 56 x 56: 150 ms, in blocks 80 + 4.
bool blocks_pay(const Dims& w, int64_t groups) {
  constexpr int64_t kProducts = 120;  // per number moved
  constexpr auto wide = unsigned(dnnl::cpu_isa::avx512_core);
  static const bool is_wide = (unsigned(dnnl::get_effective_cpu_isa()) & wide) == wide;
  return !is_wide && w.product() / (w[0] + w[1] * groups) >= kProducts;
}

void backward_weight(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) {
  auto& e = cached<Entry>(key_of('w', op, x, dy, dw, false), [&] {
    const bool blocks = blocks_pay(dw.sizes(), op.groups);
    const Md wei = describe_any(grouped(dw.sizes(), op.groups), dw.dtype());
    const auto pad = list(op.padding);
    auto pd = in_quick_layouts([&](auto&& layout) {
      const Md src = blocks ? describe_any(x.sizes(), x.dtype()) : layout(x, dy), dst = blocks ? describe_any(dy.sizes(), dy.dtype()) : layout(dy, x);
      return convolution_backward_weights::primitive_desc(onednn_engine(), kDirect, src, wei, dst, list(op.stride), list(op.dilation, 1), pad, pad, hint(op, src, wei, dst),
                                                          attributes());
    });
    return Entry{convolution_backward_weights(pd), pd.src_desc(), pd.diff_weights_desc(), pd.diff_dst_desc(), Md(), pd.scratchpad_desc()};
  });
  Operand src(plain(x, dy), e.src, x, true, e.move_src), wei(plain_weights(dw, op.groups), e.weights, dw, false, e.move_weights),
      dst(plain(dy, x), e.dst, dy, true, e.move_dst);
  Tensor scratch = scratch_of(e);
  Arguments args;
  args.add(DNNL_ARG_SRC, src.memory).add(DNNL_ARG_DIFF_WEIGHTS, wei.memory).add(DNNL_ARG_DIFF_DST, dst.memory).add(DNNL_ARG_SCRATCHPAD, scratch_memory(e, scratch));
  args.run(e.primitive);
  wei.finish();
}

void add_bias(const Tensor& out, const Tensor& b) {
  if (!b) return;
  Dims strides(out.ndim(), 0);
  strides[1] = b.strides()[0];
  add(out, alias(b, out.sizes(), strides, b->offset), out);
}

// The reference runs float64, what is small, and what oneDNN refuses.
template <class Run, class Reference>
void dispatch(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor& y, const Tensor& w, Run&& run, Reference&& reference) {
  if (out.numel() == 0) return;
  if (a.numel() == 0 || b.numel() == 0) return fill_zero(out);
  const DType t = out.dtype();
  if ((t != DType::float32 && t != DType::bfloat16 && t != DType::float16) || products(y, w) <= kFewProducts) return reference();
  try {
    const DType in = computed_in(t);
    if (in == t) return run(dense(a), dense(b), out);
    Tensor r = empty(with_type(out, in));
    run(as_type(a, in), as_type(b, in), r);
    run_copy(r, out);
  } catch (const dnnl::error&) {
    reference();
  }
}

// `t` in the order of axes that `like` has. Where the two sides of a convolution differ in it, oneDNN has no kernel but its
// reference: a patch embedding's weight gradient took a hundred times as long.
Tensor laid_as(const Tensor& t, const Tensor& like) {
  if (like.is_contiguous() && channels_innermost(like)) return t;  // 1 x 1: either order
  const bool last = only_channels_last(like);
  return last == only_channels_last(t) ? t : in_layout(t, last);
}

Tensor bias_for(const Tensor& x, const Tensor& b) {
  if (!b) return b;
  return b.dtype() == x.dtype() ? row_major(b) : copied(b, Meta(b.sizes(), x.dtype()));
}

template <class Op> bool is_plane_of_one_row(const Op& op, const Tensor& x) { return x.ndim() == 3 && op.groups > 1 && op.groups == x.sizes()[1]; }
Tensor as_plane(const Tensor& t) {
  const Dims &n = t.sizes(), &s = t.strides();
  return alias(t, Dims{n[0], n[1], 1, n[2]}, Dims{s[0], s[1], n[2] * s[2], s[2]}, t->offset);
}
// run(op, a, b, c) of a convolution of `x`. oneDNN's kernels of channels by themselves are for planes: lines of such become planes of height 1.
template <class Op, class Run> void in_planes(Op op, const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& c, Run&& run) {
  if (!is_plane_of_one_row(op, x)) return run(op, a, b, c);
  op.stride = Dims{1, op.stride[0]}, op.padding = Dims{0, op.padding[0]}, op.dilation = Dims{1, op.dilation[0]};
  run(op, as_plane(a), as_plane(b), as_plane(c));
}

bool fuses_bias(DType t) { return t != DType::float16; }  // there PyTorch rounds before it adds

void conv(const Convolution& op, Inputs in, Outputs out) {
  if (in[0].numel() && out[0].numel() && multiplies_padding(op.padding, in[0], in[1], products(out[0], in[1])))
    return conv(without_padding(op), std::array{with_border(in[0], op.padding), in[1], in[2]}, out);
  if (mixes_few(op, in[0], in[1], out[0])) {
    mix_channels(in[0], in[1], out[0]);
    return add_bias(out[0], in[2]);
  }
  const bool fused = fuses_bias(out[0].dtype());
  bool with_bias = false;
  dispatch(in[0], in[1], out[0], out[0], in[1],
      [&](const Tensor& x, const Tensor& w, const Tensor& y) {
        Tensor b = fused ? bias_for(x, in[2]) : Tensor();
        if (filter_by_tiles(op, x, w, b, y)) return void(with_bias = bool(b));
        in_planes(op, x, x, w, y, [&](const Convolution& op, const Tensor& x, const Tensor& w, const Tensor& y) { forward(op, x, w, plain_weights(w, op.groups), b, y); });
        with_bias = bool(b);
      },
      [&] {
        if (goes_by_columns(out[0].dtype())) return fill_by_columns(op, in[0], in[1], out[0]);
        accumulate(in[0], in[1], out[0], [&](auto add) { for_taps(op, in[0].sizes(), in[1].sizes(), out[0].sizes(), add); });
      });
  if (!with_bias) add_bias(out[0], in[2]);
}

// oneDNN chooses blocks of a weight by the number of threads, which may be another where the weight is read.
Md packed_layout(const Convolution& op, const Tensor& x, const Tensor& w, bool bias, const Tensor& out, const Then& then, int64_t threads) {
  const int now = omp_get_max_threads();
  omp_set_num_threads(int(threads));
  Md layout;
  try {
    layout = forward_entry(op, x, w, bias, out, then).weights;
  } catch (...) {
    omp_set_num_threads(now);
    throw;
  }
  omp_set_num_threads(now);
  return layout;
}

Tensor row_of(const Scratch<float>& v) {
  Tensor t = empty(Dims{int64_t(v.size())}, DType::float32);
  std::copy(v.begin(), v.end(), t.data<float>());
  return t;
}

Then folded(const Tail& tail, int64_t channels) {
  Then then{Tensor(), Tensor(), tail.other, tail.relu};
  if (tail.norm.empty()) return then;
  const auto [scale, shift] = scale_and_shift<float>(numbers(tail.norm[2], channels, 0), inverse_deviation(numbers(tail.norm[3], channels, 1), tail.eps),
                                                     numbers(tail.norm[0], channels, 1), numbers(tail.norm[1], channels, 0));
  then.scale = row_of(scale), then.shift = row_of(shift);
  return then;
}

bool fits_packing(const void* p, Inputs in, const Tensor& out) {
  if (is_plane_of_one_row(*static_cast<const Convolution*>(p), in[0])) return false;
  return onednn_computes(computed_in(out.dtype())) && in[0].numel() && out.numel() && products(out, in[1]) > kFewProducts && dense_for_onednn(in[0]);
}

Packed pack(const void* p, Inputs in, const Tensor& out, const Tail& tail) {
  if (!fits_packing(p, in, out)) return {};
  const Convolution& op = *static_cast<const Convolution*>(p);
  const DType type = computed_in(out.dtype());
  const bool fused = fuses_bias(out.dtype());
  if (tail && ((in[2] && !fused) || !dense_for_onednn(out) || (tail.other && !dense_for_onednn(tail.other)))) return {};
  const Tensor x = symbolic(with_type(in[0], type)), w = as_type(in[1], type);
  const Then then = folded(tail, out.sizes()[1]);
  const int64_t threads = omp_get_max_threads();
  Md layout;
  try {
    layout = packed_layout(op, x, w, in[2] && fused, symbolic(with_type(out, type)), then, threads);
  } catch (const dnnl::error&) {
    return {};  // the reference runs it
  }
  const Md have = plain_weights(w, op.groups);
  const Tensor panels = tile_panels_of(op, w, symbolic(with_type(out, type)));
  if (have == layout && type == out.dtype() && !tail && !panels) return {};
  Tensor data = empty(Dims{int64_t(layout.get_size())}, DType::uint8);
  Move().run(have, wrap_memory(have, w), layout, wrap_memory(layout, data));
  ConvolutionPacked packed;
  packed.weight_size = w.sizes(), packed.stride = op.stride, packed.padding = op.padding, packed.dilation = op.dilation;
  packed.groups = op.groups, packed.threads = threads, packed.relu = tail.relu;
  Packed r{&op_type<ConvolutionPacked>(), std::vector<std::byte>(sizeof packed), {Tensor(), data, Tensor(), then.scale, then.shift, Tensor(), panels}, 5};
  new (r.op.data()) ConvolutionPacked(packed);
  return r;
}

void conv_packed(const ConvolutionPacked& op, Inputs in, Outputs out) {
  const DType type = computed_in(out[0].dtype());
  check(onednn_computes(type) && in[0].numel() && out[0].numel(), "convolution_packed: an input that no weight is packed for");
  Convolution plain;
  plain.stride = op.stride, plain.padding = op.padding, plain.dilation = op.dilation, plain.groups = op.groups;
  const bool direct = type == out[0].dtype(), fused = fuses_bias(out[0].dtype());
  Tensor x = direct ? dense(in[0]) : as_type(in[0], type), y = direct ? out[0] : empty(with_type(out[0], type)), b = fused ? bias_for(x, in[2]) : Tensor();
  Tensor w = alias(in[1]->storage, type, op.weight_size, contiguous_strides(op.weight_size), in[1]->offset / int64_t(size_of(type)));
  const Then then{in[3], in[4], in[5] && !direct ? as_type(in[5], type) : in[5] ? dense(in[5]) : in[5], op.relu};
  check(fused || !in[2] || !(then.scale || then.other || then.relu), "convolution_packed: a bias of float16 is added behind the rounding, and nothing behind it");
  Md layout = packed_layout(plain, x, w, bool(b), y, then, op.threads);
  check(in[1].numel() == int64_t(layout.get_size()), "convolution_packed: expected ", layout.get_size(), " bytes of weights, got ", in[1].numel());
  const bool tiles = in[6] && minimal_filtering();
  check(!tiles || in[6].numel() == tile_panels_size(plain, op.weight_size, y), "convolution_packed: expected panels of ", tile_panels_size(plain, op.weight_size, y),
        " numbers, got ", tiles ? in[6].numel() : 0);
  if (!tiles || !filter_by_tiles(op.padding, x, in[6], y, b, then.scale, then.shift, then.other, then.relu)) forward(plain, x, w, layout, b, y, then);
  if (!direct) run_copy(y, out[0]);
  if (!fused) add_bias(out[0], in[2]);
}

void conv_input(const ConvolutionInput& op, Inputs in, Outputs out) {
  auto reference = [&] {
    if (goes_by_columns(out[0].dtype())) return spread_by_columns(op, in[0], in[1], out[0]);
    accumulate(in[0], in[1], out[0], [&](auto add) {
      for_taps(op, out[0].sizes(), in[1].sizes(), in[0].sizes(), [=](int64_t i, int64_t k, int64_t o) { add(o, k, i); });
    });
  };
  // oneDNN multiplies numbers that are not there by weights of volumes.
  if (in[0].ndim() == 5 && in[0].numel() && out[0].numel() && is_floating(in[1].dtype()) && !all_finite(in[1])) reference();
  else dispatch(in[0], in[1], out[0], in[0], in[1], [&](const Tensor& dy, const Tensor& w, const Tensor& dx) {
    if (is_plain(dy, w, dx) && has_few_columns(op, dy, w)) return spread_windows(op, dy, w, dx);
    if (is_pointwise_but_strided(op, w)) {  // oneDNN multiplies the zeros between
      const Tensor places = seen_places(op, dy, dx), product = empty(only_channels_last(dx) ? channels_last_meta(places) : Meta(places.sizes(), dx.dtype()));
      backward_input(with_stride_1(op), laid_as(dy, product), w, product);
      fill_zero(dx);
      return run_copy(product, places);
    }
    const Tensor from = laid_as(dy, dx);
    if (!filter_by_tiles(op, from, w, dx)) in_planes(op, dx, from, w, dx, backward_input);
  }, reference);
  add_bias(out[0], in[2]);
}

void conv_weight(const ConvolutionWeight& op, Inputs in, Outputs out) {
  if (in[0].numel() && out[0].numel() && multiplies_padding(op.padding, in[0], in[1], products(in[1], out[0])))
    return conv_weight(without_padding(op), std::array{with_border(in[0], op.padding), in[1]}, out);
  dispatch(in[0], in[1], out[0], in[1], out[0],
      [&](const Tensor& x, const Tensor& dy, const Tensor& dw) {
        const Tensor a = laid_as(x, dw), b = laid_as(dy, dw);
        if (filter_by_tiles(op, a, b, dw) || sum_by_products(op, a, b, dw) || sum_by_tiles(op, a, b, dw) || sum_by_pairs(op, a, b, dw)) return;
        in_planes(op, x, a, b, dw, backward_weight);
      },
      [&] {
        if (goes_by_columns(out[0].dtype())) return sum_by_columns(op, in[0], in[1], out[0]);
        accumulate(in[0], in[1], out[0], [&](auto add) {
          for_taps(op, in[0].sizes(), out[0].sizes(), in[1].sizes(), [=](int64_t i, int64_t k, int64_t o) { add(i, o, k); });
        });
      });
}

void conv_gradients(const ConvolutionGradients& op, Inputs in, Outputs out) {
  if (in[0].numel() && in[1].numel() && multiply_both(op, in[0], in[1], in[2], out[0], out[1])) return;
  const auto [input, weight] = op.apart(in[0].sizes(), in[2].sizes());
  conv_input(input, std::array{in[1], in[2], Tensor()}, out.first(1));
  conv_weight(weight, in.first(2), out.subspan(1));
}

}  // namespace

static const bool registered = [] {
  set_kernel<Convolution, conv>(DeviceType::cpu);
  set_kernel<ConvolutionPacked, conv_packed>(DeviceType::cpu);
  packers()[&op_type<Convolution>()] = {1, fits_packing, pack};
  set_kernel<ConvolutionInput, conv_input>(DeviceType::cpu);
  set_kernel<ConvolutionWeight, conv_weight>(DeviceType::cpu);
  set_kernel<ConvolutionGradients, conv_gradients>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
