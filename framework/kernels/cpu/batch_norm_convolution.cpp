#include "framework/ops/batch_norm_convolution.h"

#include <array>

#include "framework/kernels/cpu/batch_norm.h"
#include "framework/kernels/cpu/weight_products.h"
#include "framework/op/joining.h"
#include "framework/ops/conv.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Every thread multiplies a block of lines at a time by the whole matrix, which stays in its second-level cache; and what is made leaves the caches before it
// is read again, unless it is summed at once.
constexpr int64_t kMatrix = 1 << 18, kPictures = 1 << 21;  // numbers
bool gains(const Tensor& from, const Tensor& w, const Tensor& to) {
  return w.numel() <= kMatrix && std::max(from.numel(), to.numel()) >= kPictures && LineProducts::suit(from, w, to);
}

// Runs the kernel of another op.
template <class Op> void run(const Op& op, Inputs in, Outputs out) { kernel_slots<Op>[int(DeviceType::cpu)](&op, in, out); }

// Asks for the i-th of n parts of numbers, for the second-level cache.
void bring(const BFloat16* from, const BFloat16* end, int64_t i, int64_t n) {
  constexpr int64_t kCacheLine = 64 / sizeof(BFloat16);
  const int64_t lines = (end - from) / kCacheLine;
  for (int64_t k = lines * i / n; k < lines * (i + 1) / n; k++) __builtin_prefetch(from + k * kCacheLine, 0, 2);
}

// `places` of channels_last memory from `first` on, as channel_map makes them, at `to`.
template <class F> void map_places(const ChannelPlanes& p, const BFloat16* x, const BFloat16* beside, int64_t first, int64_t places, BFloat16* to, const F& f) {
  const int64_t L = p.line(), n = places * p.channels;
  x += first * p.channels, beside = beside ? beside + first * p.channels : nullptr;
  for (int64_t i = 0; i < n; i += L)
    map_line<BFloat16, float>(x + i, beside ? beside + i : nullptr, to + i, std::min(L, n - i), [](int64_t j, int count) { return BesideEachOther{j, count}; }, f);
}

// x, made by a product a block at a time where it is summed. Lines behind those that are multiplied come nearer in the meantime.
struct ItselfMade : Itself {
  const LineProducts& product;
  int64_t channels;
  bool past_caches;
  Scratch<BFloat16> made = {};
  const BFloat16* block(const BFloat16* x, int64_t at, int64_t count) {
    const int64_t first = at / channels, places = count / channels;
    return block(x, at, count, [&](BFloat16* to) {
      product.multiply(first, places, 0, product.panels(), to, [&](int64_t i, int64_t n) { bring(product.line(first + places), product.line(first + 2 * places), i, n); });
    });
  }
  void end() const { if (past_caches) streamed(); }

 protected:
  template <class F> const BFloat16* block(const BFloat16* x, int64_t at, int64_t count, F&& multiply) {
    BFloat16* to = const_cast<BFloat16*>(x) + at;
    const Tiles tiles;
    if (!past_caches) return multiply(to), to;
    if (int64_t(made.size()) < count) made = Scratch<BFloat16>(size_t(count));
    multiply(made.data());
    stream(made.data(), to, size_t(count) * sizeof(BFloat16));
    return made.data();
  }
};
// The same of lines that f makes of y and what lies beside it, as channel_map does, and that are written too, with bits of what is positive.
template <class F> struct BothMade : ItselfMade {
  const ChannelPlanes& p;
  const BFloat16 *y, *beside;
  const F& f;
  BFloat16* to;
  uint8_t* bits;
  bool lines_past_caches;
  Scratch<BFloat16> lines = {};
  const BFloat16* block(const BFloat16* x, int64_t at, int64_t count) {
    const int64_t first = at / channels * p.channels, places = count / channels, n = places * p.channels;
    const int64_t room = tile_panels(places) * kTileLines * p.channels, next = std::min(first + n, p.outer * p.channels), behind = std::min(next + n, p.outer * p.channels);
    if (int64_t(lines.size()) < room) lines = Scratch<BFloat16>(size_t(room));
    map_places(p, y, beside, at / channels, places, lines.data(), f);
    write_bits(lines.data(), n, bits + first / 8);
    if (lines_past_caches) stream(lines.data(), to + first, size_t(n) * sizeof(BFloat16));
    else std::copy_n(lines.data(), n, to + first);
    return ItselfMade::block(x, at, count, [&](BFloat16* result) {
      product.multiply(lines.data(), places, 0, product.panels(), result, [&](int64_t i, int64_t parts) {
        bring(y + next, y + behind, i, parts);
        if (beside) bring(beside + next, beside + behind, i, parts);
      });
    });
  }
  void end() const { if (past_caches || lines_past_caches) streamed(); }
};
bool leaves_caches(const Tensor& t) { return t.numel() * int64_t(size_of(t.dtype())) >= kStreamed; }

