#include "framework/ops/grid.h"

#include "framework/autograd/engine.h"
#include "framework/autograd/variable.h"
#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// Source of the order of checks: PyTorch's check_grid_sampler_common.
void check_grid(const Tensor& x, const Tensor& grid) {
  const char* op = "grid_sampler(): ";
  check(x.size(0) == grid.size(0), op, "expected grid and input to have same batch size, but got input with sizes ",
        x.sizes(), " and grid with sizes ", grid.sizes());
  check(grid.size(-1) == x.ndim() - 2, op, "expected grid to have size ", x.ndim() - 2, " in last dimension, but got grid with sizes ", grid.sizes());
  for (int i = 2; i < x.ndim(); i++)
    check(x.sizes()[i] > 0, op, "expected input to have non-empty spatial dimensions, but input has sizes ", x.sizes(), " with dimension ", i,
          " being empty");
}

void check_rank(const Tensor& x, const Tensor& grid, int rank) {
  check(x.ndim() == rank + 2 && grid.ndim() == rank + 2, "grid_sampler(): expected ", rank + 2,
        "D input and grid with same number of dimensions, but got input with sizes ", x.sizes(), " and grid with sizes ", grid.sizes());
}

// PyTorch's enums of modes hold 32 bits of what is given.
template <class Op> Tensor sampled(const Op& op, const Tensor& x, const Tensor& grid) {
  return fn::grid_sampler_forward(x, grid, int64_t(int32_t(op.interpolation_mode)), int64_t(int32_t(op.padding_mode)), op.align_corners);
}

// Sampling by ops, one tap of all places after the other: slow, and differentiable to any order.
class Parts {
 public:
  Parts(const GridSampleBackward& op, const Tensor& input) : op_(op), input_(input), rank_(input.ndim() - 2) {}

  Tensor sample(const Tensor& grid) const {
    Tensors at;
    for (int d = 0; d < rank_; d++) at.push_back(unnormalised(fn::select(grid, int64_t(-1), int64_t(rank_ - 1 - d)), d));
    if (op_.interpolation_mode == 2) return cubic(at);
    for (int d = 0; d < rank_; d++) at[d] = padded(at[d], d);
    Tensor sum;
    auto add = [&](const Tensor& t) { sum = sum ? sum + t : t; };
    if (op_.interpolation_mode == 1) {
      for (Tensor& x : at) x = fn::round(detach(x));
      return values(at, Tensor());
    }
    Tensors below;
    for (const Tensor& x : at) below.push_back(fn::floor(detach(x)));
    for (int corner = 0; corner < 1 << rank_; corner++) {
      Tensors index;
      Tensor weight;
      for (int d = 0; d < rank_; d++) {
        bool up = corner >> d & 1;
        Tensor side = up ? at[d] - below[d] : below[d] + 1.0 - at[d];
        weight = weight ? weight * side : side;
        index.push_back(up ? below[d] + 1.0 : below[d]);
      }
      add(values(index, weight));
    }
    return sum;
  }

 private:
  double size(int d) const { return double(input_.sizes()[d + 2]); }

