#include "framework/ops/norm.h"

#include <algorithm>
#include <cmath>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/affine.h"
#include "framework/kernels/cpu/batch_norm.h"
#include "framework/kernels/cpu/channel_planes.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/norm_rows.h"
#include "framework/kernels/cpu/numbers.h"
#include "framework/kernels/cpu/registers.h"
#include "framework/kernels/cpu/widths.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// ---- layer norm: rows of `width` numbers ---------------------------------------------------------------------------

// A row of numbers less m, times k, with weights and biases where there are weights.
template <class A> void normalise_row(const A* p, A* y, int64_t width, A m, A k, const A* weight, const A* bias) {
  if (!weight) {
#pragma omp simd
    for (int64_t i = 0; i < width; i++) y[i] = (p[i] - m) * k + A(0);  // no zero is negative, as with a bias
  } else {
#pragma omp simd
    for (int64_t i = 0; i < width; i++) y[i] = (p[i] - m) * k * weight[i] + bias[i];
  }
}

void layer_norm(const LayerNormForward& op, Inputs in, Outputs out) {
  int64_t width = op.normalized_shape.product();
  if (out[0].numel() == 0)  // the mean of nothing is 0 here, as in PyTorch
    return write(out[1], Scratch<double>(out[1].numel(), 0)), write(out[2], Scratch<double>(out[2].numel(), std::nan("")));
  Tensor x = row_major(in[0]);
  const bool plain = !in[1] && !in[2];
  const int64_t weights = plain ? 0 : width;
  by_count(x.dtype(), width, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    const Scratch<A> wa = row_of<A>(in[1], weights, A(1)), ba = row_of<A>(in[2], weights, A(0));
    const int64_t some = std::clamp<int64_t>(kLine / width, 1, kRows);  // rows that are converted at once
    parallel_for(x.numel() / width, kGrain / width, [&](int64_t begin, int64_t end) {
      const size_t buffered = std::is_same_v<T, A> ? 0 : size_t(some * width);
      Scratch<A> bx(buffered), by(buffered);
      A means[kRows], scales[kRows];
      for (int64_t r = begin, rows; r < end; r += rows) {
        rows = std::min(some, end - r);
        T* to = out[0].data<T>() + r * width;
        const A *p = widen<T, A>(x.data<T>() + r * width, bx.data(), rows * width), *pw = wa.data(), *pb = ba.data();
        A *results = target<T, A>(to, by.data()), *y = results;
        for (int64_t i = 0; i < rows; i++, p += width, y += width) {
          const auto [m, k] = row_statistics(p, width, op.eps);
          normalise_row(p, y, width, m, k, plain ? nullptr : pw, pb);
          means[i] = m, scales[i] = k;
        }
        narrow<T, A>(to, results, rows * width);
        put_all(out[1], r, means, rows), put_all(out[2], r, scales, rows);
      }
    });
  });
}

