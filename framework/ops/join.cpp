#include "framework/ops/join.h"

#include <algorithm>
#include <limits>

#include "framework/core/warn.h"
#include "framework/op/autocast.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/pad.h"
#include "framework/ops/plain.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

void need_some(const char* op, Inputs tensors) { check(!tensors.empty(), op, " expects a non-empty TensorList"); }

Tensors each_atleast(Inputs in, int64_t rank) {
  Tensors out;
  for (const Tensor& t : in) out.push_back(fn::atleast(t, rank));
  return out;
}

/// n! / (r! (n - r)!). RuntimeError where that is no int64.
int64_t binomial(int64_t n, int64_t r) {
  if (r > n) return 0;
  r = std::min(r, n - r);
  int64_t count = 1;
  for (int64_t i = 1; i <= r; i++) count = checked_mul(count, n - r + i) / i;
  return count;
}

/// Elements on and below the diagonal `offset` of a matrix: those of the rows that grow, then of the full ones.
int64_t lower_count(int64_t rows, int64_t columns, int64_t offset) {
  const int64_t first = std::clamp<int64_t>(checked_sub(0, offset), 0, rows);
  const int64_t full = offset < 0 && columns > std::numeric_limits<int64_t>::max() + offset ? rows : std::clamp<int64_t>(checked_sub(columns - 1, offset), first, rows);
  const int64_t shortest = first + offset + 1, longest = full + offset;  // of the rows [first, full)
  return checked_add(full > first ? checked_mul(shortest + longest, full - first) / 2 : 0, checked_mul(rows - full, columns));
}

}  // namespace

void check_joined(Inputs tensors, const Tensor& out) {
  for (const Tensor& t : tensors) check_out_history("cat", out, t);
  if (out && !tensors.empty())
    check<TypeError>(can_cast(result_type(tensors), out.dtype()), "torch.cat(): input types can't be cast to the desired output type ", name_of(out.dtype()));
}

Tensor Hstack::compose(Inputs in) const {
  need_some("hstack", in);
  const Tensors parts = each_atleast(in, 1);
  return cat_of(parts, parts[0].ndim() == 1 ? 0 : 1);
}
Tensor Vstack::compose(Inputs in) const {
  need_some("vstack", in);
  return cat_of(each_atleast(in, 2), 0);
}
Tensor Dstack::compose(Inputs in) const {
  need_some("dstack", in);
  return cat_of(each_atleast(in, 3), 2);
}
Tensor ColumnStack::compose(Inputs in) const {
  need_some("column_stack", in);
  Tensors parts;
  for (const Tensor& t : in) parts.push_back(t.ndim() > 1 ? t : fn::reshape(t, Dims{t.numel(), 1}));
  return cat_of(parts, 1);
}

Tensor Atleast::compose(Inputs in) const {
  const Tensor& x = in[0];
  if (x.ndim() >= rank) return x;
  if (x.ndim() == 2) return fn::unsqueeze(x, int64_t(-1));
  if (x.ndim() == 1) return rank == 2 ? fn::unsqueeze(x, int64_t(0)) : fn::unsqueeze(fn::unsqueeze(x, int64_t(0)), int64_t(-1));
  return fn::reshape(x, Dims(int(rank), 1));
}

Tensor Tile::compose(Inputs in) const {
  Dims times(std::max(in[0].ndim() - dims.n, 0), 1);
  for (int64_t n : dims) times.push(n);
  return fn::repeat(in[0], times);
}

