// Stockham's transform by steps of radix 4: every step reads its four quarters straight on and writes its results in order, so that no
// reversal of bits is left to do. Real and imaginary parts lie apart between the steps. Columns are transformed a register wide at a time,
// by the same steps. Source: Van Loan, Computational Frameworks for the Fast Fourier Transform (1992), 1.7.
#include "framework/kernels/cpu/fft_power.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/kernels/cpu/transpose.h"
#include "framework/kernels/cpu/vec_complex.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int kMostBits = 15;  // two buffers of more than that many numbers leave the second cache
constexpr int64_t kMostRows = 1024;
constexpr int64_t kMostAbreast = 256;  // a register of each keeps to the first cache

template <class R> using Complex = Vec<std::complex<R>>;
template <class R> constexpr int64_t kLanes = Vec<R>::size;
template <class R> constexpr std::make_index_sequence<Vec<R>::size> all_lanes;

/// Factors of the steps of lines of 2^bits numbers. Where a step's stride is less than a register they are laid out by registers, six to
/// each (w, w^2, w^3), otherwise by single numbers.
template <class R> struct Plan {
  std::vector<std::vector<R>> steps;
  std::vector<R> halves_re, halves_im;  // -i / 2 e^(-2 pi i k / 2n): what parts two real lines transformed as one complex line

  Plan(int bits, bool columns) {
    int64_t n = int64_t(1) << bits, stride = columns ? kLanes<R> : 1;
    for (; n >= 4; n /= 4, stride *= 4) steps.push_back(n == 4 ? std::vector<R>{} : factors(n, stride));
    n = int64_t(1) << bits;
    for (int64_t k = 0; k < n; k++) {
      const auto w = root(k, 2 * n);
      halves_re.push_back(R(w.imag() / 2)), halves_im.push_back(R(-w.real() / 2));
    }
  }
  static std::complex<long double> root(int64_t k, int64_t n) {
    return std::polar(1.0L, -2 * std::numbers::pi_v<long double> * k / n);
  }
  static std::vector<R> factors(int64_t n, int64_t stride) {
    const int64_t each = stride < kLanes<R> ? kLanes<R> : 1, repeated = each == 1 ? 1 : stride;
    std::vector<R> w(n / 4 * repeated * 6);
    for (int64_t j = 0; j < n / 4 * repeated; j++)
      for (int power = 1; power <= 3; power++) {
        const auto r = root(power * (j / repeated), n);
        R* at = &w[j / each * each * 6 + j % each + (power - 1) * 2 * each];
        at[0] = R(r.real()), at[each] = R(r.imag());
      }
    return w;
  }
};

template <class R> const Plan<R>& plan_of(int64_t n, bool columns) {
  static std::once_flag made[2][kMostBits + 1];
  static std::atomic<const Plan<R>*> plans[2][kMostBits + 1];
  const int bits = std::countr_zero(uint64_t(n));
  std::atomic<const Plan<R>*>& plan = plans[columns][bits];
  if (const Plan<R>* known = plan.load(std::memory_order_acquire)) return *known;
  std::call_once(made[columns][bits], [&] { plan.store(new Plan<R>(bits, columns), std::memory_order_release); });
  return *plan.load(std::memory_order_acquire);
}

