#include "framework/op/call.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "framework/core/layout.h"
#include "framework/core/warn.h"
#include "framework/op/batch.h"
#include "framework/op/carried.h"
#include "framework/op/copy.h"
#include "framework/op/observe.h"
#include "framework/op/out.h"

namespace weir {

constinit thread_local Mode mode;

namespace {

Interpreter interpreters[int(Layer::kernel)] = {};
constinit std::atomic<Observer*> observer{nullptr};

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }
/// Tells `watcher` of a call when it ends, also by an exception.
struct Observed {
  Observer* watcher;
  const OpType& type;
  Inputs in, out;
  int64_t begin = now();
  Observed(Observer* watcher, const OpType& type, Inputs in, Inputs out) : watcher(watcher), type(type), in(in), out(out) {}
  ~Observed() { watcher->ended(type, in, out, begin, now()); }
};

std::string_view op_name(const OpType& type) { return type.signature->name; }

[[noreturn]] void no_kernel(const OpType& type, DeviceType device) {
  throw NotImplemented(str(op_name(type), ": not implemented for device ", name_of(device)));
}

// Whether `out` can be handed to the kernel as it is.
bool fits(const OpType& type, const Tensor& out, const Meta& m, Inputs in) {
  if (!(out.sizes() == m.sizes)) return false;
  // What is computed of halves is rounded to them first, and sums of truths are truths.
  if (elementwise(type) && out.dtype() != m.dtype && (is_reduced(m.dtype) || (m.dtype == DType::boolean && type.gradient.exists))) return false;
  if (type.layouts == Layouts::any) {
    bool one_kind = is_floating(m.dtype) == is_floating(out.dtype()) && is_complex(m.dtype) == is_complex(out.dtype());
    if (!one_kind && out.dtype() != m.dtype) return false;
    // Loops that are not also called in place compute in the dtype of what they write.
    if (elementwise(type) && !type.inplace.offered && out.dtype() != m.dtype) return false;
    // A kernel that is no element-wise loop writes in the layout that infer chose, and in no other.
    if (!type.inplace.offered && !(m.row_major() ? out.is_contiguous() : out.strides() == m.strides)) return false;
  } else if (out.dtype() != m.dtype || !out.is_contiguous() || !m.row_major()) {
    return false;
  }
  // Reading and writing the same memory is safe only element by element through the same geometry.
  for (const Tensor& x : in)
    if (x && x->storage == out->storage &&
        !(type.layouts == Layouts::any && x->offset == out->offset && x.sizes() == out.sizes() && x.strides() == out.strides() &&
          x.dtype() == out.dtype()))
      return false;
  return true;
}

// A kernel reads the memory of its own device; what `infer` promised may be short of that.
void check_devices(const OpType& type, DeviceType device, Inputs tensors) {
  for (const Tensor& x : tensors)
    check(!x || x.device().type == device, op_name(type), ": Expected all tensors to be on the same device, but found at least two "
          "devices, ", name_of(device), " and ", x ? name_of(x.device().type) : "", "!");
}

void run_kernel(const OpType& type, const void* op, Inputs in, Tensor* out, int n);

// By the kernel alone: whatever had to be checked has been.
void copy_elements(Tensor out, const Tensor& value) {
  const OpType& copy = op_type<Copy>();
  run_kernel(copy, copy.defaults.data(), std::array{out, value}, &out, 1);
}

bool any_batched(Inputs tensors) {
  return batches.load(std::memory_order_relaxed) && std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t && t.is_batched(); });
}

void run_or_record(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out) {
  if (any_batched(in) || any_batched(out) || (mode.axes && is_random(type))) [[unlikely]] return run_batched(type, kernel, op, in, out, run_or_record);
  if (any_storage_only(in) || any_storage_only(out)) [[unlikely]] {
    Meta metas[kMaxOutputs];
    for (size_t i = 0; i < out.size(); i++) metas[i].dtype = out[i].dtype();
    if (!mode.recorder) return run_carried(type, kernel, op, in, out, metas);
    check_carried(type, in, out, metas);
  }
  if (mode.recorder) return mode.recorder->record(type, op, in, out);
  kernel(op, in, out);
}

