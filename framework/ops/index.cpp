#include "framework/ops/index.h"

#include <algorithm>
#include <cmath>

#include "framework/core/warn.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/check.h"
#include "framework/ops/compare.h"
#include "framework/ops/complex.h"
#include "framework/ops/counting.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/reduce.h"
#include "framework/ops/scatter.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

// Source of the order of these checks: PyTorch's index_select and index_add.
Meta indexed_meta(const char* op, const Tensor& x, int64_t dim, const Tensor& index) {
  int d = wrap_dim(dim, x.ndim(), op);
  check<IndexError>(index.ndim() <= 1, op, "(): Index is supposed to be a vector, but got dim: ", index.ndim());
  check_index_type(op, index);
  Meta m = like(x);
  if (x.ndim()) m.sizes[d] = index.numel();
  return m;
}

void check_selectable(int64_t rows, int64_t picked) {
  check(rows > 0 || picked == 0, "index_select(): self indexing axis dim should be positive");
}

std::array<Meta, 2> ordered_meta(const Tensor& x, const Dims& sizes) {
  return {Meta(sizes, x.dtype(), x.device()), Meta(sizes, DType::int64, x.device())};
}

}  // namespace

void Cat::take_out(Inputs in, const Tensor& out) const {
  for (const Tensor& t : in)
    if (t.ndim() == 0) return;  // refused for that first
  const auto given = std::find_if(in.begin(), in.end(), [](const Tensor& t) { return t.ndim() > 1 || t.size(0) > 0; });
  if (given != in.end()) wrap_dim(dim, given->ndim(), "cat");
  check_joined(in, out);
}
Meta Cat::infer(Inputs in) const {
  check<ValueError>(!in.empty(), "cat: expected a non-empty list of Tensors");
  const Tensor* first = nullptr;
  auto skipped = [](const Tensor& t) { return t.ndim() == 1 && t.size(0) == 0; };
  for (const Tensor& t : in) {
    check(t.ndim() > 0, "cat: zero-dimensional tensor cannot be concatenated");
    if (!first && !skipped(t)) first = &t;
  }
  DType type = result_type(in);
  if (!first) return Meta(Dims{0}, type, in[0].device());  // whatever dim is, as in PyTorch
  int d = wrap_dim(dim, first->ndim(), "cat");
  Dims sizes = first->sizes();
  sizes[d] = 0;
  bool channels = true;
  for (const Tensor& t : in) {
    if (skipped(t)) continue;
    check(t.ndim() == sizes.n, "cat: Tensors must have same number of dimensions: got ", sizes.n, " and ", t.ndim());
    for (int i = 0; i < sizes.n; i++)
      check(i == d || t.sizes()[i] == sizes[i], "cat: Sizes of tensors must match except in dimension ", d,
            ". Expected size ", sizes[i], " but got size ", t.sizes()[i], " for tensor number ", &t - in.data(), " in the list.");
    sizes[d] = checked_add(sizes[d], t.sizes()[d]);
    channels &= suggests_channels_last(t.sizes(), t.strides());
  }
  Meta m(sizes, type, first->device());
  if (channels) m.strides = channels_last_strides(sizes);
  return m;
}
Tensors Cat::vjp(const Saved& s, const Tensor& dy) const {
  Tensors out(s.num_inputs());
  bool nothing = dy.ndim() == 1 && dy.numel() == 0;
  int64_t at = 0, d = nothing ? 0 : wrap_dim(dim, dy.ndim(), "cat");
  for (int i = 0; i < s.num_inputs(); i++) {
    const Dims& sizes = s.input_meta(i).sizes;
    if (sizes.n == 1 && sizes[0] == 0 && dy.ndim() != 1) {
      out[i] = zeros_as(s, i, dy);
      continue;
    }
    if (s.needs(i)) out[i] = slice(dy, d, at, at + sizes[int(d)], int64_t(1));
    at += sizes[int(d)];
  }
  return out;
}

