#include "framework/ops/segment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

enum class Kind { sum, mean, max, min, prod };
Kind kind_of(const Str& reduce) {
  constexpr const char* names[] = {"sum", "mean", "max", "min", "prod"};
  int i = 0;
  while (i < 4 && !(reduce == names[i])) i++;
  return Kind(i);
}

// Data as (batch, n, inner) with `count` segments of each batch.
struct Segments {
  int64_t batch = 1, n, inner = 1, count;
  const int64_t* offsets;
  Segments(const Tensor& data, const Tensor& bounds) : offsets(bounds.data<int64_t>()) {
    const int d = bounds.ndim() - 1;
    for (int i = 0; i < data.ndim(); i++) (i < d ? batch : i == d ? n : inner) *= i == d ? 1 : data.sizes()[i];
    n = data.sizes()[d], count = bounds.sizes()[d] - 1;
  }
  /// Calls `f(first, last, i)` with the elements of segment number i; what lies outside of the axis is left out.
  template <class F> void each(F&& f) const {
    parallel_for(batch * count, kGrain * count / std::max<int64_t>(1, n * inner), [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        const int64_t* at = offsets + i / count * (count + 1) + i % count;
        const int64_t first = std::clamp<int64_t>(at[0], 0, n);
        f(first, std::clamp<int64_t>(at[1], first, n), i);
      }
    });
  }
  void check_covers() const {
    for (int64_t b = 0; b < batch; b++) {
      const int64_t* at = offsets + b * (count + 1);
      for (int64_t i = 0; i < count; i++) check(at[i + 1] >= at[i], "segment_reduce(): lengths contains negative value!");
      check(at[0] == 0 && at[count] == n, "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe: ",
            at[0], " to ", at[count], " of ", n);
    }
  }
};

template <class F> void by_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}
template <class T> Tensor wide(const Tensor& t) {
  return t.dtype() == dtype_of<T>() ? row_major(t) : copied(t, Meta(t.sizes(), dtype_of<T>()));
}

template <class T> T start(Kind kind, const std::optional<Scalar>& initial) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  return initial ? T(initial->to_double()) : kind == Kind::max ? -inf : kind == Kind::min ? inf : kind == Kind::prod ? T(1) : T(0);
}

void forward(const SegmentForward& op, Inputs in, Outputs out) {
  Tensor bounds = row_major(in[1]);
  Segments s(in[0], bounds);
  if (op.checked) s.check_covers();
  const Kind kind = kind_of(op.reduce);
  by_type(in[0].dtype(), [&]<class T>(TypeTag<T>) {
    Tensor data = wide<T>(in[0]), result = out[0].dtype() == dtype_of<T>() ? out[0] : empty(out[0].sizes(), dtype_of<T>());
    s.each([&](int64_t first, int64_t last, int64_t i) {
      T* to = result.data<T>() + i * s.inner;
      const T* from = data.data<T>() + i / s.count * s.n * s.inner;
      std::fill_n(to, s.inner, start<T>(kind, op.initial));
      for (int64_t k = first; k < last; k++)
        for (int64_t j = 0; j < s.inner; j++) {
          const T x = from[k * s.inner + j];
          if (kind == Kind::max) to[j] = x != x || x > to[j] ? x : to[j];
          else if (kind == Kind::min) to[j] = x != x || x < to[j] ? x : to[j];
          else if (kind == Kind::prod) to[j] *= x;
          else to[j] += x;
        }
      if (kind == Kind::mean && (last > first || !op.initial))
        for (int64_t j = 0; j < s.inner; j++) to[j] /= T(last - first);
    });
    if (result.dtype() != out[0].dtype()) run_copy(result, out[0]);
  });
}

void backward(const SegmentBackward& op, Inputs in, Outputs out) {
  Tensor bounds = row_major(in[3]);
  Segments s(in[2], bounds);
  const Kind kind = kind_of(op.reduce);
  by_type(in[2].dtype(), [&]<class T>(TypeTag<T>) {
    Tensor dy = wide<T>(in[0]), y = wide<T>(in[1]), data = wide<T>(in[2]), dx = empty(in[2].sizes(), dtype_of<T>());
    std::fill_n(dx.data<T>(), dx.numel(), T(0));
    s.each([&](int64_t first, int64_t last, int64_t i) {
      const T* x = data.data<T>() + i / s.count * s.n * s.inner;
      T* to = dx.data<T>() + i / s.count * s.n * s.inner;
      for (int64_t j = 0; j < s.inner; j++) {
        const T top = y.data<T>()[i * s.inner + j], g = dy.data<T>()[i * s.inner + j];
        auto at = [&](int64_t k) { return x[k * s.inner + j]; };
        auto chosen = [&](int64_t k) { return at(k) == top || at(k) != at(k); };
        int64_t sharing = 0;
        for (int64_t k = first; k < last; k++) sharing += chosen(k);
        for (int64_t k = first; k < last; k++) {
          T& d = to[k * s.inner + j];
          if (kind == Kind::sum) d = g;
          else if (kind == Kind::mean) d = g / T(last - first);
          else if (kind != Kind::prod) d = !chosen(k) ? T(0) : g > 0 ? g / T(sharing) : g;  // PyTorch shares out what is above zero only
          else if (at(k) != 0 && at(k) == at(k)) d = g * top / at(k);
          else {  // dividing it out is not possible
            T others = start<T>(kind, op.initial);
            for (int64_t l = first; l < last; l++)
              if (l != k) others *= at(l);
            d = g * others;
          }
        }
      }
    });
    run_copy(dx, out[0]);
  });
}

const bool bound = [] {
  set_kernel<SegmentForward, forward>(DeviceType::cpu);
  set_kernel<SegmentBackward, backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