void layer_norm_backward(const LayerNormBackward& op, Inputs in, Outputs out) {
  const Tensor& given = in[1];
  int64_t width = 1;
  for (int i = given.ndim() - int(op.normalized_ndim); i < given.ndim(); i++) width *= given.sizes()[i];
  const int64_t rows = width ? out[0].numel() / width : 0, summed = op.parameters ? 2 * width : 0;  // the gradients of weight and bias side by side
  Scratch<double> sums(size_t(summed), 0.0);
  auto write_sums = [&] {
    for (int k = 0; k < 2 && op.parameters && width; k++) convert(DType::float64, sums.data() + k * width, 1, out[1 + k].dtype(), out[1 + k].raw(), 1, width);
  };
  if (!rows) return write_sums();
  Tensor dy = flat(in[0]), x = flat(given);
  by_count(x.dtype(), width, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    const Scratch<A> mean = row_of<A>(in[2], rows, A(0)), rstd = row_of<A>(in[3], rows, A(1)), wa = row_of<A>(in[4], width, A(1));
    Shares shares;
    parallel_for(rows, kGrain / width, [&](int64_t begin, int64_t end) {
      const size_t buffered = std::is_same_v<T, A> ? 0 : size_t(width);
      Scratch<A> some(size_t(summed), A(0)), bx(buffered), bg(buffered), bo(buffered);
      Scratch<double> total(size_t(summed), 0.0);
      for (int64_t r = begin; r < end; r++) {
        const A *p = widen<T, A>(x.data<T>() + r * width, bx.data(), width), *g = widen<T, A>(dy.data<T>() + r * width, bg.data(), width);
        A* dx = target<T, A>(out[0].data<T>() + r * width, bo.data());
        std::pair<A, A> known{mean[size_t(r)], rstd[size_t(r)]};
        const auto [one, two] = width > kShortRow ? known : row_statistics(p, width, op.eps);  // what was saved has float32's digits
        const A m = one, k = two, *pw = wa.data();
        const Vec<A> center(m), scale(k);
        Vec<A> a(0), b(0);
        if (op.parameters) {
          A *sw = some.data(), *sb = sw + width;
#pragma omp simd
          for (int64_t i = 0; i < width; i++) sw[i] += g[i] * ((p[i] - m) * k), sb[i] += g[i];
        }
        for_registers<A>(width, [&](int64_t i, int count) {
          const Vec<A> u = load(g + i, count) * load(pw + i, count);
          a = a + u, b = b + u * ((load(p + i, count) - center) * scale);
        });
        const Vec<A> of_mean(sum_lanes(a) / A(width)), of_scale(sum_lanes(b) / A(width));
        for_registers<A>(width, [&](int64_t i, int count) {
          const Vec<A> u = load(g + i, count) * load(pw + i, count), h = (load(p + i, count) - center) * scale;
          store(scale * (u - of_mean - h * of_scale), dx + i, count);
        });
        narrow<T, A>(out[0].data<T>() + r * width, dx, width);
        if ((r - begin) % kRows == kRows - 1 || r == end - 1)
          for (int64_t i = 0; i < summed; i++) total[i] += some[i], some[i] = 0;
      }
      shares.add(begin, std::move(total));
    });
    shares.join(sums.data(), summed);
  });
  write_sums();
}

// ---- group norm: rows of channels that have their own weights, of `each` numbers -----------------------------------

struct Groups {
  int64_t rows, groups, channels, each, width;  // channels: of one group
  Groups(const Tensor& x, int64_t groups) : rows(x.sizes()[0] * groups), groups(groups), channels(x.sizes()[1] / groups), each(x.numel() / (rows * channels)), width(channels * each) {}
  int64_t channel(int64_t row, int64_t d) const { return row % groups * channels + d; }
};

// A number of each group, for all of its channels.
template <class A> Scratch<A> by_group(const Groups& s, const double* of_groups) {
  Scratch<A> r(size_t(s.groups * s.channels));
  for (size_t c = 0; c < r.size(); c++) r[c] = A(of_groups[c / s.channels]);
  return r;
}
// One image of a batch.
Tensor image_of(const Tensor& t, int64_t i) {
  Dims sizes = t.sizes();
  sizes[0] = 1;
  return alias(t, sizes, t.strides(), t->offset + i * t.strides()[0]);
}