void batch_norm_apply_positive(const BatchNormApplyPositive&, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return;
  const int64_t C = in[0].sizes()[1];
  const Tensor x = dense_as(in[0], out[0].strides());
  uint8_t* const bits = out[1].data<uint8_t>();
  by_float(x.dtype(), [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    auto run = [&](auto after) { normalise<T, A>(x, in, numbers(in[3], C, 0), numbers(in[4], C, 1), all_plain(in.first(3)), {true, in.subspan(5)}, out[0], after); };
    if (C % 8 == 0 && ChannelPlanes(x).inner == 1) return run([=](int64_t at, int64_t n, const T* y) { write_bits(y, n, bits + at / 8); });
    run(Nothing());
    parallel_for(out[1].numel(), kGrain / 8, [&](int64_t b, int64_t e) { write_bits(out[0].data<T>() + b * 8, std::min(e * 8, out[0].numel()) - b * 8, bits + b); });
  });
}

void convolution_batch_norm_statistics(const ConvolutionBatchNormStatistics& op, Inputs in, Outputs out) {
  const Tensor &x = in[0], &w = in[1], &y = out[0];
  if (y.numel() == 0) return save_nothing(out.subspan(1));
  if (LineProducts::suit(x, w, y)) {
    const LineProducts product = LineProducts::of_input(x, w);
    const ItselfMade made{{}, product, y.sizes()[1], leaves_caches(y)};
    return keep(statistics_of<BFloat16, float>(y, op.eps, made), y, op.momentum, in.subspan(2), out.subspan(1));
  }
  run(plain_convolution<Convolution>(x.ndim() - 2), std::array{x, w, Tensor()}, out.first(1));
  BatchNormStatistics statistics;
  statistics.momentum = op.momentum, statistics.eps = op.eps;
  run(statistics, std::array{y, in[2], in[3]}, out.subspan(1));
}

void batch_norm_convolution_statistics(const BatchNormConvolutionStatistics& op, Inputs in, Outputs out) {
  const Tensor &y = out[0], &w = in[10], &convolved = out[2];
  if (convolved.numel() && LineProducts::suit(y, w, convolved)) {
    const int64_t C = y.sizes()[1];
    const Tensor x = dense_as(in[0], y.strides());
    const ChannelPlanes p(x);
    const LineProducts product = LineProducts::of_input(y, w);
    return with_normalisation<BFloat16, float>(x, in, numbers(in[3], C, 0), numbers(in[4], C, 1), all_plain(in.first(3)), {true, in.subspan(5, 5)}, [&](const BFloat16* beside, auto f) {
      const BothMade<decltype(f)> made{{{}, product, w.sizes()[0], leaves_caches(convolved)}, p, x.data<BFloat16>(), beside, f, y.data<BFloat16>(), out[1].data<uint8_t>(), leaves_caches(y)};
      keep(statistics_of<BFloat16, float>(convolved, op.eps, made), convolved, op.momentum, in.subspan(11), out.subspan(3));
    });
  }
  run(BatchNormApplyPositive(), in.first(10), out.first(2));
  ConvolutionBatchNormStatistics convolution;
  convolution.momentum = op.momentum, convolution.eps = op.eps;
  run(convolution, std::array{y, w, in[11], in[12]}, out.subspan(2));
}

