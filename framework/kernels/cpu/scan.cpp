#include "framework/ops/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/vec_complex.h"
#include "framework/ops/reduce.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int64_t kShort = 12;  // elements of a line that is done before one beside it has begun to pay

template <class T> struct TotalOf { using type = T; };
template <> struct TotalOf<float> { using type = double; };
template <> struct TotalOf<std::complex<float>> { using type = std::complex<double>; };
template <class T> using Total = typename TotalOf<T>::type;

// Lines along an axis that are walked side by side: a sum waits for the one before it, those of neighbours need not. Adjacent ones make
// vectors; of those that lie apart only a few go together, since lines 4 KiB apart share eight places in the first-level cache.
struct Lines {
  static constexpr int64_t kMost = 16, kApart = 4;
  int64_t n, along, across;  // elements of a line, and the steps between elements and between lines
  /// `count` lines of n elements, one behind the other.
  Lines(int64_t count, int64_t n) : n(n), along(1), across(n), in_slab_(count), slabs_(1) {}
  explicit Lines(const Axis& axis) : n(axis.n), along(axis.inner), across(axis.inner == 1 ? axis.n : 1),
      in_slab_(axis.inner == 1 ? axis.outer : axis.inner), slabs_(axis.inner == 1 ? 1 : axis.outer) {}

  /// Calls `f(first, count)` for groups of at most kMost neighbours: the offset of the first one's begin, and how many they are.
  template <class F> void each(F&& f) const {
    const int64_t most = across == 1 ? kMost : kApart, groups = (in_slab_ + most - 1) / most;
    parallel_for(slabs_ * groups, kGrain / 4 / (n * std::min(in_slab_, most)), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        int64_t line = i % groups * most;
        f(i / groups * n * along + line * across, std::min(most, in_slab_ - line));
      }
    });
  }
  /// The numbers of the next group beside these, which lie in another page than those below them: the machine sees no order in such reads.
  template <class T> void prefetch_next(const T* p) const {
    if (across == 1) __builtin_prefetch(p + kMost);
  }
  /// Where the line that begins at `first` would begin if lines had one element.
  int64_t begin_of_one(int64_t first) const { return across == 1 ? first / (n * along) * along + first % along : first / n; }
  /// Calls `f(l, offset)` for each of `count` lines; where they are adjacent in memory the compiler makes vectors of them.
  template <class F> void side_by_side(int64_t count, F&& f) const {
    if (count == kMost && across == 1) for (int64_t l = 0; l < kMost; l++) f(l, l);
    else if (count == kApart) for (int64_t l = 0; l < kApart; l++) f(l, l * across);
    else for (int64_t l = 0; l < count; l++) f(l, l * across);
  }

 private:
  int64_t in_slab_, slabs_;
};

struct SumOf {
  template <class T> static constexpr T start() { return T(0); }
  template <class T> static T join(T a, T b) { return a + b; }
};
struct ProductOf {
  template <class T> static constexpr T start() { return T(1); }
  template <class T> static T join(T a, T b) { return a * b; }
  template <class R> static std::complex<R> join(std::complex<R> a, std::complex<R> b) { return times(a, b); }
};

// Running totals of a known number of lines, `across` apart: they stay in registers.
template <class Of, int kCount, class T> void walk_known(const Lines& lines, int64_t across, const T* x, T* y, Total<T>* total) {
  Total<T> t[kCount];
  std::copy_n(total, kCount, t);
  for (int64_t k = 0; k < lines.n; k++, x += lines.along, y += lines.along)
    for (int l = 0; l < kCount; l++) y[l * across] = T(t[l] = Of::join(t[l], Total<T>(x[l * across])));
  std::copy_n(t, kCount, total);
}

// Running totals of up to kMost lines, from what stands in `total`.
template <class Of, class T> void walk(const Lines& lines, const T* x, T* y, int64_t count, Total<T>* total) {
  if (count == Lines::kMost && lines.across == 1) return walk_known<Of, Lines::kMost>(lines, 1, x, y, total);
  if (count == Lines::kApart) return walk_known<Of, Lines::kApart>(lines, lines.across, x, y, total);
  for (int64_t k = 0; k < lines.n; k++, x += lines.along, y += lines.along)
    lines.side_by_side(count, [&](int64_t l, int64_t at) { y[at] = T(total[l] = Of::join(total[l], Total<T>(x[at]))); });
}

