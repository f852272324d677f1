// Convolutions in double precision and of integers, which oneDNN has none of, as products of matrices: windows are written out as columns, as
// many at a time as the second-level cache holds.
#pragma once
#include <algorithm>

#include "framework/kernels/cpu/arithmetic.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kColumnNumbers = 1 << 16;
/// The dtypes that do it; number by number is for the others.
inline bool goes_by_columns(DType t) { return t == DType::float64 || t == DType::int64 || t == DType::int32; }
template <class F> void by_column_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else if (t == DType::int64) f(TypeTag<int64_t>{});
  else f(TypeTag<int32_t>{});
}

/// The windows of one image and group after another, some at a time. What is padding has columns of zeros, which are multiplied as PyTorch's are.
template <class T> class Columns {
 public:
  const int64_t images, groups, to, from, rows;  // a group's channels of the windows and of the places; numbers of a window

  /// `gathers`: the windows are read from a picture, which windows of one place each, all of them, are as it is.
  template <class Op> Columns(const Op& op, const Dims& w, const Dims& windows, const Dims& places, bool gathers)
      : images(windows[0]), groups(op.groups), to(w[0] / op.groups), from(w[1]), rows(w.product() / w[0]), axes_(axes_of(op, w, windows, places)), single_(gathers) {
    most_ = std::clamp<int64_t>(kColumnNumbers / rows, 1, axes_.windows());
    for (const WindowAxis& axis : {axes_.z, axes_.y, axes_.x}) single_ = single_ && axis.taps == 1 && axis.stride == 1 && axis.padding == 0 && axis.windows == axis.places;
    apart_ = most_;
    if (!single_) columns_ = empty(Dims{rows, most_}, dtype_of<T>());
  }

  /// f(image times groups plus group) with each of them, as often as it takes to come through its windows.
  template <class F> void each(F&& f) {
    for (int64_t part = 0; part < images * groups; part++)
      for (begin_ = 0; begin_ < axes_.windows(); begin_ = end_) {
        end_ = std::min(begin_ + most_, axes_.windows());
        f(part);
      }
  }
  Tensor columns() const { return alias(columns_, Dims{rows, end_ - begin_}, Dims{apart_, 1}, columns_->offset); }
  Tensor turned() const { return alias(columns_, Dims{end_ - begin_, rows}, Dims{1, apart_}, columns_->offset); }
  /// Of a tensor that has a number for each window: those of the channels of a part.
  Tensor at_windows(const Tensor& y, int64_t part) const {
    return alias(y, Dims{to, end_ - begin_}, Dims{axes_.windows(), 1}, y->offset + part * to * axes_.windows() + begin_);
  }
  Tensor weight(const Tensor& w, int64_t part) const { return alias(w, Dims{to, rows}, Dims{rows, 1}, w->offset + part % groups * to * rows); }

  void gather(const Tensor& x, int64_t part) {
    if (single_) {  // the picture itself
      columns_ = alias(x, Dims{rows, end_ - begin_}, Dims{axes_.places(), 1}, x->offset + part * from * axes_.places() + begin_);
      apart_ = axes_.places();
      return;
    }
    const T* const image = x.data<T>() + part * from * axes_.places();
    parallel_for(rows, kGrain / (end_ - begin_), [&](int64_t b, int64_t e) {
      for (int64_t row = b; row < e; row++) {
        T* const column = columns_.data<T>() + row * most_;
        const T* const channel = image + row / axes_.taps() * axes_.places();
        std::fill_n(column, end_ - begin_, T(0));
        for_runs(row % axes_.taps(), [&](int64_t place, int64_t at, int64_t n) {
          for (int64_t k = 0; k < n; k++) column[at + k] = channel[place + k * axes_.x.stride];
        });
      }
    });
  }
  void spread(const Tensor& x, int64_t part) {
    T* const image = x.data<T>() + part * from * axes_.places();
    parallel_for(from, kGrain / (axes_.taps() * (end_ - begin_)), [&](int64_t b, int64_t e) {
      for (int64_t row = b * axes_.taps(); row < e * axes_.taps(); row++) {
        const T* const column = columns_.data<T>() + row * most_;
        T* const channel = image + row / axes_.taps() * axes_.places();
        for_runs(row % axes_.taps(), [&](int64_t place, int64_t at, int64_t n) {
          for (int64_t k = 0; k < n; k++) channel[place + k * axes_.x.stride] += column[at + k];
        });
      }
    });
  }

 private:
  WindowAxes axes_;
  bool single_;
  Tensor columns_;
  int64_t most_, apart_ = 0, begin_ = 0, end_ = 0;

  /// f(place, column, count) for the windows at hand whose position `tap` lies on the picture.
  template <class F> void for_runs(int64_t tap, F&& f) const {
    axes_.for_rows(tap, begin_ / axes_.x.windows, (end_ - 1) / axes_.x.windows + 1, [&](int64_t place, int64_t at, int64_t n) {
      const int64_t first = std::max(at, begin_), last = std::min(at + n, end_);
      if (first < last) f(place + (first - at) * axes_.x.stride, first - begin_, last - first);
    });
  }
};

