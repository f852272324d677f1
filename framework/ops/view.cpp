#include "framework/ops/view.h"

#include <algorithm>

#include "framework/core/alignment.h"
#include "framework/core/layout.h"
#include "framework/graph/trace.h"
#include "framework/op/copy.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/rearrange.h"
#include "framework/ops/reduce.h"

namespace weir {
using namespace fn;

namespace {

Geometry same(const Tensor& x) { return {x.sizes(), x.strides(), x->offset}; }

// The gradient of a view that drops elements: zeros with dy written into the same view, or what other views gave with dy added there.
template <class F> Tensors scatter_back(const Saved& s, const Tensor& dy, F&& view_of) {
  const Meta& m = s.input_meta(0);
  if (const Tensor sum = s.sum(); sum && sum.sizes() == m.sizes && sum.dtype() == dy.dtype() && !dy.is_batched()) {
    fn::add.inplace(view_of(sum), dy);
    return {sum};
  }
  Tensor whole = zeros_of(Meta(m.sizes, dy.dtype(), dy.device()));
  copy_into(view_of(whole), dy);
  return {whole};
}

Tensors siblings(Tensors views) {
  if (mode.grad)
    for (Tensor& t : views) t->flags |= kSibling;
  return views;
}

}  // namespace

Dims infer_size(const char* op, const Dims& sizes, int64_t numel) {
  Dims out = sizes, given;
  int unknown = -1;
  for (int i = 0; i < sizes.n; i++) {
    if (sizes[i] == -1) {
      check(unknown < 0, op, ": only one dimension can be inferred");
      unknown = i;
      continue;
    }
    check(sizes[i] >= 0, op, ": invalid shape dimension ", sizes[i]);
    given.push(sizes[i]);
  }
  int64_t known = given.product();
  if (unknown >= 0) {
    check(known != 0, op, ": cannot reshape tensor of ", numel, " elements into shape ", sizes,
          " because the unspecified dimension size -1 can be any value and is ambiguous");
    check(numel % known == 0, op, ": shape '", sizes, "' is invalid for input of size ", numel);
    out[unknown] = numel / known;
  } else {
    check(known == numel, op, ": shape '", sizes, "' is invalid for input of size ", numel);
  }
  return out;
}

std::optional<Dims> view_strides(const Tensor& t, const Dims& sizes) {
  if (t.numel() == 0) return t.sizes() == sizes ? t.strides() : contiguous_strides(sizes);
  Dims out;
  out.n = sizes.n;
  int v = sizes.n - 1;
  int64_t base = t.ndim() ? t.strides().back() : 1, have = 1, made = 1;
  if (t.ndim() == 0) {
    for (int i = 0; i < sizes.n; i++) out[i] = 1;
    return out;
  }
  for (int d = t.ndim() - 1; d >= 0; d--) {
    have *= t.sizes()[d];
    bool block_ends = d == 0 || (t.sizes()[d - 1] != 1 && t.strides()[d - 1] != have * base);
    if (!block_ends) continue;
    while (v >= 0 && (made < have || sizes[v] == 1)) {
      out[v] = made * base;
      made *= sizes[v];
      v--;
    }
    if (made != have) return std::nullopt;
    if (d > 0) {
      base = t.strides()[d - 1];
      have = made = 1;
    }
  }
  if (v != -1) return std::nullopt;
  return out;
}

Geometry View::geometry(Inputs in) const {
  const Tensor& x = in[0];
  Dims sizes = infer_size("view", size, x.numel());
  if (x.strides() == contiguous_strides(x.sizes())) return {sizes, contiguous_strides(sizes), x->offset};
  auto strides = view_strides(x, sizes);
  check(strides.has_value(), "view: view size is not compatible with input tensor's size and stride (at least one "
        "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return {sizes, *strides, x->offset};
}
Tensors View::vjp(const Saved& s, const Tensor& dy) const { return {reshape(dy, s.input_meta(0).sizes)}; }

Geometry ViewDtype::geometry(Inputs in) const {
  const Tensor& x = in[0];
  Geometry g = same(x);
  g.dtype = dtype;
  if (dtype == x.dtype() && !x.has_flag(kConj)) return g;
  check(!(x->flags & kTurned), "torch.Tensor.view is not supported for ", x.has_flag(kConj) ? "conjugate view tensors" : "tensors with negative bit set",
        " when converting to a different dtype.");
  check(is_aligned_for(dtype, x->storage->data), "the tensor's memory, which is not ours, is not aligned to elements of ", name_of(dtype), ": view a clone() of it");
  // Marked once, unmarked as soon as the bytes are shown as themselves again.
  if ((dtype == DType::boolean) != x.has_flag(kAnyByte)) g.marks = kAnyByte;
  const int64_t from = int64_t(size_of(x.dtype())), to = int64_t(size_of(dtype));
  if (from == to) return g;
  graph::check_place_is_known(x, "a view of another element size asks for the place of");
  check(x.ndim() > 0, "self.dim() cannot be 0 to view ", name_of(x.dtype()), " as ", name_of(dtype), " (different element sizes)");
  check(g.strides.back() == 1, "self.stride(-1) must be 1 to view ", name_of(x.dtype()), " as ", name_of(dtype),
        " (different element sizes), but got ", g.strides.back());
  auto scaled = [&](int64_t n, const char* what) {
    check(checked_mul(n, from) % to == 0, what, " must be divisible by ", to / from, " to view ", name_of(x.dtype()), " as ", name_of(dtype),
          " (different element sizes), but got ", n);
    return n * from / to;
  };
  g.sizes.back() = scaled(g.sizes.back(), "self.size(-1)");
  g.offset = scaled(g.offset, "self.storage_offset()");
  for (int i = 0; i + 1 < g.strides.n; i++) g.strides[i] = scaled(g.strides[i], "self.stride");
  return g;
}

Geometry Transpose::geometry(Inputs in) const {
  Geometry g = same(in[0]);
  int a = wrap_dim(dim0, in[0].ndim(), "transpose"), b = wrap_dim(dim1, in[0].ndim(), "transpose");
  if (in[0].ndim() == 0) return g;
  std::swap(g.sizes[a], g.sizes[b]);
  std::swap(g.strides[a], g.strides[b]);
  return g;
}
Tensors Transpose::vjp(const Saved&, const Tensor& dy) const { return {transpose(dy, dim0, dim1)}; }

Geometry MatrixTranspose::geometry(Inputs in) const {
  check(in[0].ndim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", in[0].ndim(), "D");
  Geometry g = same(in[0]);
  if (in[0].ndim() == 2) std::swap(g.sizes[0], g.sizes[1]), std::swap(g.strides[0], g.strides[1]);
  return g;
}
Tensors MatrixTranspose::vjp(const Saved&, const Tensor& dy) const { return {fn::t(dy)}; }

Geometry Permute::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check(dims.n == x.ndim(), "permute(sparse_coo): number of dimensions in the tensor input does not match the length "
        "of the desired ordering of dimensions i.e. input.dim() = ", x.ndim(), " is not equal to len(dims) = ", dims.n);
  Geometry g = same(x);
  bool seen[kMaxDims] = {};
  for (int i = 0; i < dims.n; i++) {
    int d = wrap_dim(dims[i], x.ndim(), "permute");
    check(!seen[d], "permute(): duplicate dims are not allowed.");
    seen[d] = true;
    g.sizes[i] = x.sizes()[d];
    g.strides[i] = x.strides()[d];
  }
  return g;
}
Tensors Permute::vjp(const Saved&, const Tensor& dy) const {
  Dims back(dims.n, 0);
  for (int i = 0; i < dims.n; i++) back[wrap_dim(dims[i], dims.n, "permute")] = i;
  return {permute(dy, back)};
}

Geometry Expand::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check(size.n >= x.ndim(), "expand: the number of sizes provided (", size.n, ") must be greater or equal to the "
        "number of dimensions in the tensor (", x.ndim(), ")");
  Geometry g{size, Dims(size.n, 0), x->offset};
  for (int i = 0; i < size.n; i++) {
    int d = i - (size.n - x.ndim());
    if (d < 0) {
      check(size[i] >= 0, "expand: The expanded size of the tensor (", size[i], ") isn't allowed in a leading, "
            "non-existing dimension ", i);
      continue;
    }
    int64_t have = x.sizes()[d];
    if (size[i] == -1) g.sizes[i] = have;
    check(g.sizes[i] == have || (have == 1 && g.sizes[i] >= 0), "expand: The expanded size of the tensor (", size[i],
          ") must match the existing size (", have, ") at non-singleton dimension ", i, ".  Target sizes: ", size,
          ".  Tensor sizes: ", x.sizes());
    g.strides[i] = have == 1 && g.sizes[i] != 1 ? 0 : x.strides()[d];
  }
  // New leading axes get strides as PyTorch's: as if contiguous outside of what exists.
  for (int i = size.n - x.ndim() - 1; i >= 0; i--)
    g.strides[i] = g.sizes[i] == 1 && i + 1 < size.n ? g.sizes[i + 1] * g.strides[i + 1] : 0;
  return g;
}
Tensors Expand::vjp(const Saved&, const Tensor& dy) const { return {dy}; }  // the engine sums to the input's shape

Geometry Select::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check<IndexError>(x.ndim() > 0, "select() cannot be applied to a 0-dim tensor.");
  int d = wrap_dim(dim, x.ndim(), "select");
  int64_t n = x.sizes()[d];
  check<IndexError>(index >= -n && index < n, "select: index ", index, " is out of bounds for dimension ", d,
                    " with size ", n);
  Geometry g = same(x);
  g.offset += (index < 0 ? index + n : index) * x.strides()[d];
  g.sizes.erase(d);
  g.strides.erase(d);
  return g;
}
Tensors Select::vjp(const Saved& s, const Tensor& dy) const {
  return scatter_back(s, dy, [&](const Tensor& t) { return select(t, dim, index); });
}