// Running totals of `count` lines of a few elements in a row: each on its own, since the next one does not wait for it.
template <class Of, class T> void walk_short(const T* x, T* y, int64_t count, int64_t n) {
  auto walk_each = [&](auto n) {
    for (int64_t l = 0; l < count; l++, x += n, y += n) {
      Total<T> total = Of::template start<Total<T>>();
      for (int64_t k = 0; k < n; k++) y[k] = T(total = Of::join(total, Total<T>(x[k])));
    }
  };
  switch (n) {
    case 2: return walk_each(std::integral_constant<int64_t, 2>());
    case 3: return walk_each(std::integral_constant<int64_t, 3>());
    case 4: return walk_each(std::integral_constant<int64_t, 4>());
    default: return walk_each(n);
  }
}

// Running sums of one long line: of its parts side by side, each from the sum of those before it.
template <class T> void walk_parts(const T* x, T* y, int64_t n) {
  const int64_t parts = Lines::kMost, m = n / parts;
  Total<T> start[Lines::kMost + 1] = {};
  parallel_for(parts, kGrain / m, [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; p++) {
      Total<T> lanes[8] = {};
      for (int64_t k = 0; k + 8 <= m; k += 8)
        for (int64_t j = 0; j < 8; j++) lanes[j] += Total<T>(x[p * m + k + j]);
      for (int64_t k = m / 8 * 8; k < m; k++) lanes[0] += Total<T>(x[p * m + k]);
      for (Total<T> lane : lanes) start[p + 1] += lane;
    }
  });
  for (int64_t p = 0; p < parts; p++) start[p + 1] += start[p];
  parallel_for(parts, kGrain / m, [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; p += Lines::kApart) {
      const int64_t count = std::min(Lines::kApart, e - p);
      walk<SumOf>(Lines(count, m), x + p * m, y + p * m, count, start + p);
    }
  });
  for (int64_t k = parts * m; k < n; k++) y[k] = T(start[parts] += Total<T>(x[k]));
}

// The input in the type that is computed in, the output at once where it has that type.
template <class T, class F> void in_type(const Tensor& out, F&& f) {
  Tensor y = out.dtype() == dtype_of<T>() ? out : empty(out.sizes(), dtype_of<T>());
  f(y.data<T>());
  if (y.dtype() != out.dtype()) run_copy(y, out);
}
template <class T> Tensor wide(const Tensor& t) {
  return t.dtype() == dtype_of<T>() ? row_major(t) : copied(t, Meta(t.sizes(), dtype_of<T>()));
}
template <class F> void by_type(DType t, F&& run) {
  if (t == DType::complex64) run(TypeTag<std::complex<float>>{});
  else if (is_complex(t)) run(TypeTag<std::complex<double>>{});
  else if (t == DType::float64) run(TypeTag<double>{});
  else if (is_floating(t)) run(TypeTag<float>{});
  else run(TypeTag<int64_t>{});
}

template <class Of> void scan(const Tensor& input, const std::optional<DType>& before, int64_t dim, const Tensor& out) {
  if (out.numel() == 0) return;
  const Axis axis(out.sizes(), dim, "cumsum");
  auto run = [&]<class T>(TypeTag<T>) {
    // A dtype that was asked for is gone through, also where it holds less.
    Tensor in = wide<T>(before && *before != input.dtype() ? copied(input, Meta(input.sizes(), *before)) : input);
    const T* x = in.data<T>();
    in_type<T>(out, [&](T* y) {
      // What is not wider than its total would show the order of additions, and a product of parts may overflow where the whole is zero.
      constexpr bool free_order = std::is_same_v<Of, SumOf> && (std::is_same_v<T, float> || std::is_same_v<T, int64_t>);
      if constexpr (free_order)
        if (axis.inner == 1 && axis.outer < Lines::kMost / 4 && axis.n >= 256 * Lines::kMost) {
          for (int64_t l = 0; l < axis.outer; l++) walk_parts(x + l * axis.n, y + l * axis.n, axis.n);
          return;
        }
      if (axis.inner == 1 && axis.n <= kShort)
        return parallel_for(axis.outer, kGrain / 4 / axis.n,
                            [&](int64_t b, int64_t e) { walk_short<Of>(x + b * axis.n, y + b * axis.n, e - b, axis.n); });
      const Lines lines(axis);
      lines.each([&](int64_t first, int64_t count) {
        Total<T> total[Lines::kMost];
        std::fill_n(total, Lines::kMost, Of::template start<Total<T>>());
        walk<Of>(lines, x + first, y + first, count, total);
      });
    });
  };
  if (out.dtype() == DType::complex64) run(TypeTag<std::complex<float>>{});
  else by_type(out.dtype(), run);
}
void cumsum(const Cumsum& op, Inputs in, Outputs out) { scan<SumOf>(in[0], op.dtype, op.dim, out[0]); }
void cumprod(const Cumprod& op, Inputs in, Outputs out) { scan<ProductOf>(in[0], op.dtype, op.dim, out[0]); }

