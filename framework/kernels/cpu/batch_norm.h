// Batch norm: channels of pictures, whatever the order of their memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/affine.h"
#include "framework/kernels/cpu/channel_planes.h"
#include "framework/kernels/cpu/layouts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/norm_rows.h"

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

// Normalises x with these statistics and does what follows.
template <class T, class A>
void normalise(const Tensor& x, Inputs in, const Scratch<double>& mean, const Scratch<double>& invstd, bool plain, const Then& then, const Tensor& out) {
  const ChannelPlanes p(x);
  using V = Vec<A>;
  T* const to = out.data<T>();
  with_affine<T, A>(p, in, mean, invstd, plain, [&](auto affine) {
    if (!then.relu) return channel_map<T, A>(p, x.data<T>(), nullptr, to, affine);
    if (then.other.empty() || !then.other[0]) return channel_map<T, A>(p, x.data<T>(), nullptr, to, [=](auto at, V v, V g) { return relu_of<T, A>(affine(at, v, g)); });
    const Tensor& given = then.other[0];
    const Tensor other = dense_as(given, out.strides());
    auto add = [&](auto term) {
      channel_map<T, A>(p, x.data<T>(), other.data<T>(), to, [=](auto at, V v, V g) { return relu_of<T, A>(stored_as<T>(affine(at, v, g)) + term(at, g)); });
    };
    if (!then.other[1]) return add([](auto, V g) { return g; });
    const Tensor parts[] = {given, then.other[3], then.other[4]};
    with_affine<T, A>(p, parts, numbers(then.other[1], p.channels, 0), numbers(then.other[2], p.channels, 1), all_plain(parts),
                      [&](auto second) { add([=](auto at, V g) { return stored_as<T>(second(at, g, g)); }); });
  });
}

// A batch's mean and variance by channel, and 1 / its deviation.
struct Statistics { Scratch<double> mean, var, invstd; };

