#include "framework/op/batch.h"

#include <algorithm>
#include <cstring>

#include "framework/core/generator.h"
#include "framework/op/changes.h"
#include "framework/op/copy.h"

namespace weir {
namespace {

const BatchAxis* axis_of(const Tensor& t, uint64_t level) {
  if (!t.is_batched()) return nullptr;
  for (const BatchAxis& a : t->storage->batch->axes)
    if (a.level == level) return &a;
  return nullptr;
}

int64_t in_elements(int64_t bytes, DType dtype) {
  const int64_t size = int64_t(size_of(dtype));
  check(bytes % size == 0, "vmap: examples lie ", bytes, " bytes apart, which is no whole number of elements of ", name_of(dtype));
  return bytes / size;
}

const StorageRef& memory_of(const Tensor& t) { return t.is_batched() ? t->storage->batch->memory : t->storage; }

// A tensor over the memory itself: `sizes` and `strides` are shown.
Tensor shown(const Tensor& t, const Dims& sizes, const Dims& strides) {
  Tensor r = alias(memory_of(t), t.dtype(), sizes, strides, t->offset);
  r->flags |= t->flags & ~uint32_t(kRequiresGrad);
  return r;
}

// The whole batch as one tensor: its axes in front of an example's, which are broadcast to `sizes`. Examples that share `t` repeat it.
Tensor whole(const Tensor& t, const Axes& axes, const Dims& sizes) {
  Dims all, strides;
  for (const BatchAxis& a : axes) {
    const BatchAxis* own = axis_of(t, a.level);
    all.push(a.size);
    strides.push(own ? in_elements(own->stride, t.dtype()) : 0);
  }
  const int lead = sizes.n - t.ndim();
  for (int i = 0; i < sizes.n; i++) {
    all.push(sizes[i]);
    strides.push(i < lead || (t.sizes()[i - lead] == 1 && sizes[i] != 1) ? 0 : t.strides()[i - lead]);
  }
  return shown(t, all, strides);
}
Tensor whole(const Tensor& t, const Axes& axes) { return whole(t, axes, t.sizes()); }

int64_t count(const Axes& axes) {
  Dims sizes;
  for (const BatchAxis& a : axes) sizes.push(a.size);
  return sizes.product();
}

// Whether these are axes of vmaps in force that were told this of random numbers.
bool all_draw(Randomness how, const Axes& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](const BatchAxis& a) {
    const BatchLevel* l = level_in_force(a.level);
    return l && l->randomness == how;
  });
}

// One call of a kernel for the whole batch, where the notation says how. Each way answers false, having done nothing, where it does not fit.
class AtOnce {
 public:
  AtOnce(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Axes& axes, RunKernel run)
      : type_(type), kernel_(kernel), op_(op), in_(in), out_(out), axes_(axes), run_(run) {}

  bool run() {
    if (axes_.size() + size_t(out_[0].ndim()) > 8 || (is_random(type_) && !all_draw(Randomness::different, axes_))) return false;
    if (&type_ == &op_type<Copy>()) return element_by_element();
    switch (type_.notation.kind) {
      case Notation::pointwise: return element_by_element();
      case Notation::elements: return alike() && element_by_element();
      case Notation::fill: return type_.inplace.offered && element_by_element();
      case Notation::move:
      case Notation::gather:
      case Notation::scatter: return has("dim") && axes_in_front();
      case Notation::along:
        if (std::strstr(type_.notation.text, " normalized_shape")) return lines_with_weights();
        [[fallthrough]];
      case Notation::reduce: return std::strstr(type_.notation.text, " dim") && has("dim") && axes_in_front();
      case Notation::matrices: return one_lead() && axes_in_front();
      case Notation::formula: return rows_of_linear() || axes_merged() || products();
      default: return false;
    }
  }

 private:
  bool batched(const Tensor& t) const { return t && t.is_batched(); }
  int param(std::string_view name) const {
    for (int i = 0; i < type_.signature->n; i++)
      if (type_.signature->params[i].name == name && !is_input(type_.signature->params[i].ty)) return i;
    return -1;
  }
  bool has(std::string_view name) const { return param(name) >= 0 || (name == "dim" && (param("dims") >= 0 || param("dim1") >= 0)); }

  bool alike() const {
    for (const Tensor& x : in_)
      if (x && (!(x.sizes() == out_[0].sizes()) || !x.is_contiguous())) return false;
    for (const Tensor& y : out_)
      if (!(y.sizes() == out_[0].sizes()) || !y.is_contiguous()) return false;
    return changed_inputs(type_, op_, in_).empty();
  }

  // Outputs as wholes, which a kernel that writes row by row can fill.
  bool outputs(Tensors& all) const {
    for (const Tensor& y : out_) {
      all.push_back(whole(y, axes_));
      if (type_.layouts == Layouts::row_major && !all.back().is_contiguous()) return false;
    }
    return true;
  }

