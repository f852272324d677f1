#include "framework/ops/counting.h"

#include "framework/op/autocast.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

Meta counted(DType t, Device d) { return {Dims{0}, t, d}; }

// What is repeated, and along which axis.
std::pair<Tensor, int> along(const Tensor& x, std::optional<int64_t> dim) {
  if (!dim) return {fn::reshape(x, Dims{-1}), 0};
  check<IndexError>(x.ndim() > 0, "repeat_interleave: Dimension specified as ", *dim, " but tensor has no dimensions");
  return {x, wrap_dim(*dim, x.ndim(), "repeat_interleave")};
}

void check_repeats(const Tensor& repeats) {
  check<NotImplemented>(repeats.dtype() == DType::int64 || repeats.dtype() == DType::int32, "\"repeat_interleave_cpu\" not implemented for ",
                        name_of(repeats.dtype()));
}

}  // namespace

Meta Nonzero::infer(Inputs in) const { return counted(DType::int64, in[0].device()); }

std::array<Meta, 3> UniqueRows::infer(Inputs in) const {
  check(in[0].ndim() == 1 || in[0].ndim() == 2, "unique: expected a vector or a matrix, got ", in[0].sizes());
  check<NotImplemented>(!is_complex(in[0].dtype()), "unique: not implemented for ", name_of(in[0].dtype()));
  Meta index = counted(DType::int64, in[0].device());
  return {counted(in[0].dtype(), in[0].device()), index, index};
}

Tensors UniqueRows::vjp(const Saved&, const Tensor&) const {
  throw NotImplemented(str("the derivative for 'unique", consecutive ? "_consecutive" : "", "' is not implemented."));
}

Tensors Distinct::compose(Inputs in) const {
  const Tensor& x = in[0];
  check<NotImplemented>(!dim || !consecutive || !is_complex(x.dtype()), "unique_consecutive: with dim not implemented for ", name_of(x.dtype()));
  if (!dim) {
    auto [values, inverse, counts] = fn::unique_rows(fn::reshape(x, Dims{-1}), consecutive, return_inverse, return_counts);
    return {values, return_inverse ? fn::reshape(inverse, x.sizes()) : inverse, counts};
  }
  check<IndexError>(x.ndim() > 0, "unique: Dimension specified as ", *dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(*dim, x.ndim(), "unique");
  int64_t columns = 1;
  for (int i = 0; i < x.ndim(); i++) {
    check(i == d || x.sizes()[i] > 0, "unique: there are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    columns *= i == d ? 1 : x.sizes()[i];
  }
  if (x.sizes()[d] && (x.ndim() > 1 || !consecutive)) check_joinable("unique", x.dtype());  // PyTorch stacks the rows
  const Tensor rows = fn::movedim(x, Dims{d}, Dims{0});
  auto [values, inverse, counts] = fn::unique_rows(x.ndim() == 1 ? rows : fn::reshape(rows, Dims{x.sizes()[d], columns}), consecutive, return_inverse, return_counts);
  Dims sizes = rows.sizes();
  sizes[0] = values.sizes()[0];
  return {fn::movedim(fn::reshape(values, sizes), Dims{0}, Dims{d}), inverse, counts};
}

Meta RepeatIndex::infer(Inputs in) const {
  const Tensor& repeats = in[0];
  check_repeats(repeats);
  check(repeats.ndim() == 1, "repeat_interleave only accept 1D vector as repeat, got ", repeats.sizes());
  return counted(repeats.dtype(), repeats.device());
}

Tensor RepeatInterleave::compose(Inputs in) const {
  auto [x, d] = along(in[0], dim);
  check(repeats >= 0, "repeat_interleave: Repeats must be non-negative, got ", repeats);
  int64_t total = checked_mul(x.sizes()[d], repeats);
  check(!output_size || *output_size == total, "repeat_interleave: Invalid output_size, expected ", total, " but got ", output_size.value_or(0));
  Dims sizes = x.sizes(), joined = x.sizes();
  sizes.insert(d + 1, repeats);
  joined[d] = total;
  // A few repeats are as many passes over x: a broadcast copy would take its innermost loop by twos and threes.
  constexpr int64_t kFew = 16;
  if (repeats > 1 && repeats <= kFew) return fn::reshape(fn::stack(Tensors(repeats, x), d + 1), joined);
  return fn::reshape(fn::clone(fn::expand(fn::unsqueeze(x, d + 1), sizes), MemoryFormat::contiguous), joined);
}

Tensor RepeatInterleaveTensor::compose(Inputs in) const {
  Tensor repeats = in[1];
  check(repeats.ndim() <= 1, "repeat_interleave: repeats must be 0-dim or 1-dim tensor");
  auto [x, d] = along(in[0], dim);
  check_repeats(repeats);
  int64_t size = x.sizes()[d];
  if (repeats.ndim() == 0 || repeats.sizes()[0] == 1) repeats = fn::expand(fn::reshape(repeats, Dims{1}), Dims{size});
  check(repeats.sizes()[0] == size, "repeat_interleave: repeats must have the same size as input along dim, but got repeats.size(0) = ",
        repeats.sizes()[0], " and input.size(", d, ") = ", size);
  if (x.numel() == 0 && size == 0) return fn::clone(x, MemoryFormat::contiguous);  // whatever output_size says, as in PyTorch
  return fn::index_select(x, int64_t(d), fn::repeat_index(repeats, output_size));
}

Meta Bincount::infer(Inputs in) const {
  const Tensor &x = in[0], &w = in[1];
  check<NotImplemented>(!is_inexact(x.dtype()) && x.dtype() != DType::boolean, "\"bincount_cpu\" not implemented for ", name_of(x.dtype()));
  check(x.ndim() == 1, "bincount only supports 1-d non-negative integral inputs.");
  check(minlength >= 0, "bincount: minlength should be >= 0");
  if (!x.numel()) return counted(DType::int64, x.device());  // of nothing, nothing is weighed
  check(!w || w.sizes() == x.sizes(), "bincount: weights should be 1-d and have the same length as input");
  return counted(!w ? DType::int64 : w.dtype() == DType::float32 ? DType::float32 : DType::float64, x.device());
}

static const CountingOps::Registration ops;

}  // namespace weir