void run_kernel(const OpType& type, const void* op, Inputs in, Tensor* out, int n) {
  DeviceType device = out[0].device().type;
  if (device == DeviceType::meta) return;
  Kernel k = type.kernels[int(device)];
  if (!k) no_kernel(type, device);
  if (!type.calling.creates) check_devices(type, device, in);  // a factory only looks at the shape of its input
  check_devices(type, device, Inputs(out, n));
  bool reorder = false;
  if (type.layouts == Layouts::row_major)
    for (int i = 0; i < n; i++) reorder = reorder || !out[i].is_contiguous();
  if (!reorder) return run_or_record(type, k, op, in, Outputs(out, n));
  // A kernel that only writes row by row fills tensors of its own where a result has another order of axes.
  Tensor rows[kMaxOutputs];
  for (int i = 0; i < n; i++) rows[i] = unfilled(Meta(out[i].sizes(), out[i].dtype(), out[i].device()));
  run_or_record(type, k, op, in, Outputs(rows, n));
  for (int i = 0; i < n; i++) copy_elements(out[i], rows[i]);
}

// An out= of no elements, for statistics that are not taken: nothing goes into nothing, of whatever dtype.
bool takes_nothing(const OpType& type, int i, const Tensor& out, const Meta* metas) {
  return out.numel() == 0 && metas[0].sizes.product() && untaken(type, i, metas[i].sizes);
}

// An out= of a factory takes its shape without a warning, as in PyTorch.
void resize_silently(const OpType& type, const Tensor& out, const Dims& sizes) {
  const bool kept = type.out.takes == Out::row && out.numel() == sizes.product();
  if (!kept && !(out.sizes() == sizes)) resize(out, sizes);
}

// Whether elements are copied over themselves, which they may be where several share memory too. Source: PyTorch's copy_, which returns early.
bool copies_itself(const OpType& type, const Tensor& self, Inputs in) {
  if (!type.inplace.copies || !in[1]) return false;
  const Tensor& x = in[1];
  return x->storage == self->storage && x->offset == self->offset && x.sizes() == self.sizes() && x.strides() == self.strides() && x.dtype() == self.dtype();
}

void call_with_outputs(const OpType& type, const void* op, Inputs in, Tensor* out, const Meta* metas, int n) {
  bool direct = true;
  for (int i = 0; i < n; i++) direct = direct && (!out[i] || fits(type, out[i], metas[i], in));
  if (direct) {
    for (int i = 0; i < n; i++) {
      if (!out[i]) out[i] = unfilled(metas[i]);
    }
    run_kernel(type, op, in, out, n);
    for (int i = 0; i < n; i++) bump_version(out[i]);
    return;
  }
  Tensor fresh[kMaxOutputs];
  for (int i = 0; i < n; i++) fresh[i] = unfilled(metas[i]);
  run_kernel(type, op, in, fresh, n);
  for (int i = 0; i < n; i++) {
    if (!out[i]) {
      out[i] = fresh[i];
    } else if (takes_nothing(type, i, out[i], metas)) {
      bump_version(out[i]);
    } else if ((type.inplace.may_repeat || (repeats(out[i]) && copies_itself(type, out[i], in))) && out[i].sizes() == metas[i].sizes) {
      copy_elements(out[i], fresh[i]);
      bump_version(out[i]);
    } else {
      if (type.calling.creates) resize_silently(type, out[i], metas[i].sizes);
      else if (type.new_shape == NewShape::rows) resize_out(out[i], metas[i].sizes);
      write_out(op_name(type), out[i], fresh[i], type.out.takes);
    }
  }
}

void check_inplace(const OpType& type, const Tensor& self, const Meta& m, Inputs in) {
  if (elementwise(type)) check_not_shifted(self, in.subspan(1));
  if (!type.inplace.may_repeat && !(repeats(self) && copies_itself(type, self, in))) check_no_repeats(self);
  if (type.inplace.apart) check_apart(self, in.subspan(1));
  check(self.sizes() == m.sizes, op_name(type), "_: output with shape ", self.sizes(),
        " doesn't match the broadcast shape ", m.sizes);
  check(!(is_complex(self.dtype()) && is_floating(m.dtype)), "In-place ", op_name(type), " is not supported for complex tensors.");
  check(can_cast(m.dtype, self.dtype()), op_name(type), "_: result type ", name_of(m.dtype),
        " can't be cast to the desired output type ", name_of(self.dtype()));
}