/// Where a step reads or writes: registers of complex numbers by the number of their first one.
template <class R> struct Apart {
  R *re, *im;
  Complex<R> load(int64_t j) const { return {Vec<R>::load(re + j), Vec<R>::load(im + j)}; }
  void store(int64_t j, Complex<R> x) const { x.re.store(re + j), x.im.store(im + j); }
};
/// Backwards is forwards with real and imaginary parts exchanged at both ends.
template <class R> Complex<R> turned(Complex<R> x, bool turn) { return turn ? Complex<R>{x.im, x.re} : x; }
template <class R> struct Line {
  std::complex<R>* p;
  bool turn;
  Vec<R> scale = Vec<R>(R(1));
  Complex<R> load(int64_t j) const { return turned(Complex<R>::load_in_order(p + j), turn); }
  void store(int64_t j, Complex<R> x) const { turned<R>({x.re * scale, x.im * scale}, turn).store_in_order(p + j); }
};
template <class R> struct Columns {
  std::complex<R>* p;
  int64_t stride, count;
  bool turn;
  Vec<R> scale = Vec<R>(R(1));
  Complex<R> load(int64_t j) const {
    std::complex<R>* at = p + j / kLanes<R> * stride;
    if (count == kLanes<R>) return turned(Complex<R>::load_in_order(at), turn);
    std::complex<R> pad[kLanes<R>] = {};
    std::copy_n(at, count, pad);
    return turned(Complex<R>::load_in_order(pad), turn);
  }
  void store(int64_t j, Complex<R> x) const {
    std::complex<R>*at = p + j / kLanes<R> * stride, pad[kLanes<R>];
    const Complex<R> y = turned<R>({x.re * scale, x.im * scale}, turn);
    if (count == kLanes<R>) return y.store_in_order(at);
    y.store_in_order(pad);
    std::copy_n(pad, count, at);
  }
};

/// Lines side by side, a number of each in the lanes of a register: registers of real and of imaginary parts by turns.
template <class R> struct Abreast {
  R *re, *im;
  Vec<R> scale = Vec<R>(R(1));
  explicit Abreast(R* p, bool turn = false, R by = 1) : re(p + turn * kLanes<R>), im(p + !turn * kLanes<R>), scale(by) {}
  Complex<R> load(int64_t j) const { return {Vec<R>::load(re + 2 * j), Vec<R>::load(im + 2 * j)}; }
  void store(int64_t j, Complex<R> x) const { (x.re * scale).store(re + 2 * j), (x.im * scale).store(im + 2 * j); }
};

template <int kBlock, class R> struct Zip {
  /// Blocks of both by turns: the first half of them all, and the second.
  template <size_t... I> static std::pair<Vec<R>, Vec<R>> of(Vec<R> a, Vec<R> b, std::index_sequence<I...>) {
    using M = typename Mask<R>::V;
    using U = typename LaneInt<sizeof(R)>::type;
    constexpr int n = Vec<R>::size;
    return {Vec<R>(__builtin_shuffle(a.v, b.v, M{U(I / kBlock % 2 * n + I / kBlock / 2 * kBlock + I % kBlock)...})),
            Vec<R>(__builtin_shuffle(a.v, b.v, M{U(I / kBlock % 2 * n + n / 2 + I / kBlock / 2 * kBlock + I % kBlock)...}))};
  }
  /// Blocks of four registers by turns.
  static void four(Vec<R>& a, Vec<R>& b, Vec<R>& c, Vec<R>& d) {
    constexpr auto lanes = std::make_index_sequence<Vec<R>::size>{};
    const auto [t0, t1] = of(a, c, lanes);
    const auto [u0, u1] = of(b, d, lanes);
    std::tie(a, b) = of(t0, u0, lanes);
    std::tie(c, d) = of(t1, u1, lanes);
  }
};

template <class R> struct Four {
  Complex<R> y[4];
  template <class From> [[gnu::always_inline]] Four(const From& from, int64_t j, int64_t quarter) {
    const Complex<R> a = from.load(j), b = from.load(j + quarter), c = from.load(j + 2 * quarter), d = from.load(j + 3 * quarter);
    const Complex<R> sum = a + c, difference = a - c, other = b + d, turn = {d.im - b.im, b.re - d.re};  // i (b - d)
    y[0] = sum + other, y[1] = difference - turn, y[2] = sum - other, y[3] = difference + turn;
  }
  [[gnu::always_inline]] void times(const std::array<Complex<R>, 3>& w) {
    for (int k = 0; k < 3; k++) y[k + 1] = y[k + 1] * w[k];
  }
};

