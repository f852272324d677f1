#include "framework/ops/distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// A norm as what a difference adds to a sum, and what becomes of the sum. The slope of a distance in one difference d has a factor that
// is the same for all differences of a pair.
template <class T> struct Zero {
  T p;
  static T add(T sum, T d, T) { return d != d ? d : sum + (d != 0 ? T(1) : T(0)); }
  T finish(T sum) const { return sum; }
  T factor(T, T) const { return T(0); }
  T slope(T, T, T) const { return T(0); }
};
template <class T> struct One {
  T p;
  static T add(T sum, T d, T) { return sum + std::abs(d); }
  T finish(T sum) const { return sum; }
  T factor(T, T dy) const { return dy; }
  T slope(T d, T, T factor) const { return d > 0 ? factor : d < 0 ? -factor : T(0); }
};
template <class T> struct Two {
  T p;
  static T add(T sum, T d, T) { return sum + d * d; }
  T finish(T sum) const { return std::sqrt(sum); }
  T factor(T distance, T dy) const { return distance == 0 ? T(0) : dy / distance; }
  T slope(T d, T, T factor) const { return factor * d; }
};
template <class T> struct Most {
  T p;
  static T add(T sum, T d, T) { return std::abs(d) > sum || d != d ? std::abs(d) : sum; }
  T finish(T sum) const { return sum; }
  T factor(T, T dy) const { return dy; }
  T slope(T d, T distance, T factor) const { return std::abs(d) == distance ? (d > 0 ? factor : d < 0 ? -factor : T(0)) : T(0); }
};
template <class T> struct Power {
  T p;
  static T add(T sum, T d, T p) { return sum + std::pow(std::abs(d), p); }
  T finish(T sum) const { return std::pow(sum, 1 / p); }
  T factor(T distance, T dy) const { return distance == 0 ? T(0) : dy / std::pow(distance, p - 1); }
  T slope(T d, T, T factor) const {
    if (factor == 0 || d == 0) return T(0);
    T step = std::pow(std::abs(d), p - 1) * factor;
    return d > 0 ? step : -step;
  }
};

template <class T, class F> void by_norm(double p, F&& f) {
  if (p == 0) f(Zero<T>{T(p)});
  else if (p == 1) f(One<T>{T(p)});
  else if (p == 2) f(Two<T>{T(p)});
  else if (p == INFINITY) f(Most<T>{T(p)});
  else f(Power<T>{T(p)});
}

// Writes zeros where there is nothing to compare, in whatever dtype.
bool of_nothing(bool nothing, const Tensor& out) {
  if (nothing) std::fill_n(out.raw(), out.numel() * int64_t(size_of(out.dtype())), std::byte(0));
  return nothing;
}

template <class F> void by_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

constexpr int64_t kRows = 4, kColumns = 32;  // a block of results whose sums stay in registers

// Distances of up to kRows rows of `a` to r rows of b, which is given turned: (m, ld) of which r columns are meant.
template <class T, class Norm>
void block(const Norm& norm, const T* a, int64_t rows, const T* turned, int64_t m, int64_t ld, int64_t r, T* out) {
  for (int64_t j = 0; j < r; j += kColumns) {
    int64_t width = std::min(kColumns, r - j);
    T sum[kRows][kColumns] = {};
    if (rows == kRows && width == kColumns) {
      for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < kRows; i++)
          for (int64_t c = 0; c < kColumns; c++) sum[i][c] = Norm::add(sum[i][c], a[i * m + k] - turned[k * ld + j + c], norm.p);
    } else {
      for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < rows; i++)
          for (int64_t c = 0; c < width; c++) sum[i][c] = Norm::add(sum[i][c], a[i * m + k] - turned[k * ld + j + c], norm.p);
    }
    for (int64_t i = 0; i < rows; i++)
      for (int64_t c = 0; c < width; c++) out[i * r + j + c] = norm.finish(sum[i][c]);
  }
}