  Tensor unnormalised(const Tensor& x, int d) const {
    return op_.align_corners ? (x + 1.0) / 2.0 * (size(d) - 1) : ((x + 1.0) * size(d) - 1.0) / 2.0;
  }
  Tensor padded(Tensor x, int d) const {
    if (op_.padding_mode != 1 && op_.padding_mode != 2) return x;
    if (op_.padding_mode == 2) {
      double low = op_.align_corners ? 0 : -0.5, span = op_.align_corners ? size(d) - 1 : size(d);
      Tensor distance = fn::abs(x - low), rest = fn::fmod(distance, num(span)), turns = fn::floor(detach(distance) / span);
      x = span == 0 ? x * 0.0 : fn::where(fn::eq(fn::fmod(turns, num(2.0)), num(0.0)), rest, span - rest) + low;
    }
    Tensor inside = fn::logical_and(x > 0.0, x < size(d) - 1);
    return fn::where(inside, x, fn::clamp(detach(x), Scalar(0.0), Scalar(size(d) - 1)));
  }
  // input's elements at whole places times `weight`, 0 outside. Shape: (N, C, *places).
  Tensor values(const Tensors& index, const Tensor& weight) const {
    Tensor inside, flat;
    for (int d = 0; d < rank_; d++) {
      Tensor within = fn::logical_and(index[d] >= 0.0, index[d] <= size(d) - 1);
      Tensor whole = cast_to(fn::where(within, index[d], 0.0), DType::int64);
      inside = inside ? fn::logical_and(inside, within) : within;
      flat = flat ? flat * num(input_.sizes()[d + 2]) + whole : whole;
    }
    int64_t n = input_.sizes()[0], channels = input_.sizes()[1], places = flat.numel() / n;
    Tensor rows = fn::expand(fn::reshape(flat, Dims{n, 1, places}), Dims{n, channels, places});
    Dims sizes = flat.sizes();
    sizes.insert(1, channels);
    Tensor picked = fn::reshape(gather_of(fn::reshape(input_, Dims{n, channels, input_.numel() / (n * channels)}), 2, rows), sizes);
    picked = fn::where(fn::unsqueeze(inside, int64_t(1)), picked, 0.0);
    return weight ? picked * fn::unsqueeze(weight, int64_t(1)) : picked;
  }
  Tensor cubic(const Tensors& at) const {
    constexpr double a = -0.75;  // PyTorch's parameter of Keys's kernel
    auto near = [](const Tensor& x) { return ((a + 2) * x - (a + 3)) * x * x + 1.0; };
    auto far = [](const Tensor& x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    Tensors below, weights[2];
    for (int d = 0; d < 2; d++) {
      below.push_back(fn::floor(detach(at[d])));
      Tensor t = at[d] - below[d];
      weights[d] = {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
    }
    Tensor sum;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        Tensors index{fn::round(padded(below[0] + double(i - 1), 0)), fn::round(padded(below[1] + double(j - 1), 1))};
        Tensor tap = values(index, weights[0][i] * weights[1][j]);
        sum = sum ? sum + tap : tap;
      }
    return sum;
  }

  const GridSampleBackward& op_;
  const Tensor& input_;
  int rank_;
};

}  // namespace

Meta GridSample::infer(Inputs in) const {
  const Tensor &x = in[0], &grid = in[1];
  check_grid(x, grid);
  check(interpolation_mode != 2 || x.ndim() == 4, "grid_sampler(): bicubic interpolation only supports 4D input");
  // As in PyTorch, whose loop over volumes reads zeros beside one where a padding is none that it knows; its loop over pictures writes nothing then.
  check((interpolation_mode >= 0 && interpolation_mode <= 2 && (x.ndim() == 5 || (padding_mode >= 0 && padding_mode <= 2))) || x.numel() == 0 || grid.numel() == 0,
        "grid_sampler(): expected modes from 0 to 2, got ", interpolation_mode, " and ", padding_mode);
  Dims sizes{x.sizes()[0], x.sizes()[1]};
  for (int i = 1; i + 1 < grid.ndim(); i++) sizes.push(grid.sizes()[i]);
  bool nothing = x.numel() == 0 || grid.numel() == 0;  // PyTorch looks at dtypes where there is something to sample only
  check<NotImplemented>(is_floating(x.dtype()) || (nothing && x.ndim() == 4), "\"grid_sampler_", x.ndim() - 2, "d_cpu_kernel_impl\" not implemented for '",
                        name_of(x.dtype()), "'");
  check(x.dtype() == grid.dtype() || nothing, "grid_sampler(): expected scalar type ", name_of(x.dtype()), " but found ", name_of(grid.dtype()));
  return {sizes, x.dtype(), x.device()};
}
Tensors GridSample::vjp(const Saved& s, const Tensor& dy) const {
  auto g = fn::grid_sampler_backward(dy, s.input(0), s.input(1), interpolation_mode, padding_mode, align_corners);
  return {g[0], g[1]};
}
std::array<Meta, 2> GridSampleBackward::infer(Inputs in) const {
  return {Meta(in[1].sizes(), in[1].dtype(), in[1].device()), Meta(in[2].sizes(), in[2].dtype(), in[2].device())};
}
Tensors GridSampleBackward::vjp(const Saved& s, const Tensor&) const {
  const bool further = mode.grad;
  Tensors given{s.input(0), s.input(1), s.input(2)}, r(3);
  if (given[0].numel() == 0) return {zeros_of(s.input_meta(0)), zeros_of(s.input_meta(1)), zeros_of(s.input_meta(2))};
  GradMode on(true);
  for (Tensor& t : given)
    if (!requires_grad(t)) set_requires_grad(t = detach(t), true);
  Tensor sampled = Parts(*this, given[1]).sample(given[2]);
  Tensors wanted, cotangents, asked;
  for (int i = 0; i < 2; i++)
    if (s.cotangent(i)) wanted.push_back(given[i + 1]), cotangents.push_back(s.cotangent(i));
  if (wanted.empty()) return r;
  Tensors first = backward({sampled}, {given[0]}, wanted, {.retain_graph = true, .create_graph = true, .accumulate = false});
  for (size_t i = first.size(); i-- > 0;)  // the nearest element does not change with the place
    if (!first[i] || !requires_grad(first[i])) first.erase(first.begin() + i), cotangents.erase(cotangents.begin() + i);
  for (int i = 0; i < 3; i++)
    if (s.needs(i)) asked.push_back(given[i]);
  if (first.empty()) return r;
  Tensors found = backward(first, cotangents, asked, {.retain_graph = true, .create_graph = further, .accumulate = false});
  for (int i = 0, k = 0; i < 3; i++)
    if (s.needs(i)) r[i] = found[k++];
  return r;
}