// Steps take places by value: else every store might have changed where the next one goes.
//
// Of n points at a stride less than a register: results are brought into order by shuffles.
template <int kStride, class R, class From, class To> void narrow_step(From from, To to, int64_t total, const R* w) {
  constexpr int64_t lanes = kLanes<R>;
  for (int64_t j = 0; j < total / 4; j += lanes, w += 6 * lanes) {
    Four<R> f(from, j, total / 4);
    f.times({{{Vec<R>::load(w), Vec<R>::load(w + lanes)}, {Vec<R>::load(w + 2 * lanes), Vec<R>::load(w + 3 * lanes)},
              {Vec<R>::load(w + 4 * lanes), Vec<R>::load(w + 5 * lanes)}}});
    Zip<kStride, R>::four(f.y[0].re, f.y[1].re, f.y[2].re, f.y[3].re);
    Zip<kStride, R>::four(f.y[0].im, f.y[1].im, f.y[2].im, f.y[3].im);
    for (int k = 0; k < 4; k++) to.store(4 * j + k * lanes, f.y[k]);
  }
}
template <bool kLast, class R, class From, class To> [[gnu::always_inline]] inline void wide_step(From from, To to, int64_t n, int64_t stride, const R* w) {
  for (int64_t p = 0; p < n / 4; p++, w += 6) {
    std::array<Complex<R>, 3> by;
    if (!kLast) for (int k = 0; k < 3; k++) by[k] = {Vec<R>(w[2 * k]), Vec<R>(w[2 * k + 1])};
    for (int64_t q = 0; q < stride; q += kLanes<R>) {
      Four<R> f(from, q + stride * p, n * stride / 4);
      if (!kLast) f.times(by);
      for (int k = 0; k < 4; k++) to.store(q + stride * (4 * p + k), f.y[k]);
    }
  }
}
/// Two wide steps: what the first one makes for a butterfly of the second never leaves the first cache.
template <bool kLast, class R, class From, class To>
[[gnu::always_inline]] inline void two_steps(From from, To to, int64_t n, int64_t stride, const R* first, const R* second) {
  struct Between {
    Complex<R> x[4];
    Complex<R> load(int64_t j) const { return x[j]; }
  };
  const auto factors = [](const R* w) { return std::array<Complex<R>, 3>{{{Vec<R>(w[0]), Vec<R>(w[1])}, {Vec<R>(w[2]), Vec<R>(w[3])}, {Vec<R>(w[4]), Vec<R>(w[5])}}}; };
  for (int64_t p = 0; p < n / 16; p++)
    for (int64_t q = 0; q < stride; q += kLanes<R>) {
      Between between[4];
#pragma GCC unroll 4
      for (int64_t j = 0; j < 4; j++) {
        const int64_t at = p + n / 16 * j;
        Four<R> f(from, q + stride * at, n * stride / 4);
        f.times(factors(first + 6 * at));
        for (int k = 0; k < 4; k++) between[k].x[j] = f.y[k];
      }
#pragma GCC unroll 4
      for (int64_t k = 0; k < 4; k++) {
        Four<R> f(between[k], 0, 1);
        if (!kLast) f.times(factors(second + 6 * p));
        for (int l = 0; l < 4; l++) to.store(q + stride * (k + 4 * (4 * p + l)), f.y[l]);
      }
    }
}
template <class R, class From, class To> [[gnu::always_inline]] inline void pair_step(From from, To to, int64_t stride) {
  for (int64_t q = 0; q < stride; q += kLanes<R>) {
    const Complex<R> a = from.load(q), b = from.load(q + stride);
    to.store(q, a + b), to.store(q + stride, a - b);
  }
}

template <class R, class From, class To> void step(const From& from, const To& to, int64_t n, int64_t stride, const std::vector<R>* w) {
  if (n == 2) return pair_step<R>(from, to, stride);
  if constexpr (!std::is_same_v<From, Columns<R>> && !std::is_same_v<To, Columns<R>>) {
    if (stride == 1) return narrow_step<1>(from, to, n, w->data());
    if constexpr (kLanes<R> > 4) if (stride == 4) return narrow_step<4>(from, to, n * stride, w->data());
  }
  if (n == 4) return wide_step<true, R>(from, to, n, stride, nullptr);
  wide_step<false>(from, to, n, stride, w->data());
}