template <class T, class A> Statistics statistics_of(const Tensor& x, double eps) {
  const ChannelPlanes p(x);
  const int64_t C = p.channels;
  const double n = double(p.outer * p.inner);
  Statistics r;
  // Shifted by the mean of each channel's first values, so that one pass loses nothing to cancellation. Sums wider than the values bear an outlier.
  using Sum = std::conditional_t<std::is_same_v<T, float>, double, A>;  // save_mean shows every bit of float32
  constexpr int64_t kFirst = std::is_same_v<T, float> ? 1 : 16;
  const int64_t along = p.inner > 1 ? p.inner : p.outer, firsts = std::clamp<int64_t>(int64_t(n) / 8, 1, std::min(kFirst, along));
  Scratch<Sum> shift(C);
  for (int64_t c = 0; c < C; c++) {
    const T* of = x.data<T>() + c * p.inner;
    Sum first = 0;
    for (int64_t i = 0; i < firsts; i++) first += Sum(A(of[p.inner > 1 ? i : i * C]));
    first /= Sum(firsts);
    shift[c] = std::isfinite(first) ? first : Sum(0);
  }
  channel_sums<T, Sum>(p, shift, x.data<T>(), Itself(), r.mean, r.var, [](auto k, auto v, auto, auto& s, auto& t) {
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

template <class Op> void batch_norm_then(const Op& op, Inputs in, Then then, Outputs out) {
  if (in[0].numel() == 0) return;
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
  if (in[0].numel() == 0) return;
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

// Gradients that `maker(at, count, to)` makes, a few at a time, as they are summed, and that then lie in memory at `to`.
template <class T, class Maker> struct Made {
  Maker maker;
  T* to;
  bool past_caches;
  Scratch<T> buffer;
  const T* made = nullptr;  // from `begin` on
  int64_t begin = 0;
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

// The sum of two gradients where the result `y` of a ReLU is not 0. In pictures that lie channels last the second may have every `rows`-th row's every
// `columns`-th place only.
struct SumThroughRelu {
  Tensor first, second, y;
  int64_t rows = 1, columns = 1;
  template <class T, class A> class Of {
   public:
    explicit Of(const SumThroughRelu& s) : s_(s), first_(s.first.data<T>()), second_(s.second.data<T>()), y_(s.y.data<T>()) {}
    void operator()(int64_t at, int64_t count, T* out) const {
      if (s_.rows * s_.columns == 1) return sum(at, second_ + at, count, out);
      const int64_t C = s_.y.sizes()[1];
      for_places(at / C, count / C, s_.y.sizes()[2], s_.y.sizes()[3], [&](int64_t image, int64_t y, int64_t x) {
        const bool there = y % s_.rows == 0 && x % s_.columns == 0;
        const int64_t line = there ? image * s_.second.sizes()[2] + y / s_.rows : 0;
        sum(at, there ? second_ + (line * s_.second.sizes()[3] + x / s_.columns) * C : nullptr, C, out);
        at += C, out += C;
      });
    }

   private:
    // Of `count` numbers from number `at` on, and those at `s`; null: zeros.
    void sum(int64_t at, const T* s, int64_t count, T* out) const {
      constexpr int64_t w = Vec<A>::size, line = 64 / sizeof(T);
      const T *f = first_ + at, *r = y_ + at;
      auto add = [&](auto has_s) {
        auto value = [&](int64_t i) {
          const Vec<A> other = has_s ? vector_of<A>(s + i) : Vec<A>(A(0));
          return where(vector_of<A>(r + i) <= Vec<A>(A(0)), Vec<A>(A(0)), vector_of<A>(f + i) + other);
        };
        int64_t i = 0;
        for (; i + 2 * w <= count; i += 2 * w) {
          for (int64_t k = i + kAhead; k < i + kAhead + 2 * w; k += line) {
            __builtin_prefetch(f + k), __builtin_prefetch(r + k);
            if (has_s) __builtin_prefetch(s + k);
          }
          narrow_pair(value(i), value(i + w), out + i);
        }
        for (; i < count; i++) out[i] = A(r[i]) <= A(0) ? T(0) : T(A(f[i]) + (has_s ? A(s[i]) : A(0)));
      };
      if (s) add(std::true_type());
      else add(std::false_type());
    }
    static constexpr int64_t kAhead = 4 * kLine;  // numbers, as many as are summed at once
    const SumThroughRelu& s_;
    const T *first_, *second_, *y_;
  };
};

// batch_norm_backward's inputs and, if `relu`, the bias behind them: then dy is that of the ReLU behind batch norm, in training. `source` says whether dy
// is still to be made.
template <class Source = Stored> void gradient(Inputs in, bool training, double eps, bool relu, Outputs out, const Source& source = {}) {
  Tensor dx = out[0];
  if (dx.numel() == 0) return write(out[1], Scratch<double>(out[1].numel(), 0)), write(out[2], Scratch<double>(out[2].numel(), 0));
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
      Scratch<A> a(C), b(C), k(C);  // dx = a * dy + b * x + k
      for (int64_t c = 0; c < C; c++) {
        dw[c] = dot[c] * invstd[c];
        double scale = w[c] * invstd[c];
        double slope = training ? -scale * invstd[c] * invstd[c] * dot[c] / n : 0;
        a[c] = A(scale), b[c] = A(slope), k[c] = A(training ? -scale * sum_dy[c] / n - slope * mean[c] : 0);
      }
      a = p.along(a), b = p.along(b), k = p.along(k);
      const A *pa = a.data(), *pb = b.data(), *pk = k.data();
      using V = Vec<A>;
      if (training) channel_map<T, A>(p, x.data<T>(), dy.data<T>(), dx.data<T>(), [=](auto at, V v, V g) { return at(pa) * which(at, v, g) + (at(pb) * v + at(pk)); });
      else channel_map<T, A>(p, dy.data<T>(), nullptr, dx.data<T>(), [=](auto at, V g, V) { return at(pa) * g; });
      write(out[1], dw), write(out[2], sum_dy);
    };
    if (relu) run(WherePositive<T, A>{along_scale.data(), along_shift.data()});
    else run(All());
  });
}

inline void batch_norm_backward(const BatchNormBackward& op, Inputs in, Outputs out) { gradient(in, op.training, op.eps, false, out); }
inline void batch_norm_relu_backward(const BatchNormReluBackward& op, Inputs in, Outputs out) { gradient(in, true, op.eps, true, out); }
inline void batch_norm_sum_relu_backward(const BatchNormSumReluBackward& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return write(out[2], Scratch<double>(out[2].numel(), 0)), write(out[3], Scratch<double>(out[3].numel(), 0));
  auto dense = [&](const Tensor& t) { return dense_as(t, out[0].strides()); };
  SumThroughRelu sum{dense(in[0]), in[1], dense(in[2])};
  const bool stepped = op.step.n && op.step.product() > 1;
  if (!stepped) {
    sum.second = dense(in[1]);
  } else if (op.step.n == 2 && only_channels_last(out[0])) {
    sum.second = in_layout(in[1], true), sum.rows = op.step[0], sum.columns = op.step[1];
  } else {
    sum.second = empty(out[0].meta());
    std::memset(sum.second.raw(), 0, size_t(sum.second.numel()) * size_of(sum.second.dtype()));
    Dims strides = out[0].strides();
    for (int i = 0; i < op.step.n; i++) strides[i + 2] *= op.step[i];
    run_copy(in[1], alias(sum.second, in[1].sizes(), strides, sum.second->offset));
  }
  const Tensor parts[] = {out[0], in[3], in[4], in[5], in[6]};
  gradient(parts, op.training, op.eps, false, out.subspan(1), MadeBy<SumThroughRelu>{std::move(sum)});
}

}  // namespace WEIR_ISA
}  // namespace weir