// Channels-last images, one after the other: their channels lie side by side, whatever their groups.
template <class T, class A>
void group_images(const Tensor& x, const Groups& s, double eps, const Scratch<double>& w, const Scratch<double>& b, double* mean, double* rstd, const Tensor& out) {
  const int64_t C = s.groups * s.channels;
  Scratch<double> sums, squares, none;
  for (int64_t i = 0; i < x.sizes()[0]; i++, mean += s.groups, rstd += s.groups) {
    const Tensor image = image_of(x, i);
    const ChannelPlanes p(image);
    auto over_groups = [&](const Scratch<double>& of_channels, double* means) {
      std::fill_n(means, s.groups, 0.0);
      for (int64_t c = 0; c < C; c++) means[c / s.channels] += of_channels[c] / double(s.width);
    };
    Scratch<A> origin(C);  // rows of nearly equal numbers keep their digits
    for (int64_t c = 0; c < C; c++) {
      const A first = A(image.data<T>()[c / s.channels * s.channels]);
      origin[c] = std::isfinite(double(first)) ? first : A(0);
    }
    channel_sums<T, A>(p, origin, image.data<T>(), Itself(), sums, none, [](auto k, auto v, auto, auto& sum, auto&) { sum = sum + (v - k); });
    over_groups(sums, mean);
    for (int64_t g = 0; g < s.groups; g++) mean[g] += double(origin[g * s.channels]);
    const Scratch<A> center = by_group<A>(s, mean);
    channel_sums<T, A>(p, center, image.data<T>(), Itself(), squares, none, [](auto k, auto v, auto, auto& sum, auto&) { sum = sum + (v - k) * (v - k); });
    over_groups(squares, rstd);
    for (int64_t g = 0; g < s.groups; g++) {
      if (std::isnan(rstd[g])) mean[g] = rstd[g];  // of infinite numbers, as in PyTorch
      rstd[g] = 1 / std::sqrt(rstd[g] + eps);
    }
    const Scratch<A> m = p.along(by_group<A>(s, mean)), k = p.along(by_group<A>(s, rstd)), pw = p.along(Scratch<A>(w.begin(), w.end())),
                         pb = p.along(Scratch<A>(b.begin(), b.end()));
    const A *c = m.data(), *scale = k.data(), *weight = pw.data(), *bias = pb.data();
    bool finite = true;
    for (size_t j = 0; j < k.size(); j++) finite &= std::isfinite(scale[j] * weight[j]);
    T* to = image_of(out, i).template data<T>();
    using V = Vec<A>;
    if (finite) channel_map<T, A>(p, image.data<T>(), nullptr, to, [=](auto at, V v, V) { return (v - at(c)) * at(scale) * at(weight) + at(bias); });
    else channel_map<T, A>(p, image.data<T>(), nullptr, to, [=](auto at, V v, V) {
      const V factor = at(scale) * at(weight);
      return where(abs(factor) <= largest(factor), (v - at(c)) * at(scale) * at(weight) + at(bias), v * factor + (at(bias) - at(c) * factor));  // NaN as PyTorch's are
    });
  }
}

// Its gradient; `sums` and `dots`: of each channel of each image, dy and dy * xhat.
template <class T, class A>
void group_images_backward(const Tensor& x, const Tensor& dy, const Groups& s, const Scratch<double>& w, const double* mean, const double* rstd, double* sums,
                           double* dots, const Tensor& dx) {
  const int64_t C = s.groups * s.channels;
  Scratch<double> sum, dot;
  for (int64_t i = 0; i < x.sizes()[0]; i++, mean += s.groups, rstd += s.groups, sums += C, dots += C) {
    const Tensor image = image_of(x, i), grad = image_of(dy, i);
    const ChannelPlanes p(image);
    const Scratch<A> center = by_group<A>(s, mean);
    channel_sums<T, A>(p, center, image.data<T>(), InMemory<T>{grad.data<T>()}, sum, dot, [](auto k, auto v, auto g, auto& first, auto& second) {
      first = first + g, second = second + g * (v - k);
    });
    Scratch<double> shift(s.groups, 0), slope(s.groups, 0);  // means over the group of g = dy * w, and of g * xhat
    for (int64_t c = 0; c < C; c++) {
      const int64_t g = c / s.channels;
      sums[c] = sum[c], dots[c] = dot[c] * double(A(rstd[g]));
      shift[g] += w[c] * sums[c] / double(s.width), slope[g] += w[c] * dots[c] / double(s.width);
    }
    const Scratch<A> m = p.along(center), k = p.along(by_group<A>(s, rstd)), pw = p.along(Scratch<A>(w.begin(), w.end())), a = p.along(by_group<A>(s, shift.data())),
                         b = p.along(by_group<A>(s, slope.data()));
    const A *c = m.data(), *scale = k.data(), *weight = pw.data(), *of_mean = a.data(), *of_scale = b.data();
    channel_map<T, A>(p, image.data<T>(), grad.data<T>(), image_of(dx, i).template data<T>(),
                      [=](auto at, Vec<A> v, Vec<A> g) { return at(scale) * (g * at(weight) - at(of_mean) - (v - at(c)) * at(scale) * at(of_scale)); });
  }
}

