#include "framework/ops/loss.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "framework/core/parallel.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/numbers.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// The log-probabilities as (N, C, places), wherever they lie: a single sample counts as N == 1.
struct Layout {
  int64_t n = 1, classes, places = 1;
  int64_t to_sample = 0, to_class, to_place = 1;  // strides
  bool regular = true;  // places lie one stride apart
  Dims sizes, strides;
  explicit Layout(const Meta& m) : classes(m.sizes[m.sizes.n == 1 ? 0 : 1]), to_class(m.strides[m.sizes.n == 1 ? 0 : 1]), sizes(m.sizes), strides(m.strides) {
    if (sizes.n > 1) n = sizes[0], to_sample = strides[0];
    for (int i = sizes.n; --i > 1;) {
      if (sizes[i] == 1) continue;
      if (places == 1) to_place = strides[i];
      else regular &= strides[i] == places * to_place;
      places *= sizes[i];
    }
  }
  int64_t targets() const { return n * places; }
  int64_t offset_of(int64_t place) const {
    int64_t at = 0;
    for (int d = sizes.n; --d > 1; place /= sizes[d]) at += place % sizes[d] * strides[d];
    return at;
  }
  /// Calls f(number of a target, where its sample's log-probability of the class 0 lies) for some of them.
  template <class F> void each_target(int64_t begin, int64_t end, F&& f) const {
    if (places == 1) {
      for (int64_t i = begin; i < end; i++) f(i, i * to_sample);
      return;
    }
    for (int64_t i = begin; i < end;) {
      const int64_t sample = i / places, stop = std::min(end, (sample + 1) * places);
      if (!regular) {
        for (; i < stop; i++) f(i, sample * to_sample + offset_of(i % places));
        continue;
      }
      for (int64_t at = sample * to_sample + i % places * to_place; i < stop; i++, at += to_place) f(i, at);
    }
  }
};

// Targets that one thread takes at a time; what they sum to is joined in order, so that the number of threads does not show.
constexpr int64_t kRun = 16384;
template <class F> void each_run(int64_t targets, F&& f) {
  parallel_for((targets + kRun - 1) / kRun, 2, [&](int64_t b, int64_t e) {
    for (int64_t run = b; run < e; run++) f(run, run * kRun, std::min(targets, (run + 1) * kRun));
  });
}

Tensor as_double(const Tensor& t) { return copied(t, Meta(t.sizes(), DType::float64)); }
[[noreturn, gnu::cold, gnu::noinline]] void refuse(int64_t target) { throw IndexError(str("nll_loss: Target ", target, " is out of bounds.")); }
void check_target(int64_t target, int64_t classes) {
  if (uint64_t(target) >= uint64_t(classes)) refuse(target);
}

// Calls f with the dtype as a tag; losses exist for floating types only.
template <class F> void by_type(DType t, F&& f) {
  visit_real_dtype("nll_loss", t, [&](auto tag) {
    if constexpr (!std::is_integral_v<typename decltype(tag)::type>) f(tag);
  });
}

void nll_loss(const NllLoss& op, Inputs in, Outputs out) {
  const Tensor &x = in[0], target = row_major(in[1]), w = in[2] ? as_double(in[2]) : in[2];
  const Layout l(x.meta());
  const bool each = op.reduction == "none";
  struct Part { double sum = 0, total = 0; };
  std::vector<Part> parts(size_t((l.targets() + kRun - 1) / kRun));
  by_type(x.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t *targets = target.data<int64_t>(), ignored = op.ignore_index;
    const double* weights = w ? w.data<double>() : nullptr;
    const T* logs = x.data<T>();
    T* losses = each ? out[0].data<T>() : nullptr;
    each_run(l.targets(), [&](int64_t run, int64_t begin, int64_t end) {
      Part part;
      l.each_target(begin, end, [&](int64_t i, int64_t first) {
        const int64_t t = targets[i];
        if (t == ignored) {
          if (losses) losses[i] = T(0.0f);
          return;
        }
        check_target(t, l.classes);
        const double weight = weights ? weights[t] : 1, v = -weight * double(logs[first + t * l.to_class]);
        if (losses) losses[i] = T(float_cast<T>(v));
        part.sum += v, part.total += weight;
      });
      parts[size_t(run)] = part;
    });
  });
  double sum = 0, total = 0;
  for (const Part& p : parts) sum += p.sum, total += p.total;
  if (!each) put(out[0], 0, op.reduction == "mean" ? sum / total : sum);
  put(out[1], 0, each ? 0.0 : total);
}

void nll_loss_backward(const NllLossBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), target = row_major(in[1]), w = in[2] ? as_double(in[2]) : in[2];
  const Layout l(out[0].meta());
  std::memset(out[0].raw(), 0, out[0].numel() * size_of(out[0].dtype()));
  const bool each = op.reduction == "none";
  const double scale = op.reduction == "mean" ? 1 / number_at(in[3]) : 1;
  by_type(dy.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t *targets = target.data<int64_t>(), ignored = op.ignore_index;
    const double* weights = w ? w.data<double>() : nullptr;
    const T* g = dy.data<T>();
    T* to = out[0].data<T>();
    each_run(l.targets(), [&](int64_t, int64_t begin, int64_t end) {
      l.each_target(begin, end, [&](int64_t i, int64_t first) {
        const int64_t t = targets[i];
        if (t == ignored) return;
        check_target(t, l.classes);
        const double weight = weights ? weights[t] : 1;
        to[first + t * l.to_class] = T(float_cast<T>(-weight * scale * double(g[each ? i : 0])));
      });
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
