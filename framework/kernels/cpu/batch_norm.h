// Batch norm: channels of pictures, whatever the order of their memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/affine.h"
#include "framework/kernels/cpu/channel_planes.h"
#include "framework/kernels/cpu/layouts.h"
#include "framework/kernels/cpu/line_products.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/norm_rows.h"
#include "framework/kernels/cpu/positive_bits.h"

namespace weir {
namespace WEIR_ISA {

// `t` itself where it has these strides, else a copy that does.
inline Tensor dense_as(const Tensor& t, const Dims& strides) { return t.strides() == strides ? t : copied(t, Meta(t.sizes(), strides, t.dtype(), {})); }
// x * y + z, as PyTorch's vectors compute it where there is an instruction for it.
template <class A> A rounded_once(A x, A y, A z) {
#ifdef __FMA__
  return std::fma(x, y, z);
#else
  return x * y + z;
#endif
}
template <class T> Scratch<T> cast(const Scratch<double>& v) { return {v.begin(), v.end()}; }

// What follows the normalisation in the same pass: other[0] added, where there is one, and ReLU. With a mean, 1 / deviation, weight and bias behind it,
// other is normalised itself.
struct Then {
  bool relu = false;
  Inputs other = {};
};

// The largest number that is stored as a zero.
template <class T> constexpr float kStoredAsZero = std::is_same_v<T, BFloat16> ? 0x1p-134f : std::is_same_v<T, Half> ? 0x1p-25f : 0.0f;

// Calls f with how numbers are normalised by these statistics: affine(at, v, any) of a register v, where `at` reads tables `along` the planes. `plain`:
// PyTorch fuses the two steps.
template <class T, class A, class F>
void with_affine(const ChannelPlanes& p, Inputs in, const Scratch<double>& mean, const Scratch<double>& invstd, bool plain, F&& f) {
  const Scratch<double> offset = numbers(in[2], p.channels, 0);
  const auto [scale, shift] = scale_and_shift<A>(mean, invstd, numbers(in[1], p.channels, 1), offset);
  const Scratch<A> a = p.along(scale), b = p.along(shift);
  const A *pa = a.data(), *pb = b.data();
  using V = Vec<A>;
  if (plain) return f([=](auto at, V v, V) { return lanes::fma(v, at(pa), at(pb)); });
  // Unfused, as in PyTorch: an infinite weight gives infinities here, and NaN above.
  const Scratch<A> center = p.along(cast<A>(mean)), offsets = p.along(cast<A>(offset));
  const A *pm = center.data(), *ps = offsets.data();
  f([=](auto at, V v, V) { return (v - at(pm)) * at(pa) + at(ps); });
}
// ReLU of what will be stored as T.
template <class T, class A> Vec<A> relu_of(Vec<A> y) { return where(y < Vec<A>(A(-kStoredAsZero<T>)), Vec<A>(A(0)), y); }

inline bool all_plain(Inputs in) {
  return std::all_of(in.begin(), in.end(), [](const Tensor& t) { return !t || t.is_contiguous() || is_channels_last(t.sizes(), t.strides()); });
}

// Calls f with what channel_map takes to normalise x with these statistics and to do what follows: what is read beside x, and a function of registers.
template <class T, class A, class F>
void with_normalisation(const Tensor& x, Inputs in, const Scratch<double>& mean, const Scratch<double>& invstd, bool plain, const Then& then, F&& f) {
  const ChannelPlanes p(x);
  using V = Vec<A>;
  with_affine<T, A>(p, in, mean, invstd, plain, [&](auto affine) {
    if (!then.relu) return f(nullptr, affine);
    if (then.other.empty() || !then.other[0]) return f(nullptr, [=](auto at, V v, V g) { return relu_of<T, A>(affine(at, v, g)); });
    const Tensor& given = then.other[0];
    const Tensor other = dense_as(given, x.strides());
    auto add = [&](auto term) {
      f(other.data<T>(), [=](auto at, V v, V g) { return relu_of<T, A>(stored_as<T>(affine(at, v, g)) + term(at, g)); });
    };
    if (!then.other[1]) return add([](auto, V g) { return g; });
    const Tensor parts[] = {given, then.other[3], then.other[4]};
    with_affine<T, A>(p, parts, numbers(then.other[1], p.channels, 0), numbers(then.other[2], p.channels, 1), all_plain(parts),
                      [&](auto second) { add([=](auto at, V g) { return stored_as<T>(second(at, g, g)); }); });
  });
}
// x and out are dense, in one order.
template <class T, class A, class After = Nothing>
void normalise(const Tensor& x, Inputs in, const Scratch<double>& mean, const Scratch<double>& invstd, bool plain, const Then& then, const Tensor& out, After&& after = {}) {
  with_normalisation<T, A>(x, in, mean, invstd, plain, then, [&](const T* beside, auto f) { channel_map<T, A>(ChannelPlanes(x), x.data<T>(), beside, out.data<T>(), f, after); });
}

// A batch's mean and variance by channel, and 1 / its deviation.
struct Statistics { Scratch<double> mean, var, invstd; };

// `beside` may make x, a block at a time, where it is channels_last.
template <class T, class A, class Beside = Itself> Statistics statistics_of(const Tensor& x, double eps, Beside beside = {}) {
  const ChannelPlanes p(x);
  const int64_t C = p.channels;
  const double n = double(p.outer * p.inner);
  Statistics r;
  // Shifted by the mean of each channel's first values, so that one pass loses nothing to cancellation. Sums wider than the values bear an outlier.
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, A>;  // save_mean shows every bit of float32
  constexpr int64_t kFirst = std::is_same_v<T, float> ? 1 : 16;
  const int64_t along = p.inner > 1 ? p.inner : p.outer, firsts = std::clamp<int64_t>(int64_t(n) / 8, 1, std::min(kFirst, along));
  Scratch<Sum> shift(C);
  const T* const start = beside.block(x.data<T>(), 0, p.inner > 1 ? 0 : firsts * C);
  for (int64_t c = 0; c < C; c++) {
    const T* of = start + c * p.inner;
    Sum first = 0;
    for (int64_t i = 0; i < firsts; i++) first += Sum(A(of[p.inner > 1 ? i : i * C]));
    first /= Sum(firsts);
    shift[c] = std::isfinite(first) ? first : Sum(0);
  }
  channel_sums<T, Sum>(p, shift, x.data<T>(), beside, r.mean, r.var, [](auto k, auto v, auto, auto& s, auto& t) {
    auto d = v - k;
    s = s + d, t = t + d * d;
  });
  r.invstd.resize(C);
  for (int64_t c = 0; c < C; c++) {
    const double m = r.mean[c] / n, v = r.var[c] / n - m * m;
    r.var[c] = v < 0 ? 0 : v;  // NaN stays
    r.mean[c] = double(shift[c]) + m;
    r.invstd[c] = inverse_deviation(r.var[c], eps);
  }
  return r;
}

// Writes the statistics of x, and moves the running mean and variance towards them.
inline void keep(const Statistics& s, const Tensor& x, double momentum, Inputs running, Outputs out) {
  write(out[0], s.mean), write(out[1], s.invstd);
  const double n = double(x.numel() / x.sizes()[1]);
  auto move = [&](const Tensor& t, const Scratch<double>& to, double factor) {
    if (!t) return;
    Scratch<double> old = numbers(t, int64_t(to.size()), 0);
    for (size_t c = 0; c < old.size(); c++) old[c] = (1 - momentum) * old[c] + momentum * to[c] * factor;
    convert(DType::float64, old.data(), 1, t.dtype(), t.raw(), t.strides()[0], int64_t(old.size()));  // PyTorch does not count this write
  };
  move(running[0], s.mean, 1), move(running[1], s.var, n / (n - 1));
}

// Of no numbers zeros are saved, and the running statistics stay.
inline void save_nothing(Outputs statistics) {
  for (const Tensor& t : statistics) write(t, Scratch<double>(size_t(t.numel()), 0));
}

template <class Op> void batch_norm_then(const Op& op, Inputs in, Then then, Outputs out) {
  if (in[0].numel() == 0) return save_nothing(out.subspan(1));
  Tensor x = dense_as(in[0], out[0].strides());
  const int64_t C = x.sizes()[1];
  Statistics s;
  by_float(x.dtype(), [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    if (op.training) s = statistics_of<T, A>(x, op.eps);
    else s.mean = numbers(in[3], C, 0), s.var = numbers(in[4], C, 1), s.invstd = inverse_deviation(s.var, op.eps);
    normalise<T, A>(x, in, s.mean, s.invstd, all_plain(in), then, out[0]);
  });
  if (op.training) keep(s, x, op.momentum, in.subspan(3), out.subspan(1));
}

inline void batch_norm(const BatchNormForward& op, Inputs in, Outputs out) { batch_norm_then(op, in, {}, out); }
inline void batch_norm_relu(const BatchNormRelu& op, Inputs in, Outputs out) { batch_norm_then(op, in.first(5), {true, in.subspan(5)}, out); }

inline void batch_norm_statistics(const BatchNormStatistics& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return save_nothing(out);
  const Tensor x = in_layout(in[0], only_channels_last(in[0]));
  by_float(x.dtype(), [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    keep(statistics_of<T, A>(x, op.eps), x, op.momentum, in.subspan(1), out);
  });
}

inline void batch_norm_apply(const BatchNormApply& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return;
  const int64_t C = in[0].sizes()[1];
  Tensor x = dense_as(in[0], out[0].strides());
  by_float(x.dtype(), [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    normalise<T, A>(x, in, numbers(in[3], C, 0), numbers(in[4], C, 1), all_plain(in.first(3)), {op.relu, in.subspan(5)}, out[0]);
  });
}

// Which gradients of what comes out of batch norm pass what follows it, given x: all; or those of a ReLU, 0 where its result is. The result is not read but
// made from x again, as `normalise` does of plain inputs, so that nothing but a NaN and what is stored as more than 0 lets the gradient pass.
struct All {
  template <class At, class V> V operator()(At at, V x, V g) const { return g; }
};
template <class T, class A> struct WherePositive {
  const A *scale, *shift;  // along the planes
  template <class At> Vec<A> operator()(At at, Vec<A> x, Vec<A> g) const {
    return where(lanes::fma(x, at(scale), at(shift)) <= Vec<A>(A(kStoredAsZero<T>)), Vec<A>(A(0)), g);
  }
  A operator()(int64_t j, A x, A g) const { return rounded_once(x, scale[j], shift[j]) <= A(kStoredAsZero<T>) ? A(0) : g; }
};

// Gradients that lie in memory, or are made there, and pass `which`: summed as channel_sums asks for it.
template <class A, class Source, class Which> struct Passed : Source {
  Which which;
  const A* tile(int64_t at, int64_t c, const A* x, int64_t n, A* buffer) const {
    const A* g = Source::tile(at, c, x, n, buffer);
    if constexpr (std::is_same_v<Which, All>) return g;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) buffer[i] = which(c, x[i], g[i]);
    return buffer;
  }
  Vec<A> lanes(int64_t at, int64_t j, Vec<A> x) const { return which(BesideEachOther{j, Vec<A>::size}, x, Source::lanes(at, j, x)); }
  A single(int64_t at, int64_t j, A x) const { return which(j, x, Source::single(at, j, x)); }
};

// Gradients that `maker(at, count, to)` makes, a few at a time, as they are summed, and that then lie in memory at `to`. It may have a `block`, too.
template <class T, class Maker> struct Made {
  Maker maker;
  T* to;
  bool past_caches;
  Scratch<T> buffer;
  const T* made = nullptr;  // from `begin` on
  int64_t begin = 0;
  const T* block(const T* x, int64_t at, int64_t count) {
    if constexpr (requires { maker.block(at, count); }) maker.block(at, count);
    return x + at;
  }
  void make(int64_t at, int64_t count) {
    if (past_caches && int64_t(buffer.size()) < count) buffer = Scratch<T>(size_t(count));
    T* out = past_caches ? buffer.data() : to + at;
    made = out, begin = at;
    maker(at, count, out);
    if (past_caches) stream(out, to + at, size_t(count) * sizeof(T));
  }
  void end() const { if (past_caches) streamed(); }
  void fetch(int64_t at) const {}
  template <class A> const A* tile(int64_t at, int64_t c, const A* x, int64_t n, A* buffer) const { return widen<T, A>(&made[at - begin], buffer, n); }
  template <class A> Vec<A> lanes(int64_t at, int64_t j, Vec<A> x) const { return vector_of<A>(&made[at - begin]); }
  template <class A> A single(int64_t at, int64_t j, A x) const { return A(made[at - begin]); }
};

// Where gradients come from: memory, where dy is.
struct Stored {
  template <class T, class A> InMemory<T> of(const Tensor& dy) const { return {dy.data<T>()}; }
};
// A maker makes them, and dy is where they then lie. `M::Of<T, A>` is the maker of numbers of a type.
template <class M> struct MadeBy {
  M how;
  template <class T, class A> auto of(const Tensor& dy) const {
    using Maker = typename M::template Of<T, A>;
    return Made<T, Maker>{Maker(how), dy.data<T>(), dy.numel() * int64_t(sizeof(T)) >= kStreamed, {}};
  }
};

// The sum of two gradients where the result `y` of a ReLU is not 0, or where bits of it say so (positive_bits.h), in the order of its memory. In pictures
// that lie channels last the second may have every `rows`-th row's every `columns`-th place only, and a `product` may make the first, a block at a time.
struct SumThroughRelu {
  Tensor first, second, y, bits;
  Dims sizes;
  int64_t rows = 1, columns = 1;
  const LineProducts* product = nullptr;
  template <class T, class A> class Of {
   public:
    explicit Of(const SumThroughRelu& s)
        : s_(s), first_(s.product ? nullptr : s.first.data<T>()), second_(s.second.data<T>()), y_(s.bits ? nullptr : s.y.data<T>()),
          bits_(s.bits ? s.bits.data<uint8_t>() : nullptr), channels_(s.second.sizes()[1]) {}
    void block(int64_t at, int64_t count) {
      if constexpr (std::is_same_v<T, BFloat16>) {
        if (!s_.product) return;
        if (int64_t(made_.size()) < count) made_ = Scratch<T>(size_t(count));
        const Tiles tiles;
        s_.product->multiply(at / channels_, count / channels_, 0, s_.product->panels(), made_.data());
        made_from_ = at;
      }
    }
    void operator()(int64_t at, int64_t count, T* out) const {
      if (s_.rows * s_.columns == 1) return sum(at, second_ + at, count, out);
      const int64_t C = channels_;
      for_places(at / C, count / C, s_.sizes[2], s_.sizes[3], [&](int64_t image, int64_t y, int64_t x) {
        const bool there = y % s_.rows == 0 && x % s_.columns == 0;
        const int64_t line = there ? image * s_.second.sizes()[2] + y / s_.rows : 0;
        sum(at, there ? second_ + (line * s_.second.sizes()[3] + x / s_.columns) * C : nullptr, C, out);
        at += C, out += C;
      });
    }

   private:
    // Of `count` numbers from number `at` on, and those at `s`; null: zeros.
    void sum(int64_t at, const T* s, int64_t count, T* out) const {
      auto of = [&](auto has_s) { return bits_ ? sum(at, s, count, out, has_s, std::true_type()) : sum(at, s, count, out, has_s, std::false_type()); };
      return s ? of(std::true_type()) : of(std::false_type());
    }
    template <class HasS, class HasBits> void sum(int64_t at, const T* s, int64_t count, T* out, HasS has_s, HasBits has_bits) const {
      constexpr int64_t w = Vec<A>::size, line = 64 / sizeof(T);
      const T *f = first_ ? first_ + at : &made_[size_t(at - made_from_)], *r = has_bits ? nullptr : y_ + at;
      auto value = [&](int64_t i) {
        const Vec<A> sum = vector_of<A>(f + i) + (has_s ? vector_of<A>(s + i) : Vec<A>(A(0)));
        return has_bits ? where_set(bits_, at + i, sum) : where(vector_of<A>(r + i) <= Vec<A>(A(0)), Vec<A>(A(0)), sum);
      };
      int64_t i = 0;
      for (; i + 2 * w <= count; i += 2 * w) {
        for (int64_t k = i + kAhead; k < i + kAhead + 2 * w; k += line) {
          __builtin_prefetch(f + k);
          if (!has_bits) __builtin_prefetch(r + k);
          if (has_s) __builtin_prefetch(s + k);
        }
        narrow_pair(value(i), value(i + w), out + i);
      }
      for (; i < count; i++) {
        const bool passes = has_bits ? bit_at(bits_, at + i) : lets_through(r[i]);
        out[i] = passes ? T(A(f[i]) + (has_s ? A(s[i]) : A(0))) : T(0);
      }
    }
    static constexpr int64_t kAhead = 4 * kLine;  // numbers, as many as are summed at once
    const SumThroughRelu& s_;
    const T *first_, *second_, *y_;
    const uint8_t* bits_;
    int64_t channels_;
    Scratch<T> made_;  // where there is a product, numbers of the first from `made_from_` on
    int64_t made_from_ = 0;
  };
};

// The gradient of batch norm's input is a * dy + b * x + k, with numbers of each channel.
struct Coefficients {
  Scratch<double> a, b, k;
  explicit Coefficients(int64_t channels) : a(size_t(channels)), b(size_t(channels)), k(size_t(channels)) {}
  explicit Coefficients(const Tensor& t) : Coefficients(t.sizes()[1]) { each([&](Scratch<double>& v, int64_t i) { std::copy_n(t.data<double>() + i * t.sizes()[1], v.size(), v.data()); }); }
  void write_to(const Tensor& t) { each([&](Scratch<double>& v, int64_t i) { std::copy(v.begin(), v.end(), t.data<double>() + i * t.sizes()[1]); }); }