// A row whose channels are one number each, as the loop over channels has it.
template <class A> void scale_each(const A* p, A center, A scale, const double* w, const double* b, int64_t n, A* y) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const A pw = A(w[i]), pb = A(b[i]), factor = scale * pw;
    y[i] = std::isfinite(factor) ? (p[i] - center) * scale * pw + pb : p[i] * factor + (pb - center * factor);
  }
}
// The same of sums and products of a gradient, whose weighted means are a and b.
template <class A> void sum_each(const A* p, const A* g, A center, A scale, const double* w, int64_t n, double* sums, double* dots, double& a, double& b) {
  const double width = double(n);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) sums[i] = double(g[i]), dots[i] = double(g[i] * (p[i] - center)) * double(scale);
  for (int64_t i = 0; i < n; i++) a += w[i] * sums[i] / width, b += w[i] * dots[i] / width;
}
template <class A> void slope_each(const A* p, const A* g, A center, A scale, A shift, A slope, const double* w, int64_t n, A* to) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) to[i] = scale * (g[i] * A(w[i]) - shift - (p[i] - center) * scale * slope);
}

void group_norm(const GroupNormForward& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return write(out[1], Scratch<double>(out[1].numel(), 0)), write(out[2], Scratch<double>(out[2].numel(), 0));
  if (!out[0].is_contiguous()) {
    const Groups s(in[0], op.num_groups);
    const Scratch<double> w = numbers(flat(in[1]), in[0].sizes()[1], 1), b = numbers(flat(in[2]), in[0].sizes()[1], 0);
    Scratch<double> mean(s.rows), rstd(s.rows);
    by_count(in[0].dtype(), s.width, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) { group_images<T, A>(in[0], s, op.eps, w, b, mean.data(), rstd.data(), out[0]); });
    return write(out[1], mean), write(out[2], rstd);
  }
  const Tensor x = row_major(in[0]);
  const Groups s(x, op.num_groups);
  const bool plain = !in[1] && !in[2];  // then a group is one channel
  const int64_t channels = plain ? 1 : s.channels, each = plain ? s.width : s.each;
  const Scratch<double> w = numbers(flat(in[1]), x.sizes()[1], 1), b = numbers(flat(in[2]), x.sizes()[1], 0);
  Scratch<double> mean(s.rows), rstd(s.rows);
  by_count(x.dtype(), s.width, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    parallel_for(s.rows, kGrain / s.width, [&](int64_t begin, int64_t end) {
      const size_t buffered = std::is_same_v<T, A> ? 0 : size_t(s.width);
      Scratch<A> bx(buffered), by(buffered);
      for (int64_t r = begin; r < end; r++) {
        const A* p = widen<T, A>(x.data<T>() + r * s.width, bx.data(), s.width);
        A* y = target<T, A>(out[0].data<T>() + r * s.width, by.data());
        const auto [m, k] = row_statistics(p, s.width, op.eps);
        mean[r] = double(m), rstd[r] = double(k);
        const A center = m, scale = k;
        const int64_t c = s.channel(r, 0);
        if (each == 1) scale_each(p, center, scale, w.data() + c, b.data() + c, s.width, y);
        else for (int64_t d = 0; d < channels; d++) {
          const A pw = A(w[s.channel(r, d)]), pb = A(b[s.channel(r, d)]);
          const A factor = scale * pw, shift = pb - center * factor;
          if (!std::isfinite(factor)) for (int64_t i = d * each; i < (d + 1) * each; i++) y[i] = p[i] * factor + shift;  // NaN as PyTorch's are
          else
#pragma omp simd
          for (int64_t i = d * each; i < (d + 1) * each; i++) y[i] = (p[i] - center) * scale * pw + pb;
        }
        narrow<T, A>(out[0].data<T>() + r * s.width, y, s.width);
      }
    });
  });
  write(out[1], mean), write(out[2], rstd);
}