void call_view(const OpType& type, const void* op, Inputs in, Tensor* out) {
  const Tensor& x = in[0];
  Geometry g = type.geometry(op, in);
  Tensor v = alias(x, g.sizes, g.strides, g.offset);
  if (g.dtype) v->dtype = *g.dtype;
  v->flags ^= g.marks;
  if (g.unwatched) {
    v->own_writes = Ref(new WriteCount);
    v->flags &= ~kSibling;
  }
  // What has no gradients, as the same bytes in another dtype, is a plain alias. Source of the rest: PyTorch's CreationMeta.
  if (type.gradient.exists && !g.unwatched && !x.has_flag(kInference)) {
    v->base = x->base ? x->base : x.ref();
    v->seen_version = v.version();
    v->flags |= mode.grad ? x->flags & kUnrecorded : kUnrecorded;
  }
  out[0] = std::move(v);
}

// A composite in place that says so (`saves`) has parts whose gradients read what is about to be written over: they get a copy.
Tensors composed(const OpType& type, const void* op, Inputs in, const Tensor* out) {
  if (!(type.saves.inputs & 1) || !out[0] || in.empty() || !(out[0] == in[0]) || std::none_of(in.begin(), in.end(), is_differentiated))
    return type.compose(op, in);
  static const OpType* clone = find_op("clone");
  Tensors kept(in.begin(), in.end()), copy(1);
  call(*clone, clone->defaults.data(), in.first(1), copy.data());
  kept[0] = copy[0];
  return type.compose(op, kept);
}

// Of an op that has no derivative where its results are complex.
void check_derivable(const OpType& type, const Tensors& results) {
  for (const Tensor& x : results)
    check(!mode.grad || !is_complex(x.dtype()) || !x.has_flag(kRequiresGrad), op_name(type), " does not support automatic differentiation for "
          "outputs with complex dtype.");
}

// A result that shows what the composite made on its way is no view to the caller, who cannot reach the rest of that memory. What was
// written to since keeps its base, from which its history follows.
void forget_parts(Inputs in, Tensors& results) {
  for (const Tensor& r : results) {
    if (!r || !r->base) continue;
    auto given = [&](const Tensor& x) { return x && (x.get() == r->base.get() || x->base.get() == r->base.get()); };
    const bool current = !(r->base->flags & kRequiresGrad) || (r->flags & kRequiresGrad && r.version() == 0);
    if (current && std::none_of(in.begin(), in.end(), given)) r->base = {};
  }
}

// Whether an out= is one for statistics that are not taken, which stays as it is: of any shape. One of no elements, or beside none to take them of, is also of any dtype.
bool leaves_untaken(const OpType& type, int i, const Tensor& out, const Tensors& results) {
  const Tensor& r = results[size_t(i)];
  if (!untaken(type, i, r.sizes())) return false;
  check(out.numel() == 0 || results[0].numel() == 0 || out.dtype() == r.dtype(), op_name(type), ": Expected out tensor to have dtype ", name_of(r.dtype()), ", but got ",
        name_of(out.dtype()), " instead");
  return true;
}