 private:
  template <class F> void each(F&& f) { f(a, 0), f(b, 1), f(k, 2); }
};
// Calls f with how the gradient of the input is made of registers of it and of dy, where `which` lets dy pass: see channel_map.
template <class T, class A, class Which, class F> void with_input_gradient(const ChannelPlanes& p, const Coefficients& c, Which which, F&& f) {
  const Scratch<A> a = p.along(cast<A>(c.a)), b = p.along(cast<A>(c.b)), k = p.along(cast<A>(c.k));
  const A *pa = a.data(), *pb = b.data(), *pk = k.data();
  f([=](auto at, Vec<A> v, Vec<A> g) { return at(pa) * which(at, v, g) + (at(pb) * v + at(pk)); });
}

// batch_norm_backward's inputs and, if `relu`, the bias behind them: then dy is that of the ReLU behind batch norm, in training. `source` says whether dy
// is still to be made. With `coefficients` they are written, in the place of the gradient of the input.
template <class Source = Stored>
void gradient(Inputs in, bool training, double eps, bool relu, Outputs out, const Source& source = {}, const Tensor* coefficients = nullptr) {
  Tensor dx = out[0];
  if (dx.numel() == 0) {
    if (coefficients) Coefficients(coefficients->sizes()[1]).write_to(*coefficients);
    return write(out[1], Scratch<double>(out[1].numel(), 0)), write(out[2], Scratch<double>(out[2].numel(), 0));
  }
  Tensor x = dense_as(in[1], dx.strides());
  Tensor dy = dense_as(in[0], dx.strides());
  ChannelPlanes p(dx);
  const int64_t C = p.channels;
  double n = double(p.outer * p.inner);
  Scratch<double> mean = numbers(in[2], C, 0), invstd = numbers(in[3], C, 1), w = numbers(in[4], C, 1), sum_dy, dot;
  if (dy.dtype() != x.dtype()) {
    Tensor c = empty(Meta(dy.sizes(), dy.strides(), x.dtype(), {}));
    run_copy(dy, c);
    dy = c;
  }
  const bool few = p.outer * p.inner <= kShortRow;
  const Tensor parts[] = {in[1], in[4], relu ? in[5] : Tensor()};
  if (relu && (few || !all_plain(parts))) {  // batch norm computes otherwise than WherePositive
    Tensor y = empty(dx.meta());
    by_float(x.dtype(), [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
      if constexpr (!std::is_same_v<Source, Stored>) source.template of<T, A>(dy).maker(0, dy.numel(), dy.data<T>());
      normalise<T, A>(x, parts, mean, invstd, all_plain(parts), {true, {}}, y);
      channel_map<T, A>(p, y.data<T>(), dy.data<T>(), y.data<T>(), [](auto, Vec<A> v, Vec<A> g) { return where(v <= Vec<A>(A(0)), Vec<A>(A(0)), g); });
    });
    const Tensor masked[] = {y, in[1], in[2], in[3], in[4]};
    return gradient(masked, training, eps, false, out);
  }
  by_count(x.dtype(), p.outer * p.inner, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    const auto [forward_scale, forward_shift] = scale_and_shift<A>(mean, invstd, w, numbers(parts[2], C, 0));
    if (training && few) {  // what was saved has float32's digits
      Scratch<double> variance, ignored, zero(C, 0);
      channel_sums<T, double>(p, zero, x.data<T>(), Itself(), mean, ignored, [](auto, auto v, auto, auto& s, auto&) { s = s + v; });
      for (double& m : mean) m /= n;
      channel_sums<T, double>(p, mean, x.data<T>(), Itself(), variance, ignored, [](auto k, auto v, auto, auto& s, auto&) { s = s + (v - k) * (v - k); });
      for (int64_t c = 0; c < C; c++) invstd[c] = inverse_deviation(variance[c] / n, eps);
    }
    const Scratch<A> m = cast<A>(mean), along_scale = p.along(forward_scale), along_shift = p.along(forward_shift);
    auto run = [&](auto which) {
      using Which = decltype(which);
      const auto from = source.template of<T, A>(dy);
      channel_sums<T, A>(p, m, x.data<T>(), Passed<A, std::remove_const_t<decltype(from)>, Which>{from, which}, sum_dy, dot, [](auto k, auto v, auto g, auto& s, auto& t) {
        s = s + g, t = t + g * (v - k);
      });
      Scratch<double> dw(C);
      Coefficients with(C);
      for (int64_t c = 0; c < C; c++) {
        dw[c] = dot[c] * invstd[c];
        const double scale = w[c] * invstd[c], slope = training ? -scale * invstd[c] * invstd[c] * dot[c] / n : 0;
        with.a[c] = scale, with.b[c] = slope, with.k[c] = training ? -scale * sum_dy[c] / n - slope * mean[c] : 0;
      }
      if (coefficients) {
        with.write_to(*coefficients);
      } else if (training) {
        with_input_gradient<T, A>(p, with, which, [&](auto f) { channel_map<T, A>(p, x.data<T>(), dy.data<T>(), dx.data<T>(), f); });
      } else {
        const Scratch<A> a = p.along(cast<A>(with.a));
        channel_map<T, A>(p, dy.data<T>(), nullptr, dx.data<T>(), [pa = a.data()](auto at, Vec<A> g, Vec<A>) { return at(pa) * g; });
      }
      write(out[1], dw), write(out[2], sum_dy);
    };
    if (relu) run(WherePositive<T, A>{along_scale.data(), along_shift.data()});
    else run(All());
  });
}