Tensor GridSampler::compose(Inputs in) const {
  check_grid(in[0], in[1]);
  check_rank(in[0], in[1], in[0].ndim() == 5 ? 3 : 2);
  return sampled(*this, in[0], in[1]);
}
Tensor GridSampler2d::compose(Inputs in) const {
  check_grid(in[0], in[1]);
  check_rank(in[0], in[1], 2);
  return sampled(*this, in[0], in[1]);
}
Tensor GridSampler3d::compose(Inputs in) const {
  check_grid(in[0], in[1]);
  check_rank(in[0], in[1], 3);
  return sampled(*this, in[0], in[1]);
}

Tensor AffineGrid::compose(Inputs in) const {
  const Tensor& theta = in[0];
  check(size.n == 4 || size.n == 5, "affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs.");
  const int rank = size.n - 2;
  const DType type = is_reduced(theta.dtype()) ? DType::float32 : theta.dtype();  // which autocast stacks as it is
  // The base grid holds a place per column and ones behind, the last axis first.
  Tensors columns;
  Dims places, line(rank, 1);
  for (int i = 0; i < rank; i++) places.push(size[i + 2]);
  for (int i = rank; i-- > 0;) {
    int64_t n = size[i + 2];
    check<NotImplemented>(n > 1 || !is_reduced(theta.dtype()), "affine_grid_generator: not implemented for an axis of one place in ", name_of(theta.dtype()));
    Tensor x = n > 1 ? fn::linspace(Scalar(int64_t(-1)), Scalar(int64_t(1)), n, type) : zeros_of(Meta(Dims{n}, type, theta.device()));
    if (n > 1 && !align_corners) x = x * num(n - 1) / num(n);
    Dims sizes = line;
    sizes[i] = n;
    columns.push_back(fn::expand(fn::reshape(cast_to(x, type), sizes), places));
  }
  columns.push_back(full_of(Meta(places, type, theta.device()), Scalar(int64_t(1))));
  Tensor base = fn::reshape(cast_to(fn::stack(columns, int64_t(-1)), theta.dtype()), Dims{1, places.product(), rank + 1});
  base = fn::expand(base, Dims{size[0], places.product(), rank + 1});
  Tensor grid = fn::bmm(base, fn::transpose(theta, int64_t(1), int64_t(2)));
  Dims sizes{size[0]};
  for (int64_t n : places) sizes.push(n);
  sizes.push(rank);
  return fn::reshape(grid, sizes);
}

static const GridOps::Registration ops;

}  // namespace weir