void Stack::take_out(Inputs in, const Tensor& out) const {
  for (const Tensor& t : in) check_out_history("stack", out, t);  // before it looks at dim, as PyTorch does
}
Tensor Stack::compose(Inputs in) const {
  check(!in.empty(), "stack: expected a non-empty list of Tensors");
  int64_t d = wrap_dim(dim, in[0].ndim() + 1, "stack");
  for (const Tensor& t : in)
    check(t.sizes() == in[0].sizes(), "stack expects each tensor to be equal size, but got ", in[0].sizes(), " at entry 0 and ", t.sizes(), " at entry ", &t - in.data());
  if (d < in[0].ndim()) {  // joined along an axis that is there, which keeps channels_last, and split
    Dims sizes = in[0].sizes();
    sizes.insert(int(d), int64_t(in.size()));
    return reshape(cat_of(Tensors(in.begin(), in.end()), d), sizes);
  }
  Tensors each;
  for (const Tensor& t : in) each.push_back(unsqueeze(t, d));
  return cat_of(each, d);
}

Meta Flip::infer(Inputs in) const {
  uint64_t seen = 0;
  for (int64_t d : dims) {
    int k = wrap_dim(d, in[0].ndim(), "flip");
    check(!(seen >> k & 1), "flip: dim ", k, " appears multiple times in the list of dims");
    seen |= uint64_t(1) << k;
  }
  return with_strides(like(in[0]), in[0]);
}
Tensors Flip::vjp(const Saved&, const Tensor& dy) const { return {fn::flip(dy, dims)}; }

Tensor Roll::compose(Inputs in) const {
  Tensor x = in[0];
  check(shifts.n > 0, "`shifts` required");
  if (dims.empty()) {
    check(shifts.n == 1, "shifts and dimensions must align. shifts: ", shifts.n, ", dims:0");
    return reshape(fn::roll(reshape(x, Dims{-1}), shifts, Dims{0}), x.sizes());
  }
  check(shifts.n == dims.n, "shifts and dimensions must align. shifts: ", shifts.n, ", dims:", dims.n);
  if (x.numel() == 0) return clone_of(x);  // whatever the dims are, as in PyTorch
  check<IndexError>(x.ndim() > 0, "roll: Dimension specified as ", dims[0], " but tensor has no dimensions");
  for (int i = 0; i < dims.n; i++) {
    int64_t d = wrap_dim(dims[i], x.ndim(), "roll"), n = x.ndim() ? x.sizes()[int(d)] : 0;
    if (n == 0) continue;
    int64_t k = ((shifts[i] % n) + n) % n;
    // Nothing is part of no gradient, and all is no part.
    x = cat_of({slice(k ? x : detach(x), d, n - k, n, int64_t(1)), k ? slice(x, d, int64_t(0), n - k, int64_t(1)) : x}, d);
  }
  return x.get() == in[0].get() ? clone_of(x) : x;
}

Tensor Repeat::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(repeats.n >= x.ndim(), "repeat: Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  Dims wide, expanded, out;
  for (int i = 0; i < repeats.n; i++) {
    int k = i - (repeats.n - x.ndim());
    int64_t n = k < 0 ? 1 : x.sizes()[k];
    const int64_t size = checked_mul(repeats[i], n);
    check(size >= 0, "repeat: Trying to create tensor with negative dimension ", size);
    wide.push(1), wide.push(n);
    expanded.push(std::max<int64_t>(repeats[i], 0)), expanded.push(n);  // of nothing there may be negative copies
    out.push(size);
  }
  Tensor copy = clone_of(expand(reshape(x, wide), expanded), MemoryFormat::contiguous);
  return reshape(copy, out);
}