void group_norm_backward(const GroupNormBackward& op, Inputs in, Outputs out) {
  const int64_t C = out[1].numel();
  Scratch<double> dw(C, 0), db(C, 0);
  if (out[0].numel() == 0) return write(out[1], dw), write(out[2], db);
  const Groups s(in[1], op.num_groups);
  const bool last = !out[0].is_contiguous() && s.width > kShortRow;
  const Tensor x = last ? in[1] : row_major(in[1]), dy = in[0].dtype() == x.dtype() && in[0].strides() == x.strides() ? in[0] : copied(in[0], x.meta());
  const Tensor dx = last || out[0].is_contiguous() ? out[0] : empty(x.meta());
  const Scratch<double> mean = numbers(flat(in[2]), s.rows, 0), rstd = numbers(flat(in[3]), s.rows, 1), w = numbers(flat(in[4]), C, 1);
  Scratch<double> dots(s.rows * s.channels, 0), sums(s.rows * s.channels, 0);  // of each channel of each row: dy * xhat, and dy
  by_count(x.dtype(), s.width, [&]<class T, class A>(TypeTag<T>, TypeTag<A>) {
    if (last) return group_images_backward<T, A>(x, dy, s, w, mean.data(), rstd.data(), sums.data(), dots.data(), dx);
    parallel_for(s.rows, kGrain / s.width, [&](int64_t begin, int64_t end) {
      const size_t buffered = std::is_same_v<T, A> ? 0 : size_t(s.width);
      Scratch<A> bx(buffered), bg(buffered), bo(buffered);
      for (int64_t r = begin; r < end; r++) {
        const A *p = widen<T, A>(x.data<T>() + r * s.width, bx.data(), s.width), *g = widen<T, A>(dy.data<T>() + r * s.width, bg.data(), s.width);
        A* to = target<T, A>(dx.data<T>() + r * s.width, bo.data());
        const std::pair<A, A> known{A(mean[r]), A(rstd[r])};
        const auto [m, k] = s.width > kShortRow ? known : row_statistics(p, s.width, op.eps);  // what was saved has float32's digits
        const A center = m, scale = k;
        double a = 0, b = 0;  // means over the row of g = dy * w, and of g * xhat
        const int64_t c = s.channel(r, 0), at = r * s.channels;
        if (s.each == 1) sum_each(p, g, center, scale, w.data() + c, s.width, sums.data() + at, dots.data() + at, a, b);
        else for (int64_t d = 0; d < s.channels; d++) {
          double &sum = sums[r * s.channels + d], &dot = dots[r * s.channels + d];
          for (int64_t i = 0; i < s.each; i += kTile)
            line_sums(center, p + d * s.each + i, g + d * s.each + i, std::min(kTile, s.each - i), sum, dot,
                      [](auto c, auto v, auto h, auto& first, auto& second) { first = first + h, second = second + h * (v - c); });
          dot *= double(scale);
          a += w[s.channel(r, d)] * sum / double(s.width), b += w[s.channel(r, d)] * dot / double(s.width);
        }
        const A shift = A(a), slope = A(b);
        if (s.each == 1) slope_each(p, g, center, scale, shift, slope, w.data() + c, s.width, to);
        else for (int64_t d = 0; d < s.channels; d++) {
          const A pw = A(w[s.channel(r, d)]);
#pragma omp simd
          for (int64_t i = d * s.each; i < (d + 1) * s.each; i++) to[i] = scale * (g[i] * pw - shift - (p[i] - center) * scale * slope);
        }
        narrow<T, A>(dx.data<T>() + r * s.width, to, s.width);
      }
    });
  });
  if (!same_layout(dx.sizes(), dx.strides(), out[0].strides())) run_copy(dx, out[0]);
  for (int64_t r = 0; r < s.rows; r++)
    for (int64_t d = 0; d < s.channels; d++) dw[s.channel(r, d)] += dots[r * s.channels + d], db[s.channel(r, d)] += sums[r * s.channels + d];
  write(out[1], dw), write(out[2], db);
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<BatchNormForward, batch_norm>(cpu);
  set_kernel<BatchNormRelu, batch_norm_relu>(cpu);
  set_kernel<BatchNormApply, batch_norm_apply>(cpu);
  set_kernel<BatchNormStatistics, batch_norm_statistics>(cpu);
  set_kernel<BatchNormBackward, batch_norm_backward>(cpu);
  set_kernel<BatchNormReluBackward, batch_norm_relu_backward>(cpu);
  set_kernel<BatchNormSumReluBackward, batch_norm_sum_relu_backward>(cpu);
  set_kernel<LayerNormForward, layer_norm>(cpu);
  set_kernel<LayerNormBackward, layer_norm_backward>(cpu);
  set_kernel<GroupNormForward, group_norm>(cpu);
  set_kernel<GroupNormBackward, group_norm_backward>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