// With s_k = dy_k + x_{k+1} s_{k+1}, the gradient at k is what was multiplied before k, y_{k-1}, times s_k.
void cumprod_backward(const CumprodBackward& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  const Lines lines(Axis(out[0].sizes(), op.dim, "cumprod"));
  by_type(out[0].dtype(), [&]<class T>(TypeTag<T>) {
    Tensor grad = wide<T>(in[0]), input = wide<T>(in[1]), output = wide<T>(in[2]);
    const T *dy = grad.data<T>(), *x = input.data<T>(), *y = output.data<T>();
    in_type<T>(out[0], [&](T* dx) {
      lines.each([&](int64_t first, int64_t count) {
        // A line whose product is no number: PyTorch divides sums of dy * y before its first zero, so that NaN reaches all that stands
        // before, and gives none to what stands after.
        const int64_t last = first + (lines.n - 1) * lines.along;
        int64_t zero[Lines::kMost], lost = 0;
        lines.side_by_side(count, [&](int64_t l, int64_t o) {
          zero[l] = y[last + o] - y[last + o] == T(0) ? -1 : lines.n;  // -1 where there is a product
          lost += zero[l] > 0;
        });
        bool whole = lost == count;
        for (int64_t k = lines.n; lost && k-- > 0;)
          lines.side_by_side(count, [&](int64_t l, int64_t o) {
            const bool found = zero[l] >= 0 && x[first + k * lines.along + o] == T(0);
            zero[l] = found ? k : zero[l], whole = whole && !found;
          });
        Total<T> tail[Lines::kMost] = {};
        for (int64_t k = lines.n; !whole && k-- > 0;) {
          const int64_t at = first + k * lines.along, before = at - lines.along, after = at + lines.along;
          const bool is_first = k == 0, is_last = k + 1 == lines.n;
          lines.prefetch_next(x + at), lines.prefetch_next(dy + at), lines.prefetch_next(y + at);
          lines.side_by_side(count, [&](int64_t l, int64_t o) {
            tail[l] = is_last ? Total<T>(dy[at + o]) : Total<T>(dy[at + o]) + ProductOf::join(Total<T>(x[after + o]), tail[l]);
            dx[at + o] = T(is_first ? tail[l] : ProductOf::join(Total<T>(y[before + o]), tail[l]));
          });
        }
        Total<T> sum[Lines::kMost] = {};
        for (int64_t k = lines.n; lost && k-- > 0;) {
          const int64_t at = first + k * lines.along;
          lines.prefetch_next(x + at), lines.prefetch_next(dy + at), lines.prefetch_next(y + at);
          lines.side_by_side(count, [&](int64_t l, int64_t o) {
            const bool before = k < zero[l], after = zero[l] >= 0 && k > zero[l];
            const Total<T> more = sum[l] + Total<T>(dy[at + o]) * Total<T>(y[at + o]), there = more / Total<T>(x[at + o]);
            sum[l] = before ? more : sum[l];
            dx[at + o] = before ? T(there) : after ? T(0) : dx[at + o];
          });
        }
      });
    });
  });
}