Meta IndexSelect::infer(Inputs in) const {
  Meta m = indexed_meta("index_select", in[0], dim, in[1]);
  check(in[0].ndim() > 0 || in[1].numel() == 1, "index_select(): Index to scalar can have only 1 value, got ",
        in[1].numel(), " value(s)");
  // Of a vector PyTorch picks one by one, and so finds an index out of range.
  check_selectable(in[0].ndim() > 1 ? in[0].size(dim) : 1, in[1].numel());
  return m;
}
// Source: PyTorch, which looks whether out= repeats elements before it gives it another shape.
void IndexSelect::take_out(Inputs, const Tensor& out) const { check_no_repeats(out); }
Tensors IndexSelect::vjp(const Saved& s, const Tensor& dy) const {
  return {index_add_of(zeros_as(s, 0, dy), dim, s.input(1), dy), Tensor()};
}
Meta IndexAdd::infer(Inputs in) const {
  indexed_meta("index_add", in[0], dim, in[1]);
  check(in[0].dtype() == in[2].dtype(), "index_add_(): self (", name_of(in[0].dtype()), ") and source (",
        name_of(in[2].dtype()), ") must have the same scalar type");
  const Tensor &self = in[0], &source = in[2];
  int d = wrap_dim(dim, self.ndim(), "index_add");
  check(d == 0 || d < source.ndim(), "index_add_(): Indexing dim ", d,
        " is out of bounds of the source tensor with dim ", source.ndim());
  int64_t slices = source.ndim() ? source.sizes()[d] : 1;
  check<IndexError>(source.ndim() || in[1].numel() == 1, "Dimension specified as ", d, " but tensor has no dimensions");
  check(in[1].numel() == slices, "index_add_(): Number of indices (", in[1].numel(),
        ") should be equal to source.size(dim): (", slices, "), for dim: ", d);
  Dims kept = self.sizes(), given = source.sizes();
  if (self.ndim() && source.ndim()) kept.erase(d), given.erase(d);
  check(kept == given, "index_add_(): source tensor shape must match self tensor shape, excluding the specified "
        "dimension. Got self.shape = ", self.sizes(), " source.shape = ", source.sizes());
  if (in[1].numel() || self.ndim() < 2) check_held(Held::own, alpha, self.dtype());
  return like(self);
}
Tensors IndexAdd::vjp(const Saved& s, const Tensor& dy) const {
  if (!s.needs(2)) return {dy};
  Tensor g = fn::index_select(dy, dim, s.input(1));
  return {dy, Tensor(), alpha.to_double() == 1 ? g : g * alpha.to_double()};
}

static Tensors indices_of(const Saved& s, int first) {
  Tensors out;
  for (int i = first; i < s.num_inputs(); i++) out.push_back(s.input(i));
  return out;
}
static Dims rows_shape(const Tensor& x, Inputs indices) {
  Dims sizes = indices[0].sizes();
  for (int i = int(indices.size()); i < x.ndim(); i++) sizes.push(x.sizes()[i]);
  return sizes;
}
static Tensors joined(std::initializer_list<Tensor> front, const Tensors& rest) {
  Tensors all(front);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}
// Source of the layout: PyTorch reads input by an iterator whose strides are 0 along the indices' axes. Theirs are 0 along the others, but
// for those of size 1, where they are what a view gives such axes.
Meta IndexRows::infer(Inputs in) const {
  const Tensor& x = in[0];
  const Inputs indices = in.subspan(1);
  const int k = int(indices.size()), places = indices[0].ndim();
  Meta m({}, x.dtype(), x.device());
  std::vector<Dims> operands(in.size());
  auto along_one = [](const Tensor& index, bool before) {
    return index.ndim() == 0 ? 1 : before ? index.sizes()[0] * index.strides()[0] : index.strides().back();
  };
  for (int i = 0; i < x.ndim() - k + places; i++) {
    const int place = i - int(lead), other = k + (place < 0 ? i : i - places);
    const bool of_indices = place >= 0 && place < places;
    m.sizes.push(of_indices ? indices[0].sizes()[place] : x.sizes()[other]);
    operands[0].push(of_indices ? 0 : x.strides()[other]);
    for (int j = 0; j < k; j++) operands[j + 1].push(of_indices ? indices[j].strides()[place] : m.sizes.back() == 1 ? along_one(indices[j], place < 0) : 0);
  }
  const Dims strides = dense_strides(m.sizes, operands);
  if (!(strides == contiguous_strides(m.sizes))) m.strides = strides;
  return m;
}
Tensors IndexRows::vjp(const Saved& s, const Tensor& dy) const {
  Tensors index = indices_of(s, 1);
  Dims order;  // the indices' axes back to the front
  for (int i = 0; i < index[0].ndim(); i++) order.push(lead + i);
  for (int i = 0; i < dy.ndim(); i++)
    if (!order.contains(i)) order.push(i);
  Tensor whole = zeros_as(s, 0, dy);
  fn::index_put_rows.into(whole, joined({whole, permute(dy, order)}, index), true);
  return {whole};
}
Meta IndexPutRows::infer(Inputs in) const {
  check(in[1].sizes() == rows_shape(in[0], in.subspan(2)), "index_put_: shape mismatch: value tensor of shape ",
        in[1].sizes(), " cannot be broadcast to indexing result");
  return like(in[0]);
}
Tensors IndexPutRows::vjp(const Saved& s, const Tensor& dy) const {
  Tensors index = indices_of(s, 2), out(2);
  if (s.needs(1)) out[1] = fn::index_rows.over(joined({dy}, index), int64_t(0))[0];
  if (s.needs(0)) {
    const Meta& v = s.input_meta(1);
    out[0] = accumulate ? dy : fn::index_put_rows.over(joined({dy, zeros_of(Meta(v.sizes, dy.dtype(), dy.device()))}, index), false)[0];
  }
  return out;
}

