#include "framework/ops/gradient.h"

#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/scan.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// The slopes at the first point, at those between the ends, and at the last point.
struct Parts {
  Tensor first, middle, last;
};

/// `length` samples along axis d from `start` on, which counts from the end where it is negative.
Tensor part(const Tensor& x, int64_t d, int64_t start, int64_t length = 1) {
  return fn::narrow(x, d, start < 0 ? start + x.size(d) : start, length);
}

// Two steps apart in the middle. A parabola would give the same for finite numbers only.
Parts even(const Tensor& x, int64_t d, const Tensor& step, int64_t edge_order) {
  const int64_t inner = x.size(d) - 2;
  Parts p;
  p.middle = (part(x, d, 2, inner) - part(x, d, 0, inner)) / step / 2.0;
  if (edge_order == 1) {
    p.first = (part(x, d, 1) - part(x, d, 0)) / step;
    p.last = (part(x, d, -1) - part(x, d, -2)) / step;
  } else {
    p.first = (-1.5 * part(x, d, 0) + 2.0 * part(x, d, 1) - 0.5 * part(x, d, 2)) / step;
    p.last = (0.5 * part(x, d, -3) - 2.0 * part(x, d, -2) + 1.5 * part(x, d, -1)) / step;
  }
  return p;
}

// The slope of the parabola through three neighbours. Signs and whole numbers stand where PyTorch has them: unsigned points
// wrap around.
Parts uneven(const Tensor& x, int64_t d, const Tensor& points, int64_t edge_order) {
  check(points.ndim() == 1, "torch.gradient expected each element of spacing to have one dimension, but got an element with ", points.ndim(),
        " dimensions!");
  Dims along(x.ndim(), 1);
  along[int(d)] = -1;
  const Tensor h = fn::diff(points, int64_t(1), int64_t(0));
  const int64_t inner = x.size(d) - 2, steps = h.size(0);
  auto width = [&](int64_t i) { return fn::select(h, int64_t(0), i); };
  const Tensor left = fn::slice(h, int64_t(0), int64_t(0), int64_t(-1)), right = fn::slice(h, int64_t(0), int64_t(1), steps);
  const Tensor a = fn::reshape(-right / (left * (left + right)), along), b = fn::reshape((right - left) / (left * right), along),
               c = fn::reshape(left / (right * (left + right)), along);
  Parts p;
  p.middle = a * part(x, d, 0, inner) + b * part(x, d, 1, inner) + c * part(x, d, 2, inner);
  if (edge_order == 1) {
    p.first = (part(x, d, 1) - part(x, d, 0)) / width(0);
    p.last = (part(x, d, -1) - part(x, d, -2)) / width(-1);
    return p;
  }
  Tensor near = width(0), far = width(1);
  p.first = -(2.0 * near + far) / (near * (near + far)) * part(x, d, 0) + (near + far) / (near * far) * part(x, d, 1) +
            -near / (far * (near + far)) * part(x, d, 2);
  near = width(-1), far = width(-2);
  p.last = near / (far * (near + far)) * part(x, d, -3) + -(near + far) / (near * far) * part(x, d, -2) +
           (num(int64_t(2)) * near + far) / (near * (near + far)) * part(x, d, -1);
  return p;
}

/// The axes, wrapped. Raises what PyTorch's pre_check_gradient raises, in its order; `given`: how many spacings there are.
Dims axes_of(const Slopes& op, const Tensor& x, std::optional<int64_t> given) {
  check(x.dtype() != DType::uint8, "torch.gradient does not support uint8 input.");
  const int64_t count = op.dim ? op.dim->n : x.ndim();
  check(!given || *given == count, "torch.gradient expected spacing to be unspecified, a scalar or a list of length ", count,
        ", but got a list of length ", given.value_or(0));
  check(op.edge_order == 1 || op.edge_order == 2, "torch.gradient only supports edge_order=1 and edge_order=2.");
  Dims axes;
  for (int64_t i = 0; i < count; i++) {
    int64_t d = op.dim ? wrap_dim((*op.dim)[int(i)], x.ndim(), "gradient") : i;
    check(!axes.contains(d), "dim ", d, " appears multiple times in the list of dims");
    axes.push(d);
  }
  for (int64_t d : axes) {
    check<IndexError>(x.ndim() > 0, "Dimension specified as ", d, " but tensor has no dimensions");
    check(x.size(d) >= op.edge_order + 1, "torch.gradient expected each dimension size to be at least edge_order+1");
  }
  return axes;
}

/// The slopes along each axis; parts(i, d) gives those along the i-th one.
template <class F> Tensors along_each(const Dims& axes, F&& parts) {
  Tensors results;
  for (int i = 0; i < axes.n; i++) {
    Parts p = parts(i, axes[i]);
    results.push_back(cat_of({p.first, p.middle, p.last}, axes[i]));
  }
  return results;
}

// By a number, slices keep the order of axes of the whole also where only one element is left of an axis; but sums of three of them, and what is
// made of a conjugate, forget it where that axis is the channels.
Tensor laid_out(const Tensor& slopes, const Tensor& x, bool forgets) {
  if (forgets || !suggests_channels_last(x.sizes(), x.strides())) return contiguous_of(slopes);
  if (is_channels_last(slopes.sizes(), slopes.strides())) return slopes;
  return fn::clone(slopes, x.ndim() == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d);
}

template <class F> Tensors by_steps(const Slopes& op, const Tensor& x, const Dims& axes, F&& step) {
  Tensors results = along_each(axes, [&](int i, int64_t d) { return even(x, d, step(i), op.edge_order); });
  for (int i = 0; i < axes.n; i++)
    if (x.size(axes[i]) > 2) results[size_t(i)] = laid_out(results[size_t(i)], x, axes[i] == 1 && (op.edge_order == 2 || x.has_flag(kConj)));
  return results;
}

}  // namespace

Tensors Gradient::compose(Inputs in) const {
  const Tensor step = wrapped_number(spacing.value_or(Scalar(1.0)));
  return by_steps(*this, in[0], axes_of(*this, in[0], {}), [&](int) { return step; });
}

Tensors GradientSteps::compose(Inputs in) const {
  return by_steps(*this, in[0], axes_of(*this, in[0], spacing.n), [&](int i) { return num(spacing[i]); });
}

Tensors GradientPoints::compose(Inputs in) const {
  const Tensor& x = in[0];
  Dims axes = axes_of(*this, x, int64_t(in.size()) - 1);
  return along_each(axes, [&](int i, int64_t d) { return uneven(x, d, in[size_t(i) + 1], edge_order); });
}

static const GradientOps::Registration ops;

}  // namespace weir