// Eight chains of products, which do not wait for each other.
template <class T> Total<T> product_of(const T* x, int64_t n) {
  Total<T> chain[8];
  std::fill_n(chain, 8, Total<T>(1));
  int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int64_t c = 0; c < 8; c++) chain[c] = ProductOf::join(chain[c], Total<T>(x[k + c]));
  for (; k < n; k++) chain[0] = ProductOf::join(chain[0], Total<T>(x[k]));
  for (int64_t c = 1; c < 8; c++) chain[0] = ProductOf::join(chain[0], chain[c]);
  return chain[0];
}

// Of one long line the product of the others is the product divided by each, by all threads: where no element is zero, as in PyTorch, also
// of a product that is beyond all numbers, or below.
template <class T> bool divided(T dy, const T* x, T* dx, int64_t n) {
  Total<T> parts[Lines::kMost];
  const int64_t m = n / Lines::kMost;
  parallel_for(Lines::kMost, kGrain / m, [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; p++) parts[p] = product_of(x + p * m, (p + 1 == Lines::kMost ? n : (p + 1) * m) - p * m);
  });
  Total<T> product = dy;
  for (Total<T> part : parts) product *= part;
  const bool usual = product != Total<T>(0) && std::abs(product) < std::numeric_limits<double>::infinity();
  if (!usual && (product != product || std::find(x, x + n, T(0)) != x + n)) return false;
  parallel_for(n, kGrain, [&](int64_t b, int64_t e) {
    for (int64_t k = b; k < e; k++) dx[k] = T(product / Total<T>(x[k]));
  });
  return true;
}

// Whether any of n numbers is zero, by blocks that are looked through without leaving the loop.
template <class T> bool has_zero(const T* x, int64_t n) {
  constexpr int64_t kBlock = 512;
  for (int64_t first = 0; first < n; first += kBlock) {
    int zeros = 0;
    for (int64_t i = first; i < std::min(first + kBlock, n); i++) zeros += x[i] == T(0);
    if (zeros) return true;
  }
  return false;
}

// Twice along each line: what stands before an element from the front, what stands behind it from the back.
void prod_backward(const ProdBackward& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  const Axis axis(out[0].sizes(), op.dim, "prod");
  const Lines lines(axis);
  by_type(out[0].dtype(), [&]<class T>(TypeTag<T>) {
    Tensor grad = wide<T>(in[0]), input = wide<T>(in[1]);
    const T *dy = grad.data<T>(), *x = input.data<T>();
    in_type<T>(out[0], [&](T* dx) {
      if constexpr (!std::is_integral_v<T>)
        if (axis.outer * axis.inner == 1 && axis.n >= 256 * Lines::kMost && divided(*dy, x, dx, axis.n)) return;
      std::once_flag looked;
      bool zero = false;  // anywhere: asked once, by the first line that needs to know
      auto any_zero = [&] {
        std::call_once(looked, [&] { zero = has_zero(x, out[0].numel()); });
        return zero;
      };
      lines.each([&](int64_t first, int64_t count) {
        Scratch<Total<T>> front(lines.n * count);
        Total<T> product[Lines::kMost];
        bool whole[Lines::kMost] = {};  // has `front` all the other factors already?
        std::fill_n(product, Lines::kMost, Total<T>(1));
        for (int64_t k = 0; k < lines.n; k++)
          lines.side_by_side(count, [&](int64_t l, int64_t o) {
            front[k * count + l] = product[l];
            product[l] = ProductOf::join(product[l], Total<T>(x[first + k * lines.along + o]));
          });
        // Of the product of all two zeros leave nothing, beside infinities neither, as in PyTorch.
        if (op.of_all && product[0] != product[0] && std::count(x, x + lines.n, T(0)) > 1) return void(std::fill(dx, dx + lines.n, T(0)));
        if constexpr (!std::is_integral_v<T>) {
          // Where no element is zero PyTorch divides the product by each, of which an infinite one leaves NaN beside infinities.
          auto lost = [&](int64_t l) { return !(std::abs(T(product[l])) < std::numeric_limits<double>::infinity()); };
          bool any = false, all = true;
          for (int64_t l = 0; l < count; l++) any = any || lost(l), all = all && lost(l);
          if (all && !any_zero()) {
            auto divide = [&](int64_t l, int64_t at, const Total<T>& factor) { dx[at] = T(ProductOf::join(Total<T>(T(product[l])) / Total<T>(x[at]), factor)); };
            auto given = [&](int64_t l) { return Total<T>(dy[lines.begin_of_one(first) + l]); };
            if (lines.along == 1)
              for (int64_t l = 0; l < count; l++)
                for (int64_t k = 0, at = first + l * lines.across; k < lines.n; k++) divide(l, at + k, given(l));
            else
              for (int64_t k = 0; k < lines.n; k++)
                lines.side_by_side(count, [&](int64_t l, int64_t o) { divide(l, first + k * lines.along + o, given(l)); });
            return;
          }
          if (any && !any_zero()) {
            for (int64_t k = 0; k < lines.n; k++)
              lines.side_by_side(count, [&](int64_t l, int64_t o) {
                const int64_t at = first + k * lines.along + o;
                if (lost(l)) front[k * count + l] = Total<T>(T(product[l])) / Total<T>(x[at]);
              });
            for (int64_t l = 0; l < count; l++) whole[l] = lost(l);
          }
        }
        // The gradient of a line stands where the line would with one element.
        for (int64_t l = 0; l < count; l++) product[l] = Total<T>(dy[lines.begin_of_one(first) + l]);
        for (int64_t k = lines.n; k-- > 0;)
          lines.side_by_side(count, [&](int64_t l, int64_t o) {
            const int64_t at = first + k * lines.along + o;
            dx[at] = T(ProductOf::join(front[k * count + l], product[l]));
            if (!whole[l]) product[l] = ProductOf::join(product[l], Total<T>(x[at]));
          });
      });
    });
  });
}