// in: dy and the kernel, and behind them all but the first of what sum_relu_backward takes.
void sum_with_gradient(Inputs in, bool training, double eps, const Dims& step, const Tensor& made, Outputs out, const Tensor* coefficients = nullptr) {
  const Tensor &dy = in[0], &w = in[1];
  Tensor parts[] = {Tensor(), in[2], in[3], in[4], in[5], in[6], in[7]};
  if (LineProducts::suit(dy, w, made)) {
    const LineProducts product = LineProducts::of_gradient(dy, w);
    return sum_relu_backward(parts, training, eps, step, made, out, &product, coefficients);
  }
  parts[0] = empty(made.meta());
  ConvolutionInput input = plain_convolution<ConvolutionInput>(dy.ndim() - 2);
  input.input_size = made.sizes();
  run(input, std::array{dy, w, Tensor()}, Outputs(parts, 1));
  sum_relu_backward(parts, training, eps, step, made, out, nullptr, coefficients);
}
void convolution_sum_relu_batch_norm_backward(const ConvolutionSumReluBatchNormBackward& op, Inputs in, Outputs out) {
  sum_with_gradient(in, op.training, op.eps, op.step, out[0], out.subspan(1));
}
void convolution_sum_relu_batch_norm_sums(const ConvolutionSumReluBatchNormSums& op, Inputs in, Outputs out) {
  Tensor results[] = {out[0], out[2], out[3]};
  sum_with_gradient(in, true, op.eps, op.step, out[0], results, &out[1]);
}

// Whether both of a convolution's gradients are made in one pass over the gradient of its result, which is made only once then.
bool is_one_pass(const Tensor& x, const Tensor& dy, const Tensor& w, const Tensor& dx, const Tensor& dw) {
  return suits_tiles(x, dy, dw) && LineProducts::suit(dy, w, dx) && WeightProducts::in_one_pass(x.sizes()[1], dy.sizes()[1]);
}
void batch_norm_convolution_gradients(const BatchNormConvolutionGradients&, Inputs in, Outputs out) {
  if (in[1].numel() == 0) return run(plain_convolution<ConvolutionGradients>(in[0].ndim() - 2), std::array{in[0], in[1], in[4]}, out);
  const Tensor &x = in[0], dy = in_layout(in[1], only_channels_last(in[1])), y = dense_as(in[2], dy.strides()), &w = in[4];
  const ChannelPlanes p(dy);
  const Coefficients c(in[3]);
  if (is_one_pass(x, dy, w, out[0], out[1])) {
    return with_input_gradient<BFloat16, float>(p, c, All(), [&](auto f) {
      const LineProducts product = LineProducts::of_gradient(dy, w);
      WeightProducts(plain_convolution<ConvolutionWeight>(2), x, dy, out[1]).run(&product, out[0], [&](int64_t first, int64_t count, BFloat16* to) {
        map_places(p, y.data<BFloat16>(), dy.data<BFloat16>(), first, count, to, f);
      });
    });
  }
  const Tensor dy_there = empty(dy.meta());
  by_count(dy.dtype(), p.outer * p.inner, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    with_input_gradient<T, A>(p, c, All(), [&](auto f) { channel_map<T, A>(p, y.data<T>(), dy.data<T>(), dy_there.data<T>(), f); });
  });
  run(plain_convolution<ConvolutionGradients>(x.ndim() - 2), std::array{x, dy_there, w}, out);
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<BatchNormApplyPositive, batch_norm_apply_positive>(cpu);
  set_kernel<ConvolutionBatchNormStatistics, convolution_batch_norm_statistics>(cpu);
  set_kernel<BatchNormConvolutionStatistics, batch_norm_convolution_statistics>(cpu);
  set_kernel<ConvolutionSumReluBatchNormBackward, convolution_sum_relu_batch_norm_backward>(cpu);
  set_kernel<ConvolutionSumReluBatchNormSums, convolution_sum_relu_batch_norm_sums>(cpu);
  set_kernel<BatchNormConvolutionGradients, batch_norm_convolution_gradients>(cpu);
  joined_ops()[&op_type<ConvolutionBatchNormStatistics>()] = [](const void* op, Inputs in) {
    return gains(in[0], in[1], symbolic(static_cast<const ConvolutionBatchNormStatistics*>(op)->infer(in)[0]));
  };
  joined_ops()[&op_type<BatchNormConvolutionStatistics>()] = [](const void* op, Inputs in) {
    const auto made = static_cast<const BatchNormConvolutionStatistics*>(op)->infer(in);
    return gains(symbolic(made[0]), in[10], symbolic(made[2]));
  };
  joined_ops()[&op_type<ConvolutionSumReluBatchNormBackward>()] = [](const void*, Inputs in) { return gains(in[0], in[1], in[3]); };
  joined_ops()[&op_type<BatchNormConvolutionGradients>()] = [](const void* op, Inputs in) {
    const auto [dx, dw] = static_cast<const BatchNormConvolutionGradients*>(op)->infer(in);
    return in[1].numel() >= kPictures && is_channels_last(in[2].sizes(), in[2].strides()) && is_one_pass(in[0], in[1], in[4], symbolic(dx), symbolic(dw));
  };
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
