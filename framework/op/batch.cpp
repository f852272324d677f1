#include "framework/op/batch.h"

#include <algorithm>
#include <cstring>

#include "framework/op/batch_at_once.h"
#include "framework/op/batch_layout.h"
#include "framework/op/changes.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"

namespace weir {
namespace {

// One tensor of a batch as the examples in turn show it: a storage whose beginning moves, so that what an op says of places in memory is said of
// the example's. Memory of a traced program has no beginning yet, and the offset moves instead.
struct Turn {
  Tensor example;
  StorageRef memory, own;
  int64_t first;
  std::vector<int64_t> steps;  // by axis, in bytes
  Turn(const Tensor& t, const Axes& axes) : example(shown(t, t.sizes(), t.strides())), memory(memory_of(t)), first(t->offset) {
    for (const BatchAxis& a : axes) {
      const BatchAxis* axis = axis_of(t, a.level);
      steps.push_back(axis ? axis->stride : 0);
    }
    if (memory->symbolic) return;
    example->storage = own = borrow_storage(memory->data, t->storage->bytes, [](void*) {}, nullptr);
    own->device = memory->device;
  }
  void show(const std::vector<int64_t>& index) {
    int64_t at = 0;
    for (size_t k = 0; k < index.size(); k++) at += index[k] * steps[k];
    if (own) own->data = memory->data + at;
    else example->offset = first + in_elements(at, example.dtype());
  }
};

Generator* generator_of(const OpType& type, const void* op) {
  Generator* g = nullptr;
  for (int i = 0; i < type.signature->n; i++)
    if (type.signature->params[i].ty == Ty::generator) std::memcpy(&g, static_cast<const std::byte*>(op) + type.fields[i].offset, sizeof g);
  return g ? g : &default_generator();
}

// Whether the numbers drawn depend on those of an input. A dropout's do not: it only multiplies by them.
bool draws_by_inputs(const OpType& type) { return type.notation.kind == Notation::elements && std::string_view(type.signature->name) != "dropout_with_mask"; }

void one_by_one(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Axes& axes, RunKernel run) {
  std::vector<Turn> turns;
  std::vector<int> of_in(in.size(), -1), of_out(out.size());
  for (size_t i = 0; i < out.size(); i++) of_out[i] = int(turns.size()), turns.emplace_back(out[i], axes);
  for (size_t i = 0; i < in.size(); i++) {
    if (!in[i]) continue;
    of_in[i] = in[i] == out[0] ? of_out[0] : int(turns.size());
    if (of_in[i] == int(turns.size())) turns.emplace_back(in[i], axes);
  }
  Tensors xs(in.size()), ys(out.size());
  for (size_t i = 0; i < in.size(); i++)
    if (of_in[i] >= 0) xs[i] = turns[of_in[i]].example;
  for (size_t i = 0; i < out.size(); i++) ys[i] = turns[of_out[i]].example;

  const bool same = is_random(type) && mode.level && mode.level->randomness == Randomness::same;
  std::optional<Generator::State> before;
  if (same) before = generator_of(type, op)->state;
  std::vector<int64_t> index(axes.size());
  const int64_t n = count(axes);
  for (int64_t i = 0; i < n; i++) {
    for (Turn& t : turns) t.show(index);
    if (same) generator_of(type, op)->state = *before;
    run(type, kernel, op, xs, ys);
    for (size_t k = axes.size(); k-- > 0 && ++index[k] == axes[k].size;) index[k] = 0;
  }
}

// Whether nobody outside of the axis's vmap, or of the backward pass that follows it, has seen the memory.
bool is_private(const Storage& s, uint64_t level) {
  const BatchLevel* l = level_in_force(level);
  return s.made > (l ? l->begin : mode.pass);
}

// What will be written to differs between examples from now on: memory that was made within their vmap becomes a batch's.
void make_own(const OpType& type, const Tensor& written, const Axes& axes) {
  Axes missing;
  bool can = true;
  for (const BatchAxis& a : axes) {
    const BatchAxis* own = axis_of(written, a.level);
    if (own && (own->stride || a.size <= 1 || !written.numel())) continue;
    can = can && !own && is_private(*written->storage, a.level);
    missing.push_back(a);
  }
  if (missing.empty() || (can && spread(*written->storage, missing))) return;
  check(!is_random(type), "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is "
        "necessary for your usage, please file an issue.");
  throw Error(str(type.signature->name, ": vmap: a tensor that all examples share cannot be written to in "
        "place with values that differ between them. Make it a part of the batch first, for example by torch.zeros_like of a tensor of the batch"));
}

// Numbers that all examples share, drawn as one example alone would draw them.
void draw_once(const OpType& type, Kernel kernel, const void* op, Inputs in, const Tensor& out, RunKernel run) {
  Tensor one[1] = {unfilled(Meta(out.sizes(), out.dtype(), out.device()))};
  Tensors alone(in.begin(), in.end());
  for (Tensor& x : alone)
    if (x && x.is_batched()) x = one[0];  // only its shape counts
  run(type, kernel, op, alone, Outputs(one));
  const OpType& copy = op_type<Copy>();
  Tensor all[1] = {out};
  run(copy, copy.kernels[int(DeviceType::cpu)], copy.defaults.data(), std::array{out, one[0]}, Outputs(all));
}

Axes without(const Axes& axes, uint64_t level) {
  Axes rest;
  for (const BatchAxis& a : axes)
    if (a.level != level) rest.push_back(a);
  return rest;
}

void insert(Axes& axes, const BatchAxis& a) {
  auto at = std::find_if(axes.begin(), axes.end(), [&](const BatchAxis& b) { return b.level >= a.level; });
  if (at == axes.end() || at->level != a.level) axes.insert(at, a);
}

// What each example has: as much as lies behind the beginning of the last one.
size_t bytes_of_each(const Storage& memory, const Axes& axes) {
  int64_t last = 0;
  for (const BatchAxis& a : axes) last = checked_add(last, checked_mul(std::max<int64_t>(a.size, 1) - 1, a.stride));
  return size_t(std::max<int64_t>(int64_t(memory.bytes) - last, 0));
}

Tensor over(const Tensor& x, Axes axes, const Dims& sizes, const Dims& strides) {
  StorageRef storage = memory_of(x);
  const size_t bytes = bytes_of_each(*storage, axes);
  if (!axes.empty()) storage = batched_storage(bytes, {storage, std::move(axes)});
  Tensor t = alias(std::move(storage), x.dtype(), sizes, strides, x->offset);
  t->flags |= x->flags & (kInference | kMarks);
  t->own_writes = x->own_writes;
  return t;
}

}  // namespace

const BatchLevel* level_in_force(uint64_t id) {
  const BatchLevel* l = mode.level;
  while (l && l->id != id) l = l->outer;
  return l;
}

Axes batch_axes(Inputs tensors) {
  Axes axes;
  for (const Tensor& t : tensors)
    if (t && t.is_batched())
      for (const BatchAxis& a : t->storage->batch->axes) insert(axes, a);
  return axes;
}

Axes axes_of_call(const OpType& type, Inputs in) {
  Axes axes = batch_axes(in);
  const bool random = is_random(type);
  for (const BatchLevel* l = mode.level; l && (random || type.calling.creates); l = l->outer) {
    check(!random || l->randomness != Randomness::error, "vmap: called random operation while in randomness error mode. Please either use the "
          "'same' or 'different' randomness flags on vmap or perform the randomness operation out of vmap");
    if (l->randomness == Randomness::different) insert(axes, {l->id, l->size, 0});
  }
  return axes;
}

Tensor unfilled_batch(const Meta& m, const Axes& axes) {
  AxesOfResults plain(nullptr);
  int64_t elements = numel_of(m.sizes);
  if (!m.row_major() && elements) elements = checked_add(extent(m.sizes, m.strides).high, 1);
  Axes own = axes;
  const int64_t examples = count(axes);
  const Tensor memory = unfilled(Meta(Dims{checked_mul(elements, examples)}, m.dtype, m.device));
  int64_t stride = checked_mul(elements, int64_t(size_of(m.dtype)));
  const int64_t bytes = stride;
  for (size_t i = own.size(); i-- > 0; stride *= examples ? own[i].size : 1) own[i].stride = examples ? stride : 0;
  return alias(batched_storage(size_t(bytes), {memory->storage, std::move(own)}), m.dtype, m.sizes, m.row_major() ? contiguous_strides(m.sizes) : m.strides, 0);
}

void run_batched(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, RunKernel run) {
  Axes axes = batch_axes(in);
  for (const BatchAxis& a : batch_axes(Inputs(out.data(), out.size()))) insert(axes, a);
  const bool random = is_random(type);
  for (size_t i = 0; random && mode.axes && i < mode.axes->size(); i++) insert(axes, {(*mode.axes)[i].level, (*mode.axes)[i].size, 0});
  auto empty = [](const Tensor& t) { return !t || t.numel() == 0; };
  const bool reads_nothing = elementwise(type) || std::all_of(in.begin(), in.end(), empty);
  if (count(axes) == 0 || (reads_nothing && std::all_of(out.begin(), out.end(), empty))) return;  // 2^40 times nothing
  for (const Tensor& y : out) make_own(type, y, axes);
  for (int i : changed_inputs(type, op, in))
    if (in[i]) make_own(type, in[i], axes);
  AxesOfResults plain(nullptr);
  if (random && all_draw(Randomness::same, axes)) {
    check(!draws_by_inputs(type) || batch_axes(in).empty(), "Vmap does not currently support same randomness with a batched tensor input. Please file an issue");
    if (type.notation.kind == Notation::fill && type.inplace.offered) return draw_once(type, kernel, op, in, out[0], run);
  }
  if (!run_at_once(type, kernel, op, in, out, axes, run)) one_by_one(type, kernel, op, in, out, axes, run);
}

bool in_batch(const Tensor& x, uint64_t level) { return axis_of(x, level); }

Tensor into_batch(const Tensor& x, int64_t dim, uint64_t level) {
  const int d = wrap_dim(dim, x.ndim(), "vmap");
  Axes axes = x.is_batched() ? x->storage->batch->axes : Axes();
  Dims sizes = x.sizes(), strides = x.strides();
  insert(axes, {level, sizes[d], strides[d] * int64_t(size_of(x.dtype()))});
  sizes.erase(d);
  strides.erase(d);
  return over(x, std::move(axes), sizes, strides);
}

Tensor out_of_batch(const Tensor& x, int64_t dim, uint64_t level, int64_t size) {
  const int d = wrap_dim(dim, x.ndim() + 1, "vmap");
  const BatchAxis* axis = axis_of(x, level);
  Dims sizes = x.sizes(), strides = x.strides();
  sizes.insert(d, axis ? axis->size : size);
  strides.insert(d, axis ? in_elements(axis->stride, x.dtype()) : 0);
  return over(x, x.is_batched() ? without(x->storage->batch->axes, level) : Axes(), sizes, strides);
}

}  // namespace weir
