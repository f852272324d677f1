#include "framework/ops/criterion.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class T> void cross_entropy(const T* p, const T* t, T* y, int64_t n) {
  constexpr T floor = T(-100);
  bool inside = true;
  for (int64_t i = 0; i < n; i++) inside &= p[i] >= 0 && p[i] <= 1;
  check(inside, "all elements of input should be between 0 and 1");
  for (int64_t i = 0; i < n; i++) inside &= t[i] >= 0 && t[i] <= 1;
  check(inside, "all elements of target should be between 0 and 1");
  parallel_for(n, kGrain / 4, [&](int64_t b, int64_t e) {
    constexpr int w = Vec<T>::size;
    int64_t i = b;
    for (; i + w <= e; i += w) {
      Vec<T> x = Vec<T>::load(p + i), target = Vec<T>::load(t + i);
      Vec<T> left = log(x), right = log1p(-x);
      left = where(left < Vec<T>(floor), Vec<T>(floor), left), right = where(right < Vec<T>(floor), Vec<T>(floor), right);
      ((target - Vec<T>(1)) * right - target * left).store(y + i);
    }
    for (; i < e; i++) y[i] = (t[i] - 1) * std::max(std::log1p(-p[i]), floor) - t[i] * std::max(std::log(p[i]), floor);
  });
}

void binary_cross_entropy(const BinaryCrossEntropyForward&, Inputs in, Outputs out) {
  auto run = [&]<class T>(TypeTag<T>) {
    auto wide = [](const Tensor& t) { return t.dtype() == dtype_of<T>() ? row_major(t) : copied(t, Meta(t.sizes(), dtype_of<T>())); };
    Tensor p = wide(in[0]), t = wide(in[1]);
    bool direct = out[0].dtype() == dtype_of<T>();
    Tensor y = direct ? out[0] : empty(out[0].sizes(), dtype_of<T>());
    cross_entropy(p.data<T>(), t.data<T>(), y.data<T>(), p.numel());
    if (!direct) run_copy(y, out[0]);
  };
  if (in[0].dtype() == DType::float64) run(TypeTag<double>{});
  else run(TypeTag<float>{});
}