  bool call(const OpType& type, const void* op, Tensors in) const {
    Tensors out;
    if (!outputs(out)) return false;
    for (size_t i = 0; i < in.size() && i < in_.size(); i++)  // in place stays in place
      if (in_[i] && in_[i] == out_[0] && in[i].sizes() == out[0].sizes()) in[i] = out[0];
    run_(type, type.kernels[int(DeviceType::cpu)], op, in, out);
    return true;
  }

  // Every input is broadcast to what an example's result is. Which dtype the kernel computes in may depend on which inputs are numbers of no
  // axes: what does not show that any more goes one by one.
  bool element_by_element() const {
    const Tensor* first = nullptr;
    for (const Tensor& x : in_) {
      if (!x || x.has_flag(kWrappedNumber)) continue;
      if (!first) first = &x;
      if (x.dtype() != first->dtype() && (x.ndim() == 0) != (first->ndim() == 0)) return false;
    }
    Tensors in;
    for (const Tensor& x : in_) in.push_back(!x || (x.has_flag(kWrappedNumber) && !batched(x)) ? x : whole(x, axes_, out_[0].sizes()));
    return call(type_, op_, std::move(in));
  }

  // Whether the axes in front of an example's matrices are the same for all inputs, so that nothing is broadcast.
  bool one_lead() const {
    const int lead = in_[0].ndim() - 2;
    for (const Tensor& x : in_) {
      if (!x) continue;
      if (x.ndim() < lead || x.ndim() > lead + 2) return false;
      for (int i = 0; i < lead; i++)
        if (x.sizes()[i] != in_[0].sizes()[i]) return false;
    }
    return true;
  }

  // The op's axes move behind those of the batch.
  bool axes_in_front() const {
    const int rank = in_[0] ? in_[0].ndim() : 0;
    const std::string_view name = type_.signature->name;
    if (name.starts_with("index_") && name != "index_select") return false;  // their index has one axis, whatever the input has
    if (rank == 0 || !changed_inputs(type_, op_, in_).empty()) return false;
    std::vector<std::byte> op(static_cast<const std::byte*>(op_), static_cast<const std::byte*>(op_) + type_.size);
    if (!shift(op.data(), rank)) return false;
    Tensors in;
    for (const Tensor& x : in_) {
      const bool index_only = name == "index_select" && in.size() == 1;
      if (x && index_only ? batched(x) : type_.notation.kind != Notation::matrices && x && x.ndim() != rank) return false;
      in.push_back(!x || index_only ? x : whole(x, axes_));
    }
    return call(type_, op.data(), std::move(in));
  }

  // Axes that an op is told, counted behind those of the batch.
  bool shift(std::byte* op, int rank) const {
    const int by = int(axes_.size());
    if (int k = param("whole"); k >= 0 && op[type_.fields[k].offset] != std::byte{0}) return false;
    const bool negative_is_clear = out_[0].ndim() == rank || type_.notation.kind == Notation::reduce;
    for (const char* name : {"dim", "dims", "dim1", "dim2"}) {
      const int k = param(name);
      if (k < 0) continue;
      std::byte* at = op + type_.fields[k].offset;
      auto moved = [&](int64_t d) { return (d < 0 ? d + rank : d) + by; };
      auto all = [&](Dims& dims) {
        for (int64_t& d : dims)
          if (d < 0 && !negative_is_clear) return false;
          else d = moved(d);
        if (dims.empty() && type_.notation.kind == Notation::reduce)
          for (int i = 0; i < rank; i++) dims.push(i + by);
        return true;
      };
      switch (type_.fields[k].ty) {
        case Ty::i64: {
          int64_t& d = *reinterpret_cast<int64_t*>(at);
          if (d < 0 && !negative_is_clear) return false;
          d = moved(d);
          break;
        }
        case Ty::ints:
          if (!all(*reinterpret_cast<Dims*>(at))) return false;
          break;
        case Ty::opt_ints: {
          auto& dims = *reinterpret_cast<std::optional<Dims>*>(at);
          if (!dims) dims = Dims();
          if (!all(*dims)) return false;
          break;
        }
        case Ty::opt_i64: {
          auto& d = *reinterpret_cast<std::optional<int64_t>*>(at);
          if (!d) return false;
          d = moved(*d);
          break;
        }
        default: return false;
      }
    }
    return true;
  }

  // Lines of the last axes, with weights that all examples share.
  bool lines_with_weights() const {
    Tensors in;
    for (size_t i = 0, k = 0; i < in_.size(); i++, k++) {
      while (!is_input(type_.signature->params[k].ty)) k++;
      const std::string_view name = type_.signature->params[k].name;
      const bool shared = name == "weight" || name == "bias";
      if (shared && batched(in_[i])) return false;
      in.push_back(shared || !in_[i] ? in_[i] : whole(in_[i], axes_));
    }
    for (const Tensor& y : out_)
      if (y.ndim() != in_[0].ndim()) return false;
    return call(type_, op_, std::move(in));
  }