inline void batch_norm_backward(const BatchNormBackward& op, Inputs in, Outputs out) { gradient(in, op.training, op.eps, false, out); }
inline void batch_norm_relu_backward(const BatchNormReluBackward& op, Inputs in, Outputs out) { gradient(in, true, op.eps, true, out); }
// Batch norm's gradients of a sum that comes through ReLU. in: the sum's first part, unless a product makes it, and its second one, which may have gaps of
// `step`; the ReLU's result, or bits of it in the order of `made`; and what batch_norm_backward takes behind dy. The sum goes to `made`, and to `out` what
// `gradient` gives.
inline void sum_relu_backward(Inputs in, bool training, double eps, const Dims& step, const Tensor& made, Outputs out, const LineProducts* product = nullptr,
                              const Tensor* coefficients = nullptr) {
  if (made.numel() == 0) return gradient(in.subspan(2), training, eps, false, out, Stored(), coefficients);
  auto dense = [&](const Tensor& t) { return dense_as(t, made.strides()); };
  const bool has_bits = in[2].dtype() == DType::uint8;
  SumThroughRelu sum{product ? Tensor() : dense(in[0]), in[1], has_bits ? Tensor() : dense(in[2]), has_bits ? row_major(in[2]) : Tensor(), made.sizes()};
  sum.product = product;
  const bool stepped = step.n && step.product() > 1;
  if (!stepped) {
    sum.second = dense(in[1]);
  } else if (step.n == 2 && only_channels_last(made)) {
    sum.second = in_layout(in[1], true), sum.rows = step[0], sum.columns = step[1];
  } else {
    sum.second = empty(made.meta());
    std::memset(sum.second.raw(), 0, size_t(sum.second.numel()) * size_of(sum.second.dtype()));
    Dims strides = made.strides();
    for (int i = 0; i < step.n; i++) strides[i + 2] *= step[i];
    run_copy(in[1], alias(sum.second, in[1].sizes(), strides, sum.second->offset));
  }
  const Tensor parts[] = {made, in[3], in[4], in[5], in[6]};
  gradient(parts, training, eps, false, out, MadeBy<SumThroughRelu>{std::move(sum)}, coefficients);
}
inline void batch_norm_sum_relu_backward(const BatchNormSumReluBackward& op, Inputs in, Outputs out) { sum_relu_backward(in, op.training, op.eps, op.step, out[0], out.subspan(1)); }

}  // namespace WEIR_ISA
}  // namespace weir
