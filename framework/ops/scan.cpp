#include "framework/ops/scan.h"

#include <algorithm>
#include <limits>

#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// The logarithm that stands for that of zero: finite, so that what is subtracted from it stays a number.
double lowest(DType t) {
  return t == DType::float64 ? std::numeric_limits<double>::lowest() : t == DType::float16 ? -65504.0 : t == DType::bfloat16 ? -3.3895313892515355e38
         : double(std::numeric_limits<float>::lowest());
}

// The same from the other end.
Tensor reverse_logcumsumexp(const Tensor& x, int64_t dim) {
  return flip_of(fn::logcumsumexp(flip_of(x, Dims{dim}), dim), Dims{dim});
}

struct Neighbours {
  Tensor later, earlier;
  Neighbours(const Tensor& x, int64_t dim) {
    int64_t n = x.size(dim), kept = std::max<int64_t>(n - 1, 0);
    later = fn::narrow(x, dim, n - kept, kept);
    earlier = fn::narrow(x, dim, int64_t(0), kept);
  }
};

int checked_dim(const char* op, const Tensor& y, int64_t dim) {
  check<IndexError>(y.ndim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, y.ndim(), op);
}

void check_numbers(const char* op, const Tensor& t, const char* name) {
  check(t.dtype() != DType::boolean, op, ": received a bool input for `", name, "`, but bool is not supported");
}

Tensor step_of(const char* op, const Tensor& y, const Scalar& dx, double share = 1) {
  check_numbers(op, y, "y");
  check(!is_complex(dx.dtype()) && dx.kind != Scalar::Kind::boolean, op, ": Currently, we only support dx as a real number.");
  return wrapped_number(share == 1 ? dx : Scalar(dx.to_double() * share), y.device());
}

// The widths between the points x, laid along axis d of y.
Tensor widths(const char* op, const Tensor& y, Tensor x, int d) {
  check_numbers(op, y, "y");
  check_numbers(op, x, "x");
  if (x.ndim() == 1) {
    check(x.sizes()[0] == y.sizes()[d], op, ": There must be one `x` value for each sample point");
    Dims sizes(y.ndim(), 1);
    sizes[d] = x.sizes()[0];
    x = fn::reshape(x, sizes);
  } else if (x.ndim() < y.ndim()) {
    Dims sizes(y.ndim() - x.ndim(), 1);
    for (int64_t s : x.sizes()) sizes.push(s);
    x = fn::reshape(x, sizes);
  }
  Neighbours n(x, int64_t(d));  // counted from the front also where x has more axes, as in PyTorch
  return n.later - n.earlier;
}

Tensor heights(const Tensor& y, int d) {
  Neighbours n(y, int64_t(d));
  return n.later + n.earlier;
}

Tensor nothing(const Tensor& y, int d) {
  Dims sizes = y.sizes();
  sizes.erase(d);
  return zeros_of(Meta(sizes, y.dtype(), y.device()));
}

}  // namespace

Meta Logcumsumexp::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "logcumsumexp");
  check<NotImplemented>(is_inexact(in[0].dtype()), "\"logcumsumexp_out_cpu\" not implemented for '", name_of(in[0].dtype()), "'");
  return {in[0].sizes(), in[0].dtype(), in[0].device()};
}

Meta CumprodBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }
Meta ProdBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }

// Source: PyTorch's logcumsumexp_backward: logarithms of the gradient's positive and negative parts, so that no term overflows.
Tensors Logcumsumexp::vjp(const Saved& s, const Tensor& dy) const {
  Tensor x = s.input(0), y = s.output();
  if (x.numel() == 0 || x.ndim() == 0) return {dy};
  auto part = [&](const Tensor& log_gradient) { return fn::exp(reverse_logcumsumexp(log_gradient - y, dim) + x); };
  if (is_complex(x.dtype())) return {part(fn::log(dy))};
  Tensor magnitude = fn::log(fn::abs(dy));
  double none = lowest(dy.dtype());
  return {part(fn::where(dy > 0.0, magnitude, none)) - part(fn::where(dy < 0.0, magnitude, none))};
}