/// Two times two arrays of numbers.
template <class R> Apart<R>* buffers(int64_t total) {
  static thread_local std::vector<R> memory;
  static thread_local Apart<R> parts[3];
  // Not all at the same place of their pages, where loads would wait for stores to the others.
  const int64_t each = total + 3 * 64 / int64_t(sizeof(R)) * 5;
  if (int64_t(memory.size()) < 6 * each) memory.resize(6 * each);
  for (int k = 0; k < 3; k++) parts[k] = {memory.data() + 2 * k * each, memory.data() + (2 * k + 1) * each};
  return parts;
}

template <class R, class From, class To> void transform(const From& from, const To& to, int64_t n, bool columns) {
  const Plan<R>& plan = plan_of<R>(n, columns);
  const Apart<R>* between = buffers<R>(columns ? n * kLanes<R> : n);
  const int count = int(std::countr_zero(uint64_t(n)) + 1) / 2;
  int64_t stride = columns ? kLanes<R> : 1;
  for (int i = 0; i < count; i++, n /= 4, stride *= 4) {
    const std::vector<R>* w = n >= 4 ? &plan.steps[i] : nullptr;
    const Apart<R>&a = between[(i + 1) % 2], &b = between[i % 2];
    if (count == 1) step<R>(from, to, n, stride, w);
    else if (i == 0) step<R>(from, b, n, stride, w);
    else if (i == count - 1) step<R>(a, to, n, stride, w);
    else step<R>(a, b, n, stride, w);
  }
}

template <class R> Vec<R> reversed(Vec<R> x) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return Vec<R>(__builtin_shuffle(x.v, typename Mask<R>::V{typename LaneInt<sizeof(R)>::type(Vec<R>::size - 1 - I)...}));
  }(std::make_index_sequence<Vec<R>::size>{});
}
/// The conjugates of x[n - k], x[n - k - 1], ... in a register.
template <class R, class X> Complex<R> mirrored(const X& x, int64_t at) {
  const Complex<R> y = x.load(at - kLanes<R> + 1);
  return {reversed(y.re), -reversed(y.im)};
}
/// f(k) for registers that hold all of 1 .. n - 1, the last one over what the one before it held.
template <class R, class F> void for_inner(int64_t n, F&& f) {
  for (int64_t k = 1; k < n; k += kLanes<R>) f(std::min(k, n - kLanes<R>));
}