void cdist_forward(const CdistForward& op, Inputs in, Outputs out) {
  if (of_nothing(in[0].numel() == 0 || in[1].numel() == 0, out[0])) return;
  Tensor a = row_major(in[0]);
  Tensor turned = row_major(alias(in[1], Dims{in[1].sizes()[0], in[1].sizes()[2], in[1].sizes()[1]},
                                  Dims{in[1].strides()[0], in[1].strides()[2], in[1].strides()[1]}, in[1]->offset));
  const int64_t batch = a.sizes()[0], n = a.sizes()[1], m = a.sizes()[2], r = turned.sizes()[2], blocks = (n + kRows - 1) / kRows;
  by_type(a.dtype(), [&]<class T>(TypeTag<T>) {
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for(batch * blocks, std::max<int64_t>(1, kGrain / (kRows * r * std::max<int64_t>(m, 1))), [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) {
          int64_t which = i / blocks, first = i % blocks * kRows;
          block(norm, a.data<T>() + (which * n + first) * m, std::min(kRows, n - first), turned.data<T>() + which * m * r, m, r, r,
                out[0].data<T>() + (which * n + first) * r);
        }
      });
    });
  });
}

void cdist_backward(const CdistBackward& op, Inputs in, Outputs out) {
  if (of_nothing(in[1].numel() == 0 || in[2].numel() == 0, out[0])) return;
  Tensor dy = row_major(in[0]), a = row_major(in[1]), b = row_major(in[2]), distance = row_major(in[3]);
  const int64_t n = a.sizes()[1], m = a.sizes()[2], r = b.sizes()[1];
  by_type(a.dtype(), [&]<class T>(TypeTag<T>) {
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for(a.sizes()[0] * n, std::max<int64_t>(1, kGrain / std::max<int64_t>(r * m, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
          const T *x = a.data<T>() + i * m, *others = b.data<T>() + i / n * r * m;
          T* to = out[0].data<T>() + i * m;
          std::fill_n(to, m, T(0));
          for (int64_t j = 0; j < r; j++) {
            T d = distance.data<T>()[i * r + j], factor = norm.factor(d, dy.data<T>()[i * r + j]);
            for (int64_t k = 0; k < m; k++) to[k] += norm.slope(x[k] - others[j * m + k], d, factor);
          }
        }
      });
    });
  });
}

// Where the pairs of row i with the rows behind it begin, of n rows.
int64_t pairs_before(int64_t i, int64_t n) { return i * n - i * (i + 1) / 2; }

void pdist_forward(const PdistForward& op, Inputs in, Outputs out) {
  if (of_nothing(out[0].numel() == 0 || in[0].numel() == 0, out[0])) return;
  Tensor x = row_major(in[0]), turned = row_major(alias(x, Dims{x.sizes()[1], x.sizes()[0]}, Dims{1, x.sizes()[1]}, x->offset));
  const int64_t n = x.sizes()[0], m = x.sizes()[1];
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for((n + kRows - 1) / kRows, std::max<int64_t>(1, kGrain / std::max<int64_t>(kRows * n * m, 1)), [&](int64_t b, int64_t e) {
        std::vector<T> found(kRows * n);
        for (int64_t first = b * kRows; first < std::min(e * kRows, n); first += kRows) {
          const int64_t rows = std::min(kRows, n - first), columns = n - first;
          block(norm, x.data<T>() + first * m, rows, turned.data<T>() + first, m, n, columns, found.data());
          for (int64_t i = 0; i < rows; i++)
            std::copy_n(found.data() + i * columns + i + 1, columns - i - 1, out[0].data<T>() + pairs_before(first + i, n));
        }
      });
    });
  });
}

void pdist_backward(const PdistBackward& op, Inputs in, Outputs out) {
  if (of_nothing(in[0].numel() == 0 || in[1].numel() == 0, out[0])) return;
  Tensor dy = row_major(in[0]), x = row_major(in[1]), distance = row_major(in[2]);
  const int64_t n = x.sizes()[0], m = x.sizes()[1];
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    by_norm<T>(op.p, [&](auto norm) {
      parallel_for(n, std::max<int64_t>(1, kGrain / std::max<int64_t>(n * m, 1)), [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) {
          T* to = out[0].data<T>() + i * m;
          std::fill_n(to, m, T(0));
          for (int64_t j = 0; j < n; j++) {
            if (i == j) continue;
            int64_t low = std::min(i, j), pair = pairs_before(low, n) + std::max(i, j) - low - 1;
            T d = distance.data<T>()[pair], factor = norm.factor(d, dy.data<T>()[pair]);
            for (int64_t k = 0; k < m; k++) to[k] += norm.slope(x.data<T>()[i * m + k] - x.data<T>()[j * m + k], d, factor);
          }
        }
      });
    });
  });
}

const bool bound = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<CdistForward, cdist_forward>(cpu);
  set_kernel<CdistBackward, cdist_backward>(cpu);
  set_kernel<PdistForward, pdist_forward>(cpu);
  set_kernel<PdistBackward, pdist_backward>(cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