// Source: PyTorch's diff_out, which copies x itself into one of its dtype, and else subtracts parts of two axes of which the second begins at 1.
void Diff::take_out(Inputs in, const Tensor& out) const {
  const Tensor& x = in[0];
  if (x.ndim() == 0 || n < 0) return;  // refused anyway
  if (n == 0) {
    check(out.dtype() == x.dtype(), "expected scalar_type ", name_of(x.dtype()), " but found ", name_of(out.dtype()));
    return shape_out(out, Meta(x.sizes(), x.dtype()));
  }
  const int64_t d = wrap_dim(dim, x.ndim(), "diff");
  auto length = [&](const Tensor& t) { return t && t.ndim() == x.ndim() ? t.size(d) : 0; };
  check<IndexError>(length(in[1]) + length(x) + length(in[2]) > 0, "start out of range (expected to be in range of [0, 0], but got 1)");
}
Tensor Diff::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 0, "diff expects input to be at least one-dimensional");
  check(n >= 0, "order must be non-negative but got ", n);
  if (n == 0 && !in[1] && !in[2]) return fn::clone(x);  // whatever dim is
  int64_t d = wrap_dim(dim, x.ndim(), "diff");
  Tensors parts;
  for (const Tensor& t : {in[1], x, in[2]})
    check(!t || t.ndim() == x.ndim(), "diff expects prepend or append to be the same dimension as input");
  for (const Tensor& t : {in[1], x, in[2]})
    if (t) parts.push_back(t);
  Tensor r = parts.size() > 1 ? cat_of(parts, d) : x;  // which raises for parts that do not fit
  if (n == 0) return fn::clone(x);                     // without the parts
  for (int64_t i = 0, most = std::min(n, r.size(d)); i < most; i++) {
    Neighbours both(r, d);
    r = r.dtype() == DType::boolean ? fn::logical_xor(both.later, both.earlier) : both.later - both.earlier;
  }
  return r;
}

Tensor TrapezoidX::compose(Inputs in) const {
  int d = checked_dim("trapezoid", in[0], dim);
  if (in[0].sizes()[d] == 0) return nothing(in[0], d);
  Tensor w = widths("trapezoid", in[0], in[1], d);
  return fn::sum(heights(in[0], d) * w, Dims{d}) / 2.0;
}
Tensor Trapezoid::compose(Inputs in) const {
  const Tensor& y = in[0];
  int64_t d = checked_dim("trapezoid", y, dim);
  if (y.sizes()[int(d)] == 0) return nothing(y, int(d));
  // One sum less half its ends, as PyTorch has it: infinities show the difference.
  Tensor ends = fn::select(y, d, int64_t(0)) + fn::select(y, d, int64_t(-1));
  return (fn::sum(y, Dims{d}) - ends * 0.5) * step_of("trapezoid", y, dx);
}
Tensor CumulativeTrapezoidX::compose(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "cumulative_trapezoid");
  check(in[0].dtype() != DType::boolean && in[1].dtype() != DType::boolean, "cumulative_trapezoid: received a bool input for `x` or `y`, but bool is not supported");
  int d = checked_dim("cumulative_trapezoid", in[0], dim);
  Tensor w = widths("cumulative_trapezoid", in[0], in[1], d);
  return fn::cumsum(heights(in[0], d) * w, int64_t(d)) / 2.0;
}
Tensor CumulativeTrapezoid::compose(Inputs in) const {
  check_numbers("cumulative_trapezoid", in[0], "y");
  int d = checked_dim("cumulative_trapezoid", in[0], dim);
  return fn::cumsum(heights(in[0], d) * step_of("cumulative_trapezoid", in[0], dx, 0.5), int64_t(d));
}

static const ScanOps::Registration ops;

}  // namespace weir