Geometry Slice::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check<IndexError>(x.ndim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  check<ValueError>(step > 0, "slice step must be positive");
  int d = wrap_dim(dim, x.ndim(), "slice");
  int64_t n = x.sizes()[d];
  auto clamp = [n](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  int64_t b = clamp(start), e = std::max(clamp(end), b);
  Geometry g = same(x);
  g.offset += b * x.strides()[d];
  g.sizes[d] = e == b ? 0 : (e - b - 1) / step + 1;
  // A step beyond the axis is never taken: its stride is the axis's, so that nothing overflows.
  g.strides[d] = __builtin_mul_overflow(x.strides()[d], step, &g.strides[d]) ? x.strides()[d] : g.strides[d];
  return g;
}
Tensors Slice::vjp(const Saved& s, const Tensor& dy) const {
  return scatter_back(s, dy, [&](const Tensor& t) { return slice(t, dim, start, end, step); });
}

Geometry Squeeze::geometry(Inputs in) const {
  const Tensor& x = in[0];
  bool drop[kMaxDims] = {};
  if (dim)
    for (int64_t d : *dim) {
      int k = wrap_dim(d, x.ndim(), "squeeze");
      check(!drop[k], "squeeze: dim ", k, " appears multiple times in the list of dims");
      drop[k] = true;
    }
  Geometry g{{}, {}, x->offset};
  for (int i = 0; i < x.ndim(); i++) {
    if (x.sizes()[i] == 1 && (!dim || drop[i])) continue;
    g.sizes.push(x.sizes()[i]);
    g.strides.push(x.strides()[i]);
  }
  return g;
}
Tensors Squeeze::vjp(const Saved& s, const Tensor& dy) const { return {reshape(dy, s.input_meta(0).sizes)}; }

Geometry Unsqueeze::geometry(Inputs in) const {
  const Tensor& x = in[0];
  int d = wrap_dim(dim, x.ndim() + 1, "unsqueeze");
  Geometry g = same(x);
  int64_t stride = 1;
  if (d < x.ndim() && __builtin_mul_overflow(x.sizes()[d], x.strides()[d], &stride)) stride = 0;  // never taken
  g.sizes.insert(d, 1);
  g.strides.insert(d, stride);
  return g;
}
Tensors Unsqueeze::vjp(const Saved& s, const Tensor& dy) const {
  return {squeeze(dy, std::optional<Dims>(Dims{wrap_dim(dim, s.input_meta(0).sizes.n + 1, "unsqueeze")}))};
}

Geometry AsStrided::geometry(Inputs in) const {
  const Tensor& x = in[0];
  check(size.n == stride.n, "as_strided: mismatch in length of strides and shape: ", stride, " and ", size);
  for (int i = 0; i < size.n; i++) {
    check(size[i] >= 0, "as_strided: Trying to create tensor with negative dimension ", size[i]);
    check(stride[i] >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  }
  // An argument's stand-in in a trace counts offsets from where the argument begins, and ends where it ends.
  graph::check_place_is_known(x, "as_strided is told a place in the memory of");
  int64_t offset = storage_offset.value_or(x->offset), last = checked_add(extent(size, stride).high, offset);
  check(offset >= 0, "as_strided: storage_offset must be non-negative, got ", offset);
  check(size.product() == 0 || checked_mul(checked_add(last, 1), int64_t(size_of(x.dtype()))) <= int64_t(x->storage->bytes),
        "as_strided: setStorage: sizes ", size, ", strides ", stride, ", storage offset ", offset,
        " are out of bounds for storage of size ", x->storage->bytes);
  return {size, stride, offset};
}

// Overlapping views add up: accumulate each element of dy at its place in a buffer that spans the input's storage.
Tensors AsStrided::vjp(const Saved& s, const Tensor& given) const {
  const Meta& m = s.input_meta(0);
  Tensor dy = given;
  Dims size = this->size;
  for (int d = 0; d < size.n; d++)  // a sum of halves along an expanded axis is rounded once
    if (stride[d] == 0 && size[d] > 1) dy = sum(dy, Dims{d}, true), size[d] = 1;
  // Both geometries in one buffer that begins at the lower of the two; what the input does not cover falls away.
  int64_t shift = storage_offset.value_or(m.offset) - m.offset, low = std::min<int64_t>(shift, 0);
  int64_t reach = std::max(extent(m.sizes, m.strides).high, extent(size, stride).high + shift) - low + 1;
  Tensor flat = zeros_of(Meta(Dims{reach}, dy.dtype(), dy.device()));
  const std::optional<int64_t> begin(shift - low);
  if (is_apart(size, stride)) copy_into(as_strided(flat, size, stride, begin), dy);
  else flat = index_add_of(flat, 0, reshape(as_strided(arange_of(reach), size, stride, begin), Dims{-1}), reshape(dy, Dims{-1}));
  if (!is_apart(m.sizes, m.strides)) {  // elements of one place share its gradient. Source: PyTorch's as_strided_backward
    const Tensor places = reshape(as_strided(arange_of(reach), m.sizes, m.strides, std::optional<int64_t>(-low)), Dims{-1});
    const Tensor ones = full_of(Meta(places.sizes(), dy.dtype(), dy.device()), Scalar(1.0));
    flat = flat / index_add_of(zeros_of(flat.meta()), 0, places, ones);
  }
  return {as_strided(flat, m.sizes, m.strides, std::optional<int64_t>(-low))};
}

Geometry Diagonal::geometry(Inputs in) const {
  const Tensor& x = in[0];
  int a = wrap_dim(dim1, x.ndim(), "diagonal"), b = wrap_dim(dim2, x.ndim(), "diagonal");
  check(a != b, "diagonal: diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t n = offset >= 0 ? std::min(x.sizes()[a], checked_sub(x.sizes()[b], offset))
                          : std::min(checked_add(x.sizes()[a], offset), x.sizes()[b]);
  Geometry g = same(x);
  n = std::max<int64_t>(n, 0);
  if (n > 0) g.offset += offset >= 0 ? offset * x.strides()[b] : -offset * x.strides()[a];
  int64_t step = checked_add(x.strides()[a], x.strides()[b]);
  g.sizes.erase(std::max(a, b)), g.strides.erase(std::max(a, b));
  g.sizes.erase(std::min(a, b)), g.strides.erase(std::min(a, b));
  g.sizes.push(n), g.strides.push(step);
  return g;
}
Tensors Diagonal::vjp(const Saved& s, const Tensor& dy) const {
  return scatter_back(s, dy, [&](const Tensor& t) { return diagonal(t, offset, dim1, dim2); });
}

Geometry Unfold::geometry(Inputs in) const {
  const Tensor& x = in[0];
  int d = wrap_dim(dimension, x.ndim(), "unfold");
  int64_t have = x.ndim() ? x.sizes()[d] : 1;
  check(size >= 0, "unfold: size is ", size, " but must be >= 0");
  check(size <= have, "unfold: maximum size for tensor at dimension ", d, " is ", have, " but size is ", size);
  check(step > 0, "unfold: step is ", step, " but must be > 0");
  Geometry g = same(x);
  int64_t stride = x.ndim() ? x.strides()[d] : 1;
  if (x.ndim()) g.sizes[d] = (have - size) / step + 1, g.strides[d] = checked_mul(stride, step);
  g.sizes.push(size), g.strides.push(stride);
  return g;
}
Tensors Unfold::vjp(const Saved& s, const Tensor& dy) const {
  const Meta& m = s.input_meta(0);
  if (m.sizes.n == 0) return {size ? reshape(dy, Dims{}) : zeros_of(m)};
  return {fn::unfold_backward(dy, m.sizes, wrap_dim(dimension, m.sizes.n, "unfold"), size, step)};
}

Tensor Reshape::compose(Inputs in) const {
  const Tensor& x = in[0];
  Dims sizes = infer_size("reshape", shape, x.numel());
  if (x.is_contiguous() || view_strides(x, sizes)) return view(x, sizes);
  return view(clone_of(x, MemoryFormat::contiguous), sizes);
}

Tensor Flatten::compose(Inputs in) const {
  const Tensor& x = in[0];
  int a = wrap_dim(start_dim, x.ndim(), "flatten"), b = wrap_dim(end_dim, x.ndim(), "flatten");
  check(a <= b, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (x.ndim() == 0) return reshape(x, Dims{1});
  if (a == b) return x;
  Dims out;
  for (int i = 0; i < a; i++) out.push(x.sizes()[i]);
  int64_t joined = 1;
  for (int i = a; i <= b; i++) joined *= x.sizes()[i];
  out.push(joined);
  for (int i = b + 1; i < x.ndim(); i++) out.push(x.sizes()[i]);
  return reshape(x, out);
}

Tensor Unflatten::compose(Inputs in) const {
  const Tensor& x = in[0];
  int d = wrap_dim(dim, x.ndim(), "unflatten");
  check(sizes.n > 0, "unflatten: sizes must be non-empty");
  check(x.ndim() > 0, "unflatten: Dimension specified as ", dim, " but tensor has no dimensions");
  Dims part = infer_size("unflatten", sizes, x.sizes()[d]), out;
  for (int i = 0; i < d; i++) out.push(x.sizes()[i]);
  for (int64_t s : part) out.push(s);
  for (int i = d + 1; i < x.ndim(); i++) out.push(x.sizes()[i]);
  return view(x, out);
}

Tensor Narrow::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  check(length >= 0, "narrow(): length must be non-negative.");
  int d = wrap_dim(dim, x.ndim(), "narrow");
  int64_t n = x.sizes()[d], b = start < 0 ? start + n : start;
  check<IndexError>(start >= -n && start <= n, "narrow: start out of range (expected to be in range of [", -n, ", ", n,
                    "], but got ", start, ")");
  check(length <= n - b, "narrow: start (", b, ") + length (", length, ") exceeds dimension size (", n, ").");
  return slice(x, int64_t(d), b, b + length, int64_t(1));
}

Tensor NarrowTensor::compose(Inputs in) const {
  DType t = in[1].dtype();
  check(in[1].ndim() == 0 && !is_inexact(t) && t != DType::boolean, "narrow(): start must be an 0-dim integral Tensor.");
  return narrow(in[0], dim, graph::number_of(in[1]).to_int(), length);
}

Tensor Movedim::compose(Inputs in) const {
  const Tensor& x = in[0];
  int n = x.ndim();
  check(source.n == destination.n, "movedim: Invalid source or destination dims: source (", source,
        ") should contain the same number of dims as destination (", destination, ")");
  Dims order(n, -1);
  bool used[kMaxDims] = {};
  for (int i = 0; i < source.n; i++) {
    int s = wrap_dim(source[i], n, "movedim"), d = wrap_dim(destination[i], n, "movedim");
    check(!used[s], "movedim: repeated dim in `source` (", source, ")");
    check(n == 0 || order[d] < 0, "movedim: repeated dim in `destination` (", destination, ")");
    if (n == 0) continue;
    used[s] = true;
    order[d] = s;
  }
  int next = 0;
  for (int i = 0; i < n; i++) {
    if (order[i] >= 0) continue;
    while (used[next]) next++;
    order[i] = next++;
  }
  return permute(x, order);
}

Tensors Unbind::compose(Inputs in) const {
  check<IndexError>(in[0].ndim() > 0, "unbind: Dimension specified as ", dim, " but tensor has no dimensions");
  int d = wrap_dim(dim, in[0].ndim(), "unbind");
  Tensors out;
  for (int64_t i = 0; i < in[0].sizes()[d]; i++) out.push_back(select(in[0], int64_t(d), i));
  return siblings(std::move(out));
}

Tensors Split::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 0, "split expects at least a 1-dimensional tensor");
  check(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  int d = wrap_dim(dim, x.ndim(), "split");
  int64_t n = x.sizes()[d];
  check(split_size > 0 || n == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  Tensors out;
  for (int64_t b = 0; b < n || out.empty(); b += split_size) {
    int64_t step = std::min(split_size, n - b);
    out.push_back(slice(x, int64_t(d), b, b + step, int64_t(1)));
    if (b + step == n) break;
  }
  return siblings(std::move(out));
}

Tensors SplitSizes::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 0, "split_with_sizes expects at least a 1-dimensional tensor");
  int d = wrap_dim(dim, x.ndim(), "split");
  int64_t b = 0, n = x.sizes()[d];
  Tensors out;
  for (int64_t s : sizes) {
    check(s >= 0, "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", sizes);
    b = checked_add(b, s);
  }
  check(b == n, "split_with_sizes expects split_sizes to sum exactly to ", n, " (input tensor's size at dimension ", d,
        "), but got split_sizes=", sizes);
  b = 0;
  for (int64_t s : sizes) {
    out.push_back(slice(x, int64_t(d), b, b + s, int64_t(1)));
    b += s;
  }
  return siblings(std::move(out));
}

Tensors Chunk::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 0, "chunk expects at least a 1-dimensional tensor");
  check(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  int d = wrap_dim(dim, x.ndim(), "chunk");
  int64_t n = x.sizes()[d], size = checked_add(n, chunks - 1) / chunks;
  if (n == 0) {
    check(chunks <= 1 << 24, "chunk: ", chunks, " chunks of nothing are more than memory holds");
    const std::vector<int64_t> none(chunks, 0);
    return fn::split(in[0], Places(none.data(), chunks), dim);
  }
  return fn::split.over(in, size, dim);
}

static const ViewOps::Registration ops;

}  // namespace weir