namespace {

// Indices as int64 tensors of one shape over the axes [axis...]; masks became coordinates.
struct Indexing {
  Tensors indices;
  Dims axes;
};

void check_mask(const Tensor& x, const Tensor& mask, int axis) {
  check<IndexError>(axis + mask.ndim() <= x.ndim(), "too many indices for tensor of dimension ", x.ndim());
  for (int i = 0; i < mask.ndim(); i++)
    check<IndexError>(mask.sizes()[i] == x.sizes()[axis + i], "The shape of the mask ", mask.sizes(), " at index ", i,
                      " does not match the shape of the indexed tensor ", x.sizes(), " at index ", axis + i);
}

Indexing normalise(const Tensor& x, const Tensors& given) {
  Indexing r;
  int axis = 0;
  for (const Tensor& t : given) {
    if (!t) {
      axis++;
      continue;
    }
    check<IndexError>(t.dtype() == DType::int64 || t.dtype() == DType::int32 || t.dtype() == DType::boolean || t.dtype() == DType::uint8,
                      "tensors used as indices must be long, int, byte or bool tensors");
    bool mask = t.dtype() == DType::boolean || t.dtype() == DType::uint8;
    if (t.dtype() == DType::uint8) warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
    if (!mask) {
      check<IndexError>(axis < x.ndim(), "too many indices for tensor of dimension ", x.ndim());
      r.indices.push_back(cast_to(t, DType::int64));
      r.axes.push(axis++);
      continue;
    }
    check_mask(x, t, axis);
    Tensor rows = fn::nonzero_rows(t);
    for (int i = 0; i < t.ndim(); i++) {
      r.indices.push_back(select(rows, int64_t(1), int64_t(i)));
      r.axes.push(axis++);
    }
  }
  Dims shape;
  for (const Tensor& t : r.indices) {
    try {
      shape = broadcast("index", shape, t.sizes());
    } catch (const Error&) {
      throw IndexError(str("shape mismatch: indexing tensors could not be broadcast together with shapes ", shape, ", ", t.sizes()));
    }
  }
  for (Tensor& t : r.indices) t = expand(t, shape);
  return r;
}

bool adjacent(const Dims& axes) {
  for (int i = 1; i < axes.n; i++)
    if (axes[i] != axes[i - 1] + 1) return false;
  return true;
}

// Indexed axes first, the others behind in order. Where they stand there it is x itself: what is written into a view costs copies in the
// backward pass.
Tensor indexed_first(const Tensor& x, const Dims& axes) {
  bool first = true;
  for (int i = 0; i < axes.n; i++) first = first && axes[i] == i;
  if (first) return x;
  Dims order = axes;
  for (int i = 0; i < x.ndim(); i++)
    if (!axes.contains(i)) order.push(i);
  return permute(x, order);
}

// The axes of indexing results stand where the indexed axes stood, or in front when those were apart.
Dims result_order(int rank, int index_rank, const Dims& axes, bool inverse) {
  int lead = adjacent(axes) ? int(axes[0]) : 0;
  Dims order(rank, 0);
  for (int i = 0; i < rank; i++) {
    int from = i < lead ? index_rank + i : i < lead + index_rank ? i - lead : i;
    if (inverse) order[from] = i;
    else order[i] = from;
  }
  return order;
}

}  // namespace

Tensor index(const Tensor& x, const Tensors& given) {
  Indexing ix = normalise(x, given);
  if (ix.indices.empty()) return clone_of(x);
  return fn::index_rows.over(joined({indexed_first(x, ix.axes)}, ix.indices), adjacent(ix.axes) ? ix.axes[0] : int64_t(0))[0];
}

// The shape of x at `ix`, whose indexed axes come first in `rows`.
static Dims placed_shape(const Indexing& ix, const Dims& rows) {
  Dims to = result_order(rows.n, ix.indices[0].ndim(), ix.axes, false), placed(rows.n, 0);
  for (int i = 0; i < rows.n; i++) placed[i] = rows[int(to[i])];
  return placed;
}