void call_composite(const OpType& type, const void* op, Inputs in, Tensor* out) {
  if (type.inplace.may_repeat && !in.empty() && out[0] && out[0] == in[0] && repeats(out[0]))
    warn(str("Use of ", op_name(type), "_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation."));
  Tensors r = composed(type, op, in, out);
  forget_parts(in, r);
  if (!type.gradient.of_complex) check_derivable(type, r);
  for (size_t i = 0; i < r.size() && i < kMaxOutputs; i++) {
    if (!out[i]) {
      out[i] = std::move(r[i]);
      if (type.calling.creates) out[i]->storage->version = 0;  // its first content: nobody can have saved it before
    } else if (leaves_untaken(type, int(i), out[i], r)) bump_version(out[i]);
    else if (out[i].get() != r[i].get()) {
      bool inplace = type.inplace.offered && !in.empty() && out[i] == in[0];
      if (inplace && !type.inplace.may_repeat) check_no_repeats(out[i]);
      if (!inplace) {
        if (type.out.history == OutHistory::refused) check_out_history(op_name(type), out[i], r[i]);
        check_out(type, out[i], r[i].meta(), in);
        const bool rows = type.new_shape == NewShape::rows || (type.new_shape == NewShape::usual && !in.empty() && in[0] && !(r[i].sizes() == in[0].sizes()));
        if (rows && type.out.takes != Out::row) resize_out(out[i], r[i].sizes());
      }
      check(!inplace || type.out.takes != Out::same || out[i].dtype() == r[i].dtype(), op_name(type), "_: result type ", name_of(r[i].dtype()),
            " can't be cast to the desired output type ", name_of(out[i].dtype()));
      check(!inplace || out[i].sizes() == r[i].sizes(), op_name(type), "_: output with shape ", out[i].sizes(),
            " doesn't match the broadcast shape ", r[i].sizes());
      // A conjugate view holds other numbers than it shows, and gradients and tangents follow from ops alone.
      const bool plain = !((out[i]->flags | r[i]->flags) & kMarks) && !is_differentiated(out[i]) && !is_differentiated(r[i]);
      if (inplace && type.inplace.may_repeat && out[i].dtype() == r[i].dtype() && plain) {
        copy_elements(out[i], r[i]);  // which a copy that is an op would refuse where elements repeat
        bump_version(out[i]);
        continue;
      }
      if (type.calling.creates) resize_silently(type, out[i], r[i].sizes());
      write_out(op_name(type), out[i], r[i], type.out.takes);
    } else if (type.inplace.offered && !in.empty() && out[i] == in[0]) {
      bump_version(out[i]);  // what was asked for in place counts as written, also where nothing changes
    }
  }
}

// The kernel counts, makes its results and fills them; `metas` know dtype and device only.
void call_dynamic(const OpType& type, const void* op, Inputs in, Tensor* out, const Meta* metas, int n) {
  DeviceType device = metas[0].device.type;
  check(!mode.axes, "vmap: It looks like you're attempting to use an operator with dynamic shapes: the shape of what ", op_name(type), " gives depends on "
        "values, and could differ between the examples of a batch");
  check<NotImplemented>(device != DeviceType::meta, op_name(type), ": not possible on the meta device, since the shape of the result "
                        "depends on values");
  Kernel k = type.kernels[int(device)];
  if (!k) no_kernel(type, device);
  check_devices(type, device, in);
  if (mode.recorder && untraceable) untraceable(Obstacle::shape, str("the shape of what ", op_name(type), " returns depends on values"));
  Tensor made[kMaxOutputs];
  if (any_storage_only(in)) [[unlikely]] run_carried(type, k, op, in, Outputs(made, n), metas);
  else k(op, in, Outputs(made, n));
  for (int i = 0; i < n; i++) {
    if (!out[i]) {
      out[i] = made[i];
      if (mode.inference) out[i]->flags |= kInference;
      continue;
    }
    check_out(type, out[i], made[i].meta(), in);
    write_out(op_name(type), out[i], made[i], type.out.takes);
  }
}

void warn_of_complex32(DType t) {
  if (t == DType::complex32) [[unlikely]] warn_once("ComplexHalf (complex32) is experimental, and many operations do not take it yet.");
}

// Source: PyTorch's comparisons, which cast to one dtype first, and answer in it where the answer is not to be truth.
void warn_of_complex_truth(const Tensor& out, Inputs in) {
  for (const Tensor& x : in) {
    if (!x || !is_complex(x.dtype())) continue;
    const bool number = x.has_flag(kWrappedNumber);
    for (const Tensor& other : in)  // that keep their precision beside x: their common dtype is complex32
      if (other && other.dtype() == DType::float16 && (number || x.ndim() < std::min(other.ndim(), 1))) warn_of_complex32(DType::complex32);
    if (out && out.dtype() != DType::boolean) warn_of_lost_parts(x.dtype(), out.dtype(), out.numel());
    return;
  }
}

// The last step of a call, whose results are given or made here.
void compute(const OpType& type, const void* op, Inputs in, Tensor* out, const Meta* metas, bool given) {
  const int n = type.signature->num_outputs;
  if (given) return call_with_outputs(type, op, in, out, metas, n);
  for (int i = 0; i < n; i++) {
    out[i] = unfilled(metas[i]);
    if (mode.inference) out[i]->flags |= kInference;
  }
  run_kernel(type, op, in, out, n);
}