/// f(a row-major tensor to fill), which becomes `out`.
template <class F> void in_rows(const Tensor& out, F&& f) {
  const Tensor y = out.is_contiguous() ? out : empty(out.sizes(), out.dtype());
  f(y);
  if (!out.is_contiguous()) run_copy(y, out);
}

template <class Op> void fill_by_columns(const Op& op, const Tensor& image, const Tensor& weight, const Tensor& out) {
  const Tensor x = row_major(image), w = row_major(weight);
  by_column_type(out.dtype(), [&]<class T>(TypeTag<T>) {
    Columns<T> windows(op, w.sizes(), out.sizes(), x.sizes(), true);
    in_rows(out, [&](const Tensor& y) {
      windows.each([&](int64_t part) {
        windows.gather(x, part);
        gemm(windows.weight(w, part), windows.columns(), Tensor(), windows.at_windows(y, part));
      });
    });
  });
}
template <class Op> void spread_by_columns(const Op& op, const Tensor& grad, const Tensor& weight, const Tensor& out) {
  const Tensor dy = row_major(grad), w = row_major(weight);
  by_column_type(out.dtype(), [&]<class T>(TypeTag<T>) {
    Columns<T> windows(op, w.sizes(), dy.sizes(), out.sizes(), false);
    in_rows(out, [&](const Tensor& dx) {
      std::fill_n(dx.data<T>(), dx.numel(), T(0));
      windows.each([&](int64_t part) {
        const Tensor of = windows.weight(w, part);
        gemm(alias(of, Dims{windows.rows, windows.to}, Dims{1, windows.rows}, of->offset), windows.at_windows(dy, part), Tensor(), windows.columns());
        windows.spread(dx, part);
      });
    });
  });
}
template <class Op> void sum_by_columns(const Op& op, const Tensor& image, const Tensor& grad, const Tensor& out) {
  const Tensor x = row_major(image), dy = row_major(grad), product = empty(Dims{out.sizes()[0] / op.groups, out.numel() / out.sizes()[0]}, out.dtype());
  by_column_type(out.dtype(), [&]<class T>(TypeTag<T>) {
    Columns<T> windows(op, out.sizes(), dy.sizes(), x.sizes(), true);
    in_rows(out, [&](const Tensor& dw) {
      std::fill_n(dw.data<T>(), dw.numel(), T(0));
      windows.each([&](int64_t part) {
        windows.gather(x, part);
        gemm(windows.at_windows(dy, part), windows.turned(), Tensor(), product);
        const Tensor sum = windows.weight(dw, part);
        add(sum, product, sum);
      });
    });
  });
}

}  // namespace WEIR_ISA
}  // namespace weir