/// The steps of n points from `from` to `to`, by way of p, where both may lie, and of q. Two at a time: 256 complex numbers abreast leave the first cache.
template <int n, int stride, class R, class From, class To> void steps_abreast(From from, To to, R* p, R* q, const std::vector<R>* w) {
  // Rows of columns lie far apart, and sixteen at once meet in the sets of the cache; where two steps fit the registers that is no loss.
  constexpr bool kTwo = n >= 16 && (n == 16 || kVecBytes == 64 || !std::is_same_v<From, Columns<R>>);
  constexpr int rest = kTwo ? n / 16 : n / 4;
  if constexpr (n == 2) pair_step<R>(from, to, stride * kLanes<R>);
  else if constexpr (n == 4) wide_step<true, R>(from, to, n, stride * kLanes<R>, nullptr);
  else if constexpr (n == 16) two_steps<true>(from, to, n, stride * kLanes<R>, w[0].data(), w[1].data());
  else {
    const Abreast<R> between(q);
    if constexpr (kTwo) two_steps<false>(from, between, n, stride * kLanes<R>, w[0].data(), w[1].data());
    else wide_step<false>(from, between, n, stride * kLanes<R>, w->data());
    steps_abreast<rest, n / rest * stride>(between, to, q, p, w + (kTwo ? 2 : 1));
  }
}
template <class F> void by_length(int64_t n, F&& f) {
  if (n == 2) return f.template operator()<2>();
  if (n == 4) return f.template operator()<4>();
  if (n == 8) return f.template operator()<8>();
  if (n == 16) return f.template operator()<16>();
  if (n == 32) return f.template operator()<32>();
  if (n == 64) return f.template operator()<64>();
  if (n == 128) return f.template operator()<128>();
  return f.template operator()<256>();
}
/// Memory for lines abreast of n numbers in all.
template <class R> R* abreast(int64_t n) {
  static thread_local std::vector<R> memory;
  if (int64_t(memory.size()) < 2 * n * kLanes<R>) memory.resize(2 * n * kLanes<R>);
  return memory.data();
}
/// f(x, y) of as many lines as there are lanes, the last of which stand for those that miss.
template <class X, class Y, class F> [[gnu::always_inline]] inline void each_abreast(const X* const* x, Y* const* y, int64_t count, int64_t lanes, F&& f) {
  for (; count >= lanes; count -= lanes, x += lanes, y += lanes) f(x, y);
  if (count == 0) return;
  std::vector<const X*> some(lanes, x[count - 1]);
  std::vector<Y*> into(lanes, y[count - 1]);
  std::copy_n(x, count, some.begin()), std::copy_n(y, count, into.begin());
  f(some.data(), into.data());
}
template <class R> R* const* parts_of(std::complex<R>* const* lines) { return reinterpret_cast<R* const*>(lines); }
/// n numbers of each line, `step` apart, into lanes.
template <class R, class X> void gather_lines(const X* const* x, int64_t step, R* p, int64_t n) {
  constexpr int64_t parts = sizeof(X) / sizeof(R);
  if (step == 1) return gather_rows(reinterpret_cast<const R* const*>(x), p, parts * n, all_lanes<R>);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < kLanes<R>; i++) {
      R number[parts];
      std::memcpy(number, x[i] + j * step, sizeof number);
      for (int64_t k = 0; k < parts; k++) p[(parts * j + k) * kLanes<R> + i] = number[k];
    }
}

bool is_power(int64_t n) { return n > 0 && std::has_single_bit(uint64_t(n)); }

}  // namespace

template <class R> bool is_power_line(int64_t n) { return is_power(n) && n >= 4 * kLanes<R> && n <= int64_t(1) << kMostBits; }
bool is_power_column(int64_t n) { return is_power(n) && n >= 2 && n <= kMostRows; }
template <class R> bool are_short_power_lines(int64_t n, int64_t lines) {
  return is_power(n) && n >= 2 && n <= kMostAbreast && (lines > kLanes<R> / 2 || n < 4 * kLanes<R>);
}

template <class R> void fft_line(const std::complex<R>* x, std::complex<R>* y, int64_t n, bool forward, R scale) {
  transform<R>(Line<R>{const_cast<std::complex<R>*>(x), !forward}, Line<R>{y, !forward, Vec<R>(scale)}, n, false);
}

template <class R>
void fft_columns(const std::complex<R>* x, int64_t from, std::complex<R>* y, int64_t to, int64_t rows, int64_t count, bool forward, R scale) {
  const auto each = [&](auto&& f) {
    for (int64_t c = 0; c < count; c += kLanes<R>) {
      const int64_t some = std::min(kLanes<R>, count - c);
      f(Columns<R>{const_cast<std::complex<R>*>(x) + c, from, some, !forward}, Columns<R>{y + c, to, some, !forward, Vec<R>(scale)});
    }
  };
  if (rows > kMostAbreast) return each([&](auto in, auto out) { transform<R>(in, out, rows, true); });
  const Plan<R>& plan = plan_of<R>(rows, true);
  by_length(rows, [&]<int n>() {
    R *p = abreast<R>(2 * n), *q = p + 2 * n * kLanes<R>;
    each([&](auto in, auto out) { steps_abreast<n, 1>(in, out, p, q, plan.steps.data()); });
  });
}