void compute_rounded(const OpType& type, const void* op, Inputs in, Tensor* out, const Meta* metas, bool given) {
  const std::byte* bytes = static_cast<const std::byte*>(op);
  std::vector<std::byte> own(bytes, bytes + type.size);
  Tensors inputs(in.begin(), in.end());
  type.round(own.data(), inputs, metas[0]);
  compute(type, own.data(), inputs, out, metas, given);
}

void call_kernel_layer(const OpType& type, const void* op, Inputs in, Tensor* out) {
  if (type.geometry) return call_view(type, op, in, out);
  Meta metas[kMaxOutputs];
  type.infer(op, in, metas);
  int n = type.signature->num_outputs;
  if (!out[0]) warn_of_complex32(metas[0].dtype);
  if (metas[0].dtype == DType::boolean && in.size() > 1 && elementwise(type)) warn_of_complex_truth(out[0], in);
  if (type.dynamic_shape) return call_dynamic(type, op, in, out, metas, n);
  bool given = false;
  for (int i = 0; i < n; i++) given |= out[i].defined();
  if (given) {
    for (int i = 0; i < n; i++)
      check(!out[i] || !out[i].has_flag(kInference) || mode.inference, "Inplace update to inference tensor outside InferenceMode is not "
            "allowed. You can make a clone to get a normal tensor before doing inplace update.");
    if (type.inplace.offered && !in.empty() && out[0] == in[0]) check_inplace(type, out[0], metas[0], in);
    else
      for (int i = 0; i < n; i++)
        if (out[i] && !takes_nothing(type, i, out[i], metas)) check_out(type, out[i], metas[i], in);
  }
  if (type.rounds && type.rounds(op, in, metas[0])) [[unlikely]] return compute_rounded(type, op, in, out, metas, given);
  compute(type, op, in, out, metas, given);
}

Tensor unmarked(const Tensor& t) {
  Tensor bytes = alias(t, t.sizes(), t.strides(), t->offset);
  bytes->flags &= ~kMarks;
  return bytes;
}

// The numbers of a marked tensor in a tensor without marks.
Tensor resolved(const Tensor& t) {
  static const OpType *conj = find_op("conjugate"), *neg = find_op("neg"), *ne = find_op("ne");
  Tensor r = unmarked(t);
  if (t.has_flag(kAnyByte)) {
    r->dtype = DType::uint8;
    // A repeated axis stays one: it has no say in the order of a result's axes.
    const Dims sizes = r.sizes(), strides = r.strides();
    Dims once = sizes;
    for (int i = 0; i < sizes.n; i++)
      if (strides[i] == 0 && sizes[i] > 1) once[i] = 1;
    r = alias(r, once, strides, r->offset);
    // At the same strides, gaps included: what an op says of its input's layout holds of the truths too.
    Tensor truths = unfilled(Meta(once, r.strides(), DType::boolean, r.device()));
    call_kernel_layer(*ne, ne->defaults.data(), std::array{r, wrapped_number(Scalar(int64_t(0)))}, &truths);
    Dims shown = truths.strides();
    for (int i = 0; i < sizes.n; i++)
      if (!(once[i] == sizes[i])) shown[i] = 0;
    return alias(truths, sizes, shown, truths->offset);
  }
  for (auto [mark, op] : {std::pair(kConj, conj), std::pair(kNeg, neg)}) {
    if (!t.has_flag(mark)) continue;
    // As a clone: axes of size 1 keep their strides.
    Tensor out = unfilled(with_strides({r.sizes(), r.dtype(), r.device()}, r));
    call_kernel_layer(*op, op->defaults.data(), std::array{r}, &out);
    r = out;
  }
  return r;
}

// A tensor of the same memory whose truths are 0 and 1 from now on.
Tensor settled(const Tensor& t) {
  const Tensor plain = unmarked(t);
  copy_elements(plain, resolved(t));
  return plain;
}