Tensor BlockDiag::compose(Inputs in) const {
  Tensors blocks;
  int64_t columns = 0, before = 0;
  for (const Tensor& t : in) {
    check(t.ndim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Got ", t.ndim(), " dimensions");
    blocks.push_back(fn::atleast(t, int64_t(2)));
    columns = checked_add(columns, blocks.back().size(1));
  }
  if (blocks.empty()) return zeros_of(Meta(Dims{1, 0}, default_dtype()));
  const DType type = result_type(in);  // of which a tensor without axes decides less than a matrix
  if (is_plain(blocks)) {
    int64_t rows = 0, row = 0;
    for (const Tensor& b : blocks) rows = checked_add(rows, b.size(0));
    const Tensor r = zeros_of(Meta(Dims{rows, columns}, type, blocks[0].device()));
    for (const Tensor& b : blocks) {
      copy_into(fn::narrow(fn::narrow(r, int64_t(0), row, b.size(0)), int64_t(1), before, b.size(1)), b);
      row += b.size(0), before += b.size(1);
    }
    return r;
  }
  for (Tensor& b : blocks) {
    const int64_t width = b.size(1);
    b = fn::constant_pad_nd(cast_to(b, type), Dims{before, columns - before - width});
    before += width;
  }
  return cat_of(blocks, 0);
}

Tensors BroadcastTensors::compose(Inputs in) const {
  Dims sizes;
  for (const Tensor& t : in) sizes = broadcast("broadcast_tensors", sizes, t.sizes());
  Tensors out;
  for (const Tensor& t : in) out.push_back(t.sizes() == sizes ? t : fn::expand(t, sizes));
  return out;
}

Tensor BroadcastTo::compose(Inputs in) const { return fn::expand(in[0], size); }

Tensors Meshgrid::compose(Inputs in) const {
  check(!in.empty(), "meshgrid expects a non-empty TensorList");
  check(!indexing || *indexing == "ij" || *indexing == "xy", "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ",
        indexing.value_or(Str()).view());
  for (const Tensor& t : in) {
    check(t.ndim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got a tensor with ", t.ndim(), " dims");
    check(t.dtype() == in[0].dtype(), "torch.meshgrid expects all tensors to have the same dtype");
    check(t.device().type == in[0].device().type, "torch.meshgrid expects all tensors to have the same device");
  }
  static WarnOnce no_indexing;
  if (!indexing) no_indexing("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.");
  Tensors vectors(in.begin(), in.end());
  const bool swap = indexing && *indexing == "xy" && in.size() >= 2;
  if (swap) std::swap(vectors[0], vectors[1]);
  Dims sizes;
  for (const Tensor& t : vectors) sizes.push(t.numel());
  for (int i = 0; i < sizes.n; i++) {
    Dims one(sizes.n, 1);
    one[i] = sizes[i];
    vectors[i] = fn::expand(fn::reshape(vectors[i], one), sizes);
  }
  if (swap) std::swap(vectors[0], vectors[1]);
  return vectors;
}

Tensor CartesianProd::compose(Inputs in) const {
  check(!in.empty(), "meshgrid expects a non-empty TensorList");
  for (const Tensor& t : in) check(t.ndim() == 1, "Expect a 1D vector, but got shape ", t.sizes());
  if (in.size() == 1) return in[0];
  Tensors columns = fn::meshgrid.over(in, std::optional<Str>(Str("ij")));
  for (Tensor& c : columns) c = fn::reshape(c, Dims{-1});
  return fn::stack.over(columns, int64_t(1))[0];
}

Meta CombinationRows::infer(Inputs) const {
  const int64_t count = with_replacement ? (n ? binomial(checked_add(n, r) - 1, r) : 0) : binomial(n, r);
  return {Dims{count, r}, DType::int64};
}

Tensor Combinations::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() == 1, "Expect a 1D vector, but got shape ", x.sizes());
  check(r >= 0, "Expect a non-negative number, but got ", r);
  if (r == 0) return zeros_of(Meta(Dims{0}, x.dtype(), x.device()));
  check_joinable("combinations", x.dtype());
  if (r == 1) return fn::clone(fn::unsqueeze(x, int64_t(1)), MemoryFormat::contiguous);  // each by itself, in order
  return index(x, {fn::combination_rows.over({}, x.numel(), r, with_replacement)[0]});
}

std::pair<int64_t, int64_t> TriangleIndices::columns(bool upper, int64_t r) const {
  const int64_t edge = std::clamp<int64_t>(checked_add(checked_add(r, upper ? offset : std::max(offset, -row)), !upper), 0, col);
  return upper ? std::pair{edge, col} : std::pair{int64_t(0), edge};
}
Meta TriangleIndices::meta(bool upper) const {
  const char* name = upper ? "triu_indices" : "tril_indices";
  const DType t = dtype.value_or(DType::int64);
  check(row >= 0 && col >= 0, name, ": row and col must be non-negative, got ", row, " and ", col);
  check<NotImplemented>(t == DType::int64 || t == DType::int32, name, ": not implemented for ", name_of(t));
  (void)checked_add(row, upper ? checked_sub(offset, 1) : offset);  // the last row's end, which PyTorch refuses to know beyond 64 bits
  // Those above a diagonal are those below it in the transposed matrix.
  const int64_t count = upper ? lower_count(col, row, std::max(checked_sub(0, offset), -col)) : lower_count(row, col, std::max(offset, -row));
  return {Dims{2, count}, t, place_of_new(device)};
}

Tensors SplitWithSizes::compose(Inputs in) const { return fn::split(in[0], split_sizes, dim); }

static const JoinOps::Registration ops;

}  // namespace weir