// log(exp(a) + exp(b)); of equal infinities the value itself.
double joined(double a, double b) {
  double low = std::min(a, b), high = std::max(a, b);
  if (std::isnan(a) || std::isnan(b)) return a + b;
  return low != high || std::isfinite(low) ? std::log1p(std::exp(low - high)) + high : a;
}
std::complex<double> joined(std::complex<double> a, std::complex<double> b) {
  auto low = a.real() < b.real() ? a : b, high = a.real() < b.real() ? b : a;
  if (std::isnan(a.real()) || std::isnan(a.imag()) || std::isnan(b.real()) || std::isnan(b.imag())) return {NAN, NAN};
  if (!std::isfinite(low.real()) && low.real() == high.real())
    return low.real() < 0 ? low : std::log(std::exp(low) + std::exp(high));
  auto e = std::exp(low - high);
  if (std::abs(e) >= 0.5) return high + std::log(1.0 + e);  // near -1 nothing is left of x (2 + x) + y^2
  double x = e.real(), y = e.imag();
  return high + std::complex<double>(0.5 * std::log1p(x * (2 + x) + y * y), std::atan2(y, 1 + x));
}

void logcumsumexp(const Logcumsumexp& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  Tensor x = row_major(in[0]);
  const Axis axis(x.sizes(), op.dim, "logcumsumexp");
  const int64_t n = axis.n, inner = axis.inner;
  auto run = [&]<class T>(TypeTag<T>) {
    const int64_t item = int64_t(size_of(x.dtype()));
    parallel_for(x.numel() / n, kGrain / 8 / n, [&](int64_t b, int64_t e) {
      Scratch<T> line(n);
      for (int64_t l = b; l < e; l++) {
        int64_t at = axis.line(l) * item;
        convert(x.dtype(), x.raw() + at, inner, dtype_of<T>(), line.data(), 1, n);
        if constexpr (std::is_same_v<T, std::complex<double>>) line[0] = joined(line[0], T(-INFINITY));  // which drops the phase of a zero
        for (int64_t i = 1; i < n; i++) line[i] = joined(line[i], line[i - 1]);
        convert(dtype_of<T>(), line.data(), 1, x.dtype(), out[0].raw() + at, inner, n);
      }
    });
  };
  if (is_complex(x.dtype())) run(TypeTag<std::complex<double>>{});
  else run(TypeTag<double>{});
}

const bool bound = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Cumsum, cumsum>(cpu);
  set_kernel<Cumprod, cumprod>(cpu);
  set_kernel<CumprodBackward, cumprod_backward>(cpu);
  set_kernel<ProdBackward, prod_backward>(cpu);
  set_kernel<Logcumsumexp, logcumsumexp>(cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