// Calls f(row, its first element) for all rows of (N, C), some at a time.
template <class F> void each_row(const Tensor& x, F f) {
  const int64_t classes = x.sizes()[1];
  parallel_for(x.sizes()[0], kGrain / std::max<int64_t>(classes, 1), [&](int64_t b, int64_t e) {
    for (int64_t row = b; row < e; row++) f(row, row * classes);
  });
}
template <class F> void of_precision(const Tensor& x, F f) {
  if (x.dtype() == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

// The label of each row, once all of them are known to be classes.
const int64_t* labels_of(const Tensor& target, int64_t classes) {
  const int64_t* labels = target.data<int64_t>();
  for (int64_t i = 0; i < target.numel(); i++) check(labels[i] >= 0 && labels[i] < classes, "multi_margin_loss: target out of range, expected 0 to ", classes - 1, ", got ", labels[i]);
  return labels;
}

void multi_margin(const MultiMarginOf& op, Inputs in, Outputs out) {
  const Tensor x = row_major(in[0]), target = row_major(in[1]), w = in[2] ? row_major(in[2]) : Tensor();
  const int64_t classes = x.sizes()[1], *labels = labels_of(target, classes);
  of_precision(x, [&]<class T>(TypeTag<T>) {
    each_row(x, [&](int64_t row, int64_t first) {
      const T* p = x.data<T>() + first;
      const int64_t label = labels[row];
      const T from = T(op.margin) - p[label];
      double sum = 0;
      for (int64_t k = 0; k < classes; k++) {
        const T z = from + p[k];
        sum += z > 0 && k != label ? double(op.squared ? z * z : z) : 0;
      }
      out[0].data<T>()[row] = T(sum * (w ? double(w.data<T>()[label]) : 1) / double(classes));
    });
  });
}

void multi_margin_backward(const MultiMarginBackward& op, Inputs in, Outputs out) {
  const Tensor dy = row_major(in[0]), x = row_major(in[1]), target = row_major(in[2]), w = in[3] ? row_major(in[3]) : Tensor();
  const int64_t classes = x.sizes()[1], *labels = labels_of(target, classes);
  of_precision(x, [&]<class T>(TypeTag<T>) {
    each_row(x, [&](int64_t row, int64_t first) {
      const T* p = x.data<T>() + first;
      T* g = out[0].data<T>() + first;
      const int64_t label = labels[row];
      const T from = T(op.margin) - p[label], scale = dy.data<T>()[row] * (w ? w.data<T>()[label] : T(1)) / T(classes);
      double sum = 0;
      for (int64_t k = 0; k < classes; k++) {
        const T z = from + p[k];
        g[k] = z > 0 && k != label ? (op.squared ? 2 * z * scale : scale) : T(0);
        sum += double(g[k]);
      }
      g[label] = T(-sum);
    });
  });
}

// Calls f(label) for the labels of a row, which end at its first -1, and marks them.
template <class F> void each_label(const int64_t* labels, int64_t classes, std::vector<char>& is_label, F f) {
  is_label.assign(size_t(classes), 0);
  int64_t n = 0;
  for (; n < classes && labels[n] >= 0; n++) is_label[size_t(labels[n])] = 1;
  for (int64_t k = 0; k < n; k++) f(labels[k]);
}
void check_labels(const Tensor& target, int64_t classes) {
  const int64_t* labels = target.data<int64_t>();
  for (int64_t i = 0; i < target.numel(); i++)
    check(labels[i] >= -1 && labels[i] < classes, "multilabel_margin_loss: argument 'target' is out of range, expected -1 to ", classes - 1, ", got ", labels[i]);
}

void multilabel_margin(const MultilabelMarginOf&, Inputs in, Outputs out) {
  const Tensor x = row_major(in[0]), target = row_major(in[1]);
  const int64_t classes = x.sizes()[1];
  check_labels(target, classes);
  of_precision(x, [&]<class T>(TypeTag<T>) {
    each_row(x, [&](int64_t row, int64_t first) {
      const T* p = x.data<T>() + first;
      std::vector<char> is_label;
      double sum = 0;
      each_label(target.data<int64_t>() + first, classes, is_label, [&](int64_t label) {
        const T from = 1 - p[label];
        for (int64_t k = 0; k < classes; k++) {
          const T z = from + p[k];
          sum += z > 0 && !is_label[size_t(k)] ? double(z) : 0;
        }
      });
      out[0].data<T>()[row] = T(sum / double(classes));
    });
  });
}

void multilabel_margin_backward(const MultilabelMarginBackward&, Inputs in, Outputs out) {
  const Tensor dy = row_major(in[0]), x = row_major(in[1]), target = row_major(in[2]);
  const int64_t classes = x.sizes()[1];
  check_labels(target, classes);
  of_precision(x, [&]<class T>(TypeTag<T>) {
    each_row(x, [&](int64_t row, int64_t first) {
      const T *p = x.data<T>() + first, scale = dy.data<T>()[row] / T(classes);
      T* g = out[0].data<T>() + first;
      std::fill_n(g, classes, T(0));
      std::vector<char> is_label;
      each_label(target.data<int64_t>() + first, classes, is_label, [&](int64_t label) {
        const T from = 1 - p[label];
        int64_t above = 0;
        for (int64_t k = 0; k < classes; k++) {
          const bool counts = from + p[k] > 0 && !is_label[size_t(k)];
          above += counts;
          g[k] += counts ? scale : T(0);
        }
        g[label] -= T(above) * scale;
      });
    });
  });
}

const bool bound = [] {
  set_kernel<MultiMarginOf, multi_margin>(DeviceType::cpu);
  set_kernel<MultiMarginBackward, multi_margin_backward>(DeviceType::cpu);
  set_kernel<MultilabelMarginOf, multilabel_margin>(DeviceType::cpu);
  set_kernel<MultilabelMarginBackward, multilabel_margin_backward>(DeviceType::cpu);
  set_kernel<BinaryCrossEntropyForward, binary_cross_entropy>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