// The one mask of `given` where it is the only index; an undefined tensor otherwise.
static Tensor only_mask(const Tensors& given) {
  Tensor only;
  for (const Tensor& t : given) {
    if (!t) continue;
    if (only || (t.dtype() != DType::boolean && t.dtype() != DType::uint8)) return {};
    only = t;
  }
  return only;
}

// A number that check_written let pass: without a word of imaginary parts, which are zero where the dtype is real.
static Tensor number_of_type(const Tensor& number, DType t) {
  const bool real = is_complex(number.dtype()) && !is_complex(t) && t != DType::boolean;
  return cast_to(real ? fn::real(number) : number, t);
}

void index_put(const Tensor& x, const Tensors& given, const Tensor& values, bool accumulate) {
  const Tensor fills = values.numel() == 1 && !accumulate ? only_mask(given) : Tensor();
  if (fills) {  // PyTorch fills there: with a number of any dtype, but not where bytes are the mask
    check_written(values, x.dtype());
    check_not_shifted(x, std::array{fills});
    if (repeats(x)) warn_once("Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation.");
  }
  if (!fills) {
    check<IndexError>(int(given.size()) <= x.ndim(), "too many indices for tensor of dimension ", x.ndim(), " (got ", given.size(), ")");
    check_apart(x, std::array{values});
    check_apart(x, given);
  }
  int axis = 0;  // of the index: a mask stands for all that it covers
  for (const Tensor& t : given) {
    const bool mask = t && (t.dtype() == DType::boolean || t.dtype() == DType::uint8);
    check<IndexError>(!t || mask || t.numel() == 0 || axis >= x.ndim() || x.sizes()[axis] > 0, "index is out of bounds for dimension with size 0");
    if (fills && mask) check_mask(x, t, axis);
    axis += mask ? t.ndim() : 1;
  }
  check(!fills || fills.dtype() == DType::boolean, "masked_fill_ only supports boolean masks, but got mask with dtype uint8");
  Indexing ix = normalise(x, given);
  if (ix.indices.empty()) {
    return accumulate ? void(fn::add.inplace(x, values)) : copy_into(x, values);
  }
  Tensor view = indexed_first(x, ix.axes);
  Dims rows = rows_shape(view, ix.indices);
  const Dims placed = placed_shape(ix, rows);
  bool fits = values.ndim() <= placed.n;
  for (int i = 1; fits && i <= values.ndim(); i++) fits = values.size(-i) == 1 || values.size(-i) == placed[placed.n - i];
  check(fits, "shape mismatch: value tensor of shape ", values.sizes(), " cannot be broadcast to indexing result of shape ", placed);
  check(fills || x.dtype() == values.dtype(), "Index put requires the source and destination dtypes match, got ", name_of(x.dtype()),
        " for the destination and ", name_of(values.dtype()), " for the source.");
  const Tensor v = permute(expand(fills ? number_of_type(values, x.dtype()) : cast_to(values, x.dtype()), placed),
                           result_order(rows.n, ix.indices[0].ndim(), ix.axes, true));
  fn::index_put_rows.into(view, joined({view, v}, ix.indices), accumulate);
}

void check_written(const Tensor& number, DType t) {
  const bool any_fits = !number.has_flag(kWrappedNumber) && largest_number(number.dtype()) <= largest_number(t) && is_complex(number.dtype()) <= is_complex(t) && (is_inexact(t) || !is_inexact(number.dtype()));
  if (any_fits || number.is_meta()) return;
  if (mode.recorder && !number.has_flag(kWrappedNumber)) fn::check_number(number, t);  // a plan looks in its runs
  else check_written(item(number), t);
}

// PyTorch's loop writes each where its own mask holds, and leaves it alone elsewhere.
Tensor shared_mask(const Tensor& x, const Tensor& mask) {
  if (!repeats(x) || !(broadcast("masked_fill_", x.sizes(), mask.sizes()) == x.sizes())) return mask;
  Dims shared;
  for (int i = 0; i < x.ndim(); i++)
    if (x.strides()[i] == 0) shared.push(i);
  return fn::expand(fn::any(fn::expand(mask, x.sizes()), shared, true), x.sizes());
}

