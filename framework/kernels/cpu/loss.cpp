#include "framework/ops/loss.h"

#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// (N, C, inner) of the log-probabilities; a single sample counts as N == 1.
struct Layout {
  int64_t n = 1, classes, inner = 1;
  explicit Layout(const Dims& s) : classes(s.n == 1 ? s[0] : s[1]) {
    if (s.n > 1) n = s[0];
    for (int i = 2; i < s.n; i++) inner *= s[i];
  }
  /// Calls f(number of a target, where its sample's log-probability of the class 0 lies); those of others lie `inner` apart.
  template <class F> void each_target(F&& f) const {
    for (int64_t sample = 0; sample < n; sample++)
      for (int64_t j = 0; j < inner; j++) f(sample * inner + j, sample * classes * inner + j);
  }
};

Tensor as_double(const Tensor& t) { return copied(t, Meta(t.sizes(), DType::float64)); }
double read(const Tensor& t, int64_t i) {
  double v;
  convert(t.dtype(), t.raw() + i * int64_t(size_of(t.dtype())), 1, DType::float64, &v, 1, 1);
  return v;
}
void put(const Tensor& t, int64_t i, double v) {
  convert(DType::float64, &v, 1, t.dtype(), t.raw() + i * int64_t(size_of(t.dtype())), 1, 1);
}
int64_t checked(int64_t target, int64_t classes) {
  check<IndexError>(target >= 0 && target < classes, "nll_loss: Target ", target, " is out of bounds.");
  return target;
}

// Calls f with the dtype as a tag; losses exist for floating types only.
template <class F> void by_type(DType t, F&& f) {
  visit_real_dtype("nll_loss", t, [&](auto tag) {
    if constexpr (!std::is_integral_v<typename decltype(tag)::type>) f(tag);
  });
}

void nll_loss(const NllLoss& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), target = row_major(in[1]), w = in[2] ? as_double(in[2]) : in[2];
  Layout l(x.sizes());
  bool each = op.reduction == "none";
  double sums[4] = {}, totals[4] = {};  // by turns, since each addition waits for the one before it
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    l.each_target([&](int64_t i, int64_t first) {
      const int64_t t = target.data<int64_t>()[i];
      if (t == op.ignore_index) {
        if (each) out[0].data<T>()[i] = T(0.0f);
        return;
      }
      checked(t, l.classes);
      const double weight = w ? w.data<double>()[t] : 1, v = -weight * double(x.data<T>()[first + t * l.inner]);
      if (each) out[0].data<T>()[i] = T(float_cast<T>(v));
      sums[i % 4] += v, totals[i % 4] += weight;
    });
  });
  const double sum = sums[0] + sums[1] + (sums[2] + sums[3]), total = totals[0] + totals[1] + (totals[2] + totals[3]);
  if (!each) put(out[0], 0, op.reduction == "mean" ? sum / total : sum);
  put(out[1], 0, each ? 0 : total);
}

void nll_loss_backward(const NllLossBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), target = row_major(in[1]), w = in[2] ? as_double(in[2]) : in[2];
  Layout l(op.input_size);
  std::memset(out[0].raw(), 0, out[0].numel() * size_of(out[0].dtype()));
  bool each = op.reduction == "none";
  double scale = op.reduction == "mean" ? 1 / read(in[3], 0) : 1;
  by_type(dy.dtype(), [&]<class T>(TypeTag<T>) {
    l.each_target([&](int64_t i, int64_t first) {
      const int64_t t = target.data<int64_t>()[i];
      if (t == op.ignore_index) return;
      checked(t, l.classes);
      const double weight = w ? w.data<double>()[t] : 1, g = double(dy.data<T>()[each ? i : 0]);
      out[0].data<T>()[first + t * l.inner] = T(float_cast<T>(-weight * scale * g));
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<NllLoss, nll_loss>(DeviceType::cpu);
  set_kernel<NllLossBackward, nll_loss_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