template <class R> void fft_lines(const std::complex<R>* const* x, int64_t step, std::complex<R>* const* y, int64_t count, int64_t points, bool forward, R scale) {
  const Plan<R>& plan = plan_of<R>(points, true);
  by_length(points, [&]<int n>() {
    R *p = abreast<R>(2 * n), *q = p + 2 * n * kLanes<R>;
    each_abreast(x, y, count, kLanes<R>, [&](auto in, auto out) {
      gather_lines(in, step, p, n);
      steps_abreast<n, 1>(Abreast<R>(p, !forward), Abreast<R>(p, !forward, scale), p, q, plan.steps.data());
      scatter_rows(p, parts_of(out), 2 * n, all_lanes<R>);
    });
  });
}

template <class R> void rfft_lines(const R* const* x, int64_t step, std::complex<R>* const* y, int64_t count, int64_t points, bool whole, bool forward, R scale) {
  const Plan<R>& plan = plan_of<R>(points / 2, true);
  const Vec<R> half(scale / 2), factor(scale), side(forward ? R(1) : R(-1));
  by_length(points / 2, [&]<int n>() {
    R *p = abreast<R>(3 * n), *q = p + 2 * n * kLanes<R>;
    const Abreast<R> z(p), to(q);
    const auto put = [&](int64_t k, Vec<R> re, Vec<R> im) {  // and what mirrors it beyond the half
      to.store(k * kLanes<R>, {re, im * side});
      if (whole && k > 0 && k < n) to.store((2 * n - k) * kLanes<R>, {re, im * -side});
    };
    each_abreast(x, y, count, kLanes<R>, [&](auto in, auto out) {
      gather_lines(in, step, p, 2 * n);
      steps_abreast<n, 1>(z, z, p, q, plan.steps.data());
      const Complex<R> first = z.load(0);
      put(0, (first.re + first.im) * factor, Vec<R>(0)), put(n, (first.re - first.im) * factor, Vec<R>(0));
      for (int64_t k = 1; k <= n / 2; k++) {
        const Complex<R> a = z.load(k * kLanes<R>), c = z.load((n - k) * kLanes<R>), b{c.re, -c.im}, sum = a + b;
        const Complex<R> odd = Complex<R>{Vec<R>(plan.halves_re[k]), Vec<R>(plan.halves_im[k])} * (a - b);
        put(k, sum.re * half + odd.re * factor, sum.im * half + odd.im * factor);
        put(n - k, sum.re * half - odd.re * factor, odd.im * factor - sum.im * half);
      }
      scatter_rows(q, parts_of(out), 2 * (whole ? 2 * n : n + 1), all_lanes<R>);
    });
  });
}

template <class R> void irfft_lines(const std::complex<R>* const* x, int64_t step, R* const* y, int64_t count, int64_t points, R scale) {
  const Plan<R>& plan = plan_of<R>(points / 2, true);
  by_length(points / 2, [&]<int n>() {
    R *p = abreast<R>(2 * n + 1), *q = p + 2 * n * kLanes<R>;
    const Abreast<R> half(q), z(p);
    each_abreast(x, y, count, kLanes<R>, [&](auto in, auto out) {
      gather_lines(in, step, q, n + 1);
      const Vec<R> first = half.load(0).re, middle = half.load(n * kLanes<R>).re;
      z.store(0, {first - middle, first + middle});
      for (int64_t k = 1; k <= n / 2; k++) {
        const Complex<R> a = half.load(k * kLanes<R>), c = half.load((n - k) * kLanes<R>), b{c.re, -c.im}, sum = a + b;
        const Complex<R> odd = Complex<R>{Vec<R>(plan.halves_re[k]), -Vec<R>(plan.halves_im[k])} * (a - b);
        z.store(k * kLanes<R>, {sum.im + odd.im + odd.im, sum.re + odd.re + odd.re});
        z.store((n - k) * kLanes<R>, {odd.im + odd.im - sum.im, sum.re - odd.re - odd.re});
      }
      steps_abreast<n, 1>(z, Abreast<R>(p, true, scale), p, q, plan.steps.data());
      scatter_rows(p, out, 2 * n, all_lanes<R>);
    });
  });
}