Tensor MaskedFill::compose(Inputs in) const {
  check(in[1].dtype() == DType::boolean, "masked_fill only supports boolean masks, but got mask with dtype ", name_of(in[1].dtype()));
  check(in[2].ndim() == 0, "masked_fill only supports a 0-dimensional value tensor, but got tensor with ", in[2].ndim(), " dimension(s).");
  check_written(in[2], in[0].dtype());
  check(over_itself || !mode.grad || !in[2].has_flag(kRequiresGrad) || is_inexact(in[0].dtype()), "masked_fill: Autograd not support dtype: ", name_of(in[0].dtype()));
  if (over_itself) check_not_shifted(in[0], in.subspan(1, 1));
  const Tensor mask = contiguous_of(over_itself ? shared_mask(in[0], in[1]) : in[1]);
  return row_major_of(where(mask, number_of_type(in[2], in[0].dtype()), contiguous_of(in[0])));  // row-major always, as PyTorch's
}

Tensor MaskedSelect::compose(Inputs in) const {
  check(in[1].dtype() == DType::boolean, "masked_select: expected BoolTensor for mask");
  Dims sizes = broadcast("masked_select", in[0].sizes(), in[1].sizes());
  return index(reshape(expand(in[0], sizes), Dims{-1}), {reshape(expand(in[1], sizes), Dims{-1})});
}

std::array<Meta, 2> Sort::infer(Inputs in) const {
  wrap_dim(dim, in[0].ndim(), "sort");
  check(!is_complex(in[0].dtype()), "sort: Sort does not support complex dtypes on CPU");
  auto [values, indices] = ordered_meta(in[0], in[0].sizes());
  return {with_strides(values, in[0]), with_strides(indices, in[0])};
}
Tensors Sort::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, true); }
std::array<Meta, 2> Topk::infer(Inputs in) const {
  int d = wrap_dim(dim, in[0].ndim(), "topk");
  check(in[0].dtype() != DType::boolean, "topk does not support bool dtypes on CPU");
  int64_t n = in[0].ndim() ? in[0].sizes()[d] : 1;
  check(k >= 0 && k <= n, "topk: selected index k out of range");
  Dims sizes = in[0].sizes();
  if (in[0].ndim()) sizes[d] = k;
  return ordered_meta(in[0], sizes);
}
Tensors Topk::vjp(const Saved& s, const Tensor& dy) const { return put_back(s, dy, dim, true); }

Meta Embedding::infer(Inputs in) const {
  check(in[0].ndim() == 2, "embedding: 'weight' must be 2-D");
  check_index_type("embedding", in[1]);
  check_selectable(in[0].sizes()[0], in[1].numel());
  Dims sizes = in[1].sizes();
  sizes.push(in[0].sizes()[1]);
  return {sizes, in[0].dtype(), in[0].device()};
}
Tensors Embedding::vjp(const Saved& s, const Tensor& dy) const {
  return {fn::embedding_backward(dy, s.input(1), s.input_meta(0).sizes[0], padding_idx, scale_grad_by_freq)};
}
Meta EmbeddingBackward::infer(Inputs in) const {
  return {Dims{num_weights, in[0].size(-1)}, in[0].dtype(), in[0].device()};
}
Tensors EmbeddingBackward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor index = s.input(1), g = fn::embedding(dy, index);
  if (padding_idx >= 0) {
    Tensor keep = unsqueeze(fn::ne(index, num(padding_idx)), int64_t(-1));
    g = where(keep, g, num(0.0));
  }
  return {g, Tensor()};
}

Tensor cat_of(const Tensors& tensors, int64_t dim) { return fn::cat.over(tensors, dim)[0]; }
Tensor flip_of(const Tensor& t, const Dims& dims) { return fn::flip(t, dims); }
Tensor gather_of(const Tensor& t, int64_t dim, const Tensor& index) { return fn::gather(t, dim, index); }
Tensor scatter_add_of(Tensor fresh, int64_t dim, const Tensor& index, const Tensor& src) {
  fn::scatter_add.inplace(fresh, dim, index, src);
  return fresh;
}
Tensor index_add_of(Tensor fresh, int64_t dim, const Tensor& index, const Tensor& source) {
  fn::index_add.inplace(fresh, dim, index, source);
  return fresh;
}

static const IndexOps::Registration ops;

}  // namespace weir