  // "Xi, oi, o -> Xo": a capital letter stands for any axes, those of the batch too.
  bool rows_of_linear() const {
    const std::string_view text = type_.notation.text;
    if (text[0] < 'A' || text[0] > 'Z' || !text.ends_with('o') || text[0] != text[text.size() - 2] || out_.size() != 1) return false;
    for (size_t i = 1; i < in_.size(); i++)
      if (batched(in_[i])) return false;
    Tensors in(in_.begin(), in_.end());
    in[0] = whole(in_[0], axes_);
    return call(type_, op_, std::move(in));
  }

  // Where each tensor of the batch and each result begins with the axis of examples, `n` or `b`, and nothing else has it, the axes of the
  // batch are more of it: pictures of convolutions, matrices of products.
  bool axes_merged() const {
    const std::string_view text = type_.notation.text, results = text.substr(std::min(text.size(), text.find("->") + 3));
    const char letter = results.empty() ? 0 : results[0];
    if (letter != 'n' && letter != 'b') return false;
    for (size_t i = 1, at = 0; i < out_.size(); i++) {
      at = results.find(", ", at) + 2;
      if (results[at] != letter) return false;
    }
    std::vector<bool> has_it;
    size_t at = 0;
    for (const Tensor& x : in_) {
      const std::string_view term = text.substr(at, text.find_first_of(",-", at) - at);
      has_it.push_back(term.find(letter) != term.npos);
      if (x && (has_it.back() ? term[0] != letter : batched(x) || term.find_first_not_of(' ') == term.npos)) return false;
      at = text.find_first_not_of(' ', at + term.size() + 1);
    }
    Tensors in, out;
    for (const Tensor& y : out_) {
      out.push_back(merged(whole(y, axes_), false));
      if (!out.back()) return false;
    }
    for (size_t i = 0; i < in_.size(); i++) in.push_back(in_[i] && has_it[i] ? merged(whole(in_[i], axes_), true) : in_[i]);
    run_(type_, kernel_, op_, in, out);
    return true;
  }

  // A batch of "nm, mp -> np" is "bnm, bmp -> bnp", which is an op too.
  bool products() const {
    static const OpType *mm = find_op("mm"), *bmm = find_op("bmm");
    if (&type_ != mm || axes_.size() != 1) return false;
    return call(*bmm, bmm->defaults.data(), {whole(in_[0], axes_), whole(in_[1], axes_)});
  }

  // The batch's axes and the one behind them as one; by a copy, or undefined, where strides do not allow it.
  Tensor merged(const Tensor& t, bool may_copy) const {
    const int lead = int(axes_.size());
    Dims sizes, strides;
    int64_t n = 1, step = t.strides()[lead];
    bool even = true;
    for (int i = lead; i >= 0; i--) {
      even = even && (t.sizes()[i] == 1 || t.strides()[i] == checked_mul(n, step));
      n = checked_mul(n, t.sizes()[i]);
    }
    sizes.push(n);
    strides.push(step);
    for (int i = lead + 1; i < t.ndim(); i++) sizes.push(t.sizes()[i]), strides.push(t.strides()[i]);
    if (even) return shown(t, sizes, strides);
    if (!may_copy) return {};
    Tensor copy[1] = {unfilled(Meta(t.sizes(), t.dtype(), t.device()))};
    const OpType& type = op_type<Copy>();
    run_(type, type.kernels[int(DeviceType::cpu)], type.defaults.data(), std::array{copy[0], t}, Outputs(copy));
    return shown(copy[0], sizes, contiguous_strides(sizes));
  }

  const OpType& type_;
  Kernel kernel_;
  const void* op_;
  Inputs in_;
  Outputs out_;
  const Axes& axes_;
  RunKernel run_;
};

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
  t->flags |= x->flags & (kInference | kMarks | kNoVersion);
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
  if (count(axes) == 0) return;
  for (const Tensor& y : out) make_own(type, y, axes);
  for (int i : changed_inputs(type, op, in))
    if (in[i]) make_own(type, in[i], axes);
  AxesOfResults plain(nullptr);
  if (random && all_draw(Randomness::same, axes)) {
    check(!draws_by_inputs(type) || batch_axes(in).empty(), "Vmap does not currently support same randomness with a batched tensor input. Please file an issue");
    if (type.notation.kind == Notation::fill && type.inplace.offered) return draw_once(type, kernel, op, in, out[0], run);
  }
  if (!AtOnce(type, kernel, op, in, out, axes, run).run()) one_by_one(type, kernel, op, in, out, axes, run);
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