template <class R> void rfft_line(const R* x, std::complex<R>* y, int64_t n, R scale) {
  n /= 2;  // pairs of real numbers are taken for complex ones
  const Plan<R>& plan = plan_of<R>(n, false);
  const Apart<R> z = buffers<R>(n)[2];
  transform<R>(Line<R>{reinterpret_cast<std::complex<R>*>(const_cast<R*>(x)), false}, z, n, false);
  const Vec<R> half(scale / 2), factor(scale);
  for_inner<R>(n, [&](int64_t k) {
    const Complex<R> a = z.load(k), b = mirrored<R>(z, n - k), w = {Vec<R>::load(&plan.halves_re[k]), Vec<R>::load(&plan.halves_im[k])};
    const Complex<R> sum = a + b, odd = w * (a - b);
    Complex<R>{sum.re * half + odd.re * factor, sum.im * half + odd.im * factor}.store_in_order(y + k);
  });
  y[0] = {(z.re[0] + z.im[0]) * scale, 0}, y[n] = {(z.re[0] - z.im[0]) * scale, 0};
}

template <class R> void irfft_line(const std::complex<R>* x, R* y, int64_t n, R scale) {
  n /= 2;
  const Plan<R>& plan = plan_of<R>(n, false);
  const Apart<R> z = buffers<R>(n)[2];
  const Line<R> in{const_cast<std::complex<R>*>(x), false};
  for_inner<R>(n, [&](int64_t k) {
    const Complex<R> a = in.load(k), b = mirrored<R>(in, n - k), sum = a + b, difference = a - b;
    const Complex<R> odd = Complex<R>{Vec<R>::load(&plan.halves_re[k]), -Vec<R>::load(&plan.halves_im[k])} * difference;
    z.store(k, {sum.im + odd.im + odd.im, sum.re + odd.re + odd.re});
  });
  z.re[0] = x[0].real() - x[n].real(), z.im[0] = x[0].real() + x[n].real();
  transform<R>(z, Line<R>{reinterpret_cast<std::complex<R>*>(y), true, Vec<R>(scale)}, n, false);
}

template bool are_short_power_lines<float>(int64_t, int64_t);
template bool are_short_power_lines<double>(int64_t, int64_t);
template bool is_power_line<float>(int64_t);
template bool is_power_line<double>(int64_t);
template void fft_line<float>(const std::complex<float>*, std::complex<float>*, int64_t, bool, float);
template void fft_line<double>(const std::complex<double>*, std::complex<double>*, int64_t, bool, double);
template void fft_columns<float>(const std::complex<float>*, int64_t, std::complex<float>*, int64_t, int64_t, int64_t, bool, float);
template void fft_columns<double>(const std::complex<double>*, int64_t, std::complex<double>*, int64_t, int64_t, int64_t, bool, double);
template void fft_lines<float>(const std::complex<float>* const*, int64_t, std::complex<float>* const*, int64_t, int64_t, bool, float);
template void fft_lines<double>(const std::complex<double>* const*, int64_t, std::complex<double>* const*, int64_t, int64_t, bool, double);
template void rfft_lines<float>(const float* const*, int64_t, std::complex<float>* const*, int64_t, int64_t, bool, bool, float);
template void rfft_lines<double>(const double* const*, int64_t, std::complex<double>* const*, int64_t, int64_t, bool, bool, double);
template void irfft_lines<float>(const std::complex<float>* const*, int64_t, float* const*, int64_t, int64_t, float);
template void irfft_lines<double>(const std::complex<double>* const*, int64_t, double* const*, int64_t, int64_t, double);
template void rfft_line<float>(const float*, std::complex<float>*, int64_t, float);
template void rfft_line<double>(const double*, std::complex<double>*, int64_t, double);
template void irfft_line<float>(const std::complex<float>*, float*, int64_t, float);
template void irfft_line<double>(const std::complex<double>*, double*, int64_t, double);

}  // namespace WEIR_ISA
}  // namespace weir