// Kernels know no marks: they get the numbers themselves, and what they wrote for a turned tensor is turned over into its bytes.
void call_resolved(const OpType& type, const void* op, Inputs in, Tensor* out) {
  auto marked = [](const Tensor& t) { return t && t->flags & kMarks; };
  auto turned = [](const Tensor& t) { return t && t->flags & kTurned; };
  const int n = type.signature->num_outputs;
  Tensor plain[kMaxOutputs];
  for (int i = 0; i < n; i++) {
    if (turned(out[i])) check_no_repeats(out[i]);
    plain[i] = turned(out[i]) ? resolved(out[i]) : marked(out[i]) ? settled(out[i]) : out[i];
  }
  Tensors inputs;
  inputs.reserve(in.size());
  for (const Tensor& x : in) inputs.push_back(!marked(x) ? x : x == out[0] ? plain[0] : resolved(x));
  call_kernel_layer(type, op, inputs, plain);
  for (int i = 0; i < n; i++) {
    if (!marked(out[i])) {
      out[i] = plain[i];
      continue;
    }
    if (!(out[i].sizes() == plain[i].sizes())) resize(out[i], plain[i].sizes());  // `plain` was resized as out= is
    if (!turned(out[i])) continue;
    Tensor shown = unmarked(plain[i]);
    shown->flags |= out[i]->flags & kMarks;
    copy_elements(unmarked(out[i]), resolved(shown));
    bump_version(out[i]);
  }
}

bool wants(Layer layer, uint32_t flags) {
  switch (layer) {
    case Layer::autocast: return mode.autocast;
    case Layer::forward: return flags & kDual;
    default: return mode.grad && (flags & kRequiresGrad);
  }
}

void call_from(int layer, const OpType& type, const void* op, Inputs in, Tensor* out) {
  uint32_t flags = out[0] ? out[0]->flags | (out[0]->base ? out[0]->base->flags : 0) : 0;
  for (const Tensor& x : in)
    if (x) flags |= x->flags | (x->base ? x->base->flags : 0);
  for (; layer < int(Layer::kernel); layer++) {
    // A composite's parts are recorded one by one; autocast may take it as a whole.
    if (type.compose && layer > int(Layer::autocast)) return call_composite(type, op, in, out);
    if (interpreters[layer] && wants(Layer(layer), flags)) return interpreters[layer](type, op, in, out);
  }
  if ((batches.load(std::memory_order_relaxed) || mode.level) && !type.geometry) [[unlikely]] {
    const Axes axes = axes_of_call(type, in);
    AxesOfResults scope(axes.empty() ? nullptr : &axes);
    return flags & kMarks ? call_resolved(type, op, in, out) : call_kernel_layer(type, op, in, out);
  }
  if (flags & kMarks && !type.geometry) return call_resolved(type, op, in, out);
  call_kernel_layer(type, op, in, out);
}

// No layer has a say in the composite itself, only in its parts.
bool is_transparent(const OpType& type) {
  return type.compose && !(mode.autocast && type.autocast != Autocast::unchanged);
}

}  // namespace

void set_interpreter(Layer layer, Interpreter run) { interpreters[int(layer)] = run; }

void set_observer(Observer* o) { observer = o; }

static void call_unobserved(const OpType& type, const void* op, Inputs in, Tensor* out) {
  if (is_transparent(type)) return call_composite(type, op, in, out);
  call_from(0, type, op, in, out);
}

void call(const OpType& type, const void* op, Inputs in, Tensor* out) {
  if (Observer* o = observer.load(std::memory_order_relaxed)) [[unlikely]] {
    Observed watched(o, type, in, type.compose ? Inputs() : Inputs(out, type.signature->num_outputs));
    return call_unobserved(type, op, in, out);
  }
  call_unobserved(type, op, in, out);
}

void call_below(Layer above, const OpType& type, const void* op, Inputs in, Tensor* out) {
  call_from(int(above) + 1, type, op, in, out);
}

Tensors call_list(const OpType& type, const void* op, Inputs in) {
  if (is_transparent(type) || type.signature->returns == "list[Tensor]") {
    std::optional<Observed> watched;
    if (Observer* o = observer.load(std::memory_order_relaxed)) [[unlikely]] watched.emplace(o, type, in, Inputs());
    Tensors r = type.compose(op, in);
    forget_parts(in, r);
    return r;
  }
  Tensors out(type.signature->num_outputs);
  call(type, op, in, out.data());
  return out;
}

}  // namespace weir
