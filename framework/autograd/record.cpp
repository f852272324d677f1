// The autograd interpreter: records every op the same way.
#include <cstring>

#include "framework/autograd/batch.h"
#include "framework/autograd/engine.h"
#include "framework/autograd/forward.h"
#include "framework/autograd/node_names.h"
#include "framework/autograd/nodes.h"
#include "framework/op/out.h"

namespace weir {
namespace {

void turn_over(Tensors& tensors) {
  for (Tensor& t : tensors)
    if (t) t = grad_ops.conj(t);
}

/// A tensor kept for backward, with the version it had. Outputs are kept without history: no reference cycle.
struct Kept {
  Tensor tensor;
  uint32_t version = 0;
  std::shared_ptr<void> packed;       // instead of the tensor, where the program packs what is saved
  std::shared_ptr<SavedHooks> hooks;  // those that packed it
  Edge edge;                          // its place in the graph, which what is unpacked takes

  Kept() = default;
  Kept(const Tensor& t) {
    if (t && mode.packs && saved_hooks && !t.has_flag(kWrappedNumber)) {
      if (requires_grad(t)) edge = gradient_edge(t);
      pack(t, saved_hooks);
    } else {
      tensor = t;
      version = t ? t.version() : 0;
    }
  }
  /// Keeps what `by` makes of `t` in the place of the tensor.
  void pack(const Tensor& t, std::shared_ptr<SavedHooks> by) {
    GradMode off(false);
    const uint32_t before = t.version();
    packed = by->pack(t);
    check(t.version() == before, "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be "
          "modified by in-place operations as this can lead to unexpected side-effects.");
    hooks = std::move(by);
    tensor = {};
  }
  bool defined() const { return tensor.defined() || packed; }
  Tensor unpacked() const {
    Tensor t = hooks->unpack(packed);
    if (!edge.node || !mode.grad) return t;
    Tensor recorded = without_history(t);
    put_at(recorded, edge);
    return recorded;
  }
};

struct OpNode final : Node, RecordedCall {
  const OpType* type;
  std::vector<KeptMeta> inputs;
  std::vector<Kept> kept_inputs, kept_outputs;
  const Tensors* grads = nullptr;  // during apply
  bool released = false, first_filled = false;  // filled: the gradient of the first output is none but zeros, during apply

  OpNode(const OpType& t, const void* o) : type(&t), large_(t.size > sizeof small_ ? new std::byte[t.size] : nullptr) {
    std::memcpy(large_ ? large_.get() : small_, o, t.size);
  }
  const OpType& op_type() const override { return *type; }
  const void* attributes() const override { return large_ ? large_.get() : small_; }
  bool freed() const override { return released; }
  bool keeps_input(int i) const override { return i < int(kept_inputs.size()) && kept_inputs[i].defined(); }
  bool keeps_output(int i) const override { return i < int(kept_outputs.size()) && kept_outputs[i].defined(); }
  void pack(bool of_output, int i, std::shared_ptr<SavedHooks> by) override {
    check(!released, "Calling register_hooks on a saved tensor after it has been freed. Specify retain_graph=True where saved tensors are "
          "needed after backward.");
    Kept& kept = (of_output ? kept_outputs : kept_inputs).at(i);
    check(!kept.packed, "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed "
          "at a time.");
    if (requires_grad(kept.tensor)) kept.edge = gradient_edge(kept.tensor);
    kept.pack(unpack(kept), std::move(by));
  }

  Tensor unpack(const Kept& k) const {
    check(!released, kReleased);
    if (k.packed) return k.unpacked();
    check(k.tensor.defined(), type->signature->name, ": backward asks for a tensor that was not saved");
    check(k.tensor.version() == k.version, "one of the variables needed for gradient computation has been modified "
          "by an inplace operation: ", type->signature->name, " saved a tensor of shape ",
          k.tensor.sizes(), " at version ", k.version, ", it is at version ", k.tensor.version(), " now");
    return k.tensor;
  }
  Tensor input(int i) const override {
    return keeps_input(i) ? unpack(kept_inputs[i]) : Tensor();
  }
  Tensor output(int i) const override {
    const Tensor kept = unpack(kept_outputs.at(i));
    if (!mode.grad) return kept;
    Tensor t = without_history(kept);
    put_at(t, {NodeRef::share(const_cast<OpNode*>(this)), uint32_t(i)});  // for higher orders
    return t;
  }
  Meta input_meta(int i) const override { return inputs[i].meta(); }
  int num_inputs() const override { return int(inputs.size()); }
  bool needs(int i) const override { return i < int(next.size()) && next[i].node && asks_for(*this, size_t(i)); }
  Tensor sum() const override { return Node::sum; }
  Tensor cotangent(int i) const override { return i < int(grads->size()) && (i || !first_filled) ? (*grads)[i] : Tensor(); }

  Tensor zeros_of_input(size_t i) const {
    const Meta m = inputs[i].meta();
    return grad_ops.zeros(Meta(m.sizes, m.dtype, m.device));
  }

  Tensors apply(Tensors&& g) override {
    check(!released || !(type->saves.inputs | type->saves.outputs), kReleased);
    check<NotImplemented>(type->vjp || !type->gradient.exists, "derivative for ", type->signature->name, " is not implemented");
    bool any = false;
    for (const Tensor& x : g) any |= x.defined();
    if (!any) return Tensors(next.size());
    if (!type->gradient.exists) {  // recorded only in place: what was there no longer counts
      Tensors zeros(next.size());
      for (size_t i = 0; i < next.size(); i++)
        if (needs(int(i))) zeros[i] = zeros_of_input(i);
      return zeros;
    }
    g.resize(type->signature->num_outputs);
    first_filled = !g[0];
    if (first_filled) g[0] = grad_ops.zeros(metas[0].meta());  // only further outputs were used: a vjp may count on the first one's
    grads = &g;
    Tensors r = pulled_back(*type, attributes(), *this, g);
    grads = nullptr;
    // A gradient that was asked for and is none is zero: the input has no part in the derivative.
    for (size_t i = 0; i < r.size() && i < inputs.size(); i++)
      if (!r[i] && needs(int(i)) && inputs[i].sizes().product()) r[i] = zeros_of_input(i);
    return r;
  }
  void keep_tangents(int i, const Tensor& t) override {
    if (i < int(kept_outputs.size()) && kept_outputs[i].tensor) share_tangents(t, kept_outputs[i].tensor);
  }
  void release() override {
    released = true;
    kept_inputs.clear();
    kept_outputs.clear();
  }
  std::string name() const override {
    auto axes = [&](size_t i) { return i < inputs.size() ? inputs[i].meta().sizes.n : 0; };
    return node_name(type->signature->name, axes(0), axes(2) > 0);
  }

 private:
  alignas(std::max_align_t) std::byte small_[64];  // of most ops the struct
  std::unique_ptr<std::byte[]> large_;
};

// The saved tensors pin their storages until backward, so only what `saves` names is kept.
void save_inputs(OpNode& node, Inputs in, bool inplace) {
  node.inputs.reserve(in.size());
  for (const Tensor& x : in) node.inputs.emplace_back(x ? x.meta() : Meta());
  uint8_t wanted = node.type->saves.inputs;
  if (!wanted) return;
  node.kept_inputs.resize(in.size());
  auto is_wanted = [&](size_t i) { return wanted >> (i < 7 ? i : 7) & 1; };
  auto gradient_elsewhere = [&](size_t i) {
    for (size_t j = 0; j < in.size(); j++)
      if (j != i && is_wanted(j) && node.next[j].node) return true;
    return false;
  };
  for (size_t i = 0; i < in.size(); i++) {
    if (!is_wanted(i) || !in[i] || (node.type->saves.factors && !gradient_elsewhere(i))) continue;
    // The clone is recorded: a second derivative reaches what was there before through it.
    Tensor t = inplace && i == 0 ? grad_ops.clone(in[i]) : in[i];
    check(!t.has_flag(kInference), "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
          "tensor and use it in autograd.");
    node.kept_inputs[i] = Kept(t);
  }
}

void autograd(const OpType& type, const void* op, Inputs in, Tensor* out);

// The result and its history, copied into out=.
void record_into_out(const OpType& type, const void* op, Inputs in, Tensor* out) {
  Tensor result[kMaxOutputs];
  autograd(type, op, in, result);
  for (int i = 0; i < type.signature->num_outputs; i++) {
    check_out(type, out[i], result[i].meta(), in);
    write_out(std::string(type.signature->name).c_str(), out[i], result[i]);
  }
}

void autograd(const OpType& type, const void* op, Inputs in, Tensor* out) {
  const int n = type.signature->num_outputs;
  bool inplace = out[0] && !in.empty() && out[0] == in[0];
  bool cuts = inplace && !type.inplace.keeps_history;  // what was there no longer counts
  bool unrecorded = inplace && !type.inplace.into_integers && !is_inexact(out[0].dtype());
  if (unrecorded || (!type.gradient.exists && !cuts)) {
    GradMode off(false);  // a result that is cast into place would be recorded as a copy
    return call_below(Layer::autograd, type, op, in, out);
  }
  if (inplace) check_inplace_allowed(std::string(type.signature->name) + "_", out[0]);
  else
    for (int i = 0; i < n; i++)
      check(!out[i] || !requires_grad(out[i]), type.signature->name, "(): functions with out=... "
            "arguments don't support automatic differentiation, but one of the arguments requires grad.");

  bool given = out[0].defined();
  auto* node = new OpNode(type, op);
  NodeRef ref(node);
  node->next.reserve(in.size());
  bool any = false, of_numbers = false;
  for (const Tensor& x : in) {
    node->next.push_back(x ? gradient_edge(x) : Edge{});
    any |= node->next.back().node || (x && requires_grad(x));  // an unrecorded view requires grad, which then goes nowhere
    of_numbers |= node->next.back().node && is_inexact(x.dtype());
  }
  lift_edges(*node, in, in);
  bool recorded = any || (inplace && requires_grad(out[0]));
  check(!given || inplace || !any || type.out.history != OutHistory::refused, type.signature->name,
        "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.");
  if (given && !inplace && any && type.out.history == OutHistory::kept) return record_into_out(type, op, in, out);
  if (!recorded || (given && !inplace)) return call_below(Layer::autograd, type, op, in, out);
  save_inputs(*node, in, inplace);
  if (mode.anomaly && user_location) node->made_at = user_location();
  call_below(Layer::autograd, type, op, in, out);

  for (int i = 0; i < n; i++) {
    Tensor t = type.saves.outputs >> i & 1 ? detach(out[i]) : Tensor();
    if (type.saves.outputs) node->kept_outputs.push_back(Kept(t));
  }
  if (inplace) return rebase_history(out[0], ref);
  // Casts are hidden ops: numbers may be turned into integers, but not be summed as such.
  check(is_inexact(out[0].dtype()) || !of_numbers || !(type.gradient.outputs & 1) || type.module == Module::hidden, type.signature->name, ": Autograd not support dtype: ",
        name_of(out[0].dtype()));
  check(type.gradient.of_complex || !is_complex(out[0].dtype()), type.signature->name, " does not support automatic differentiation for "
        "outputs with complex dtype.");
  for (int i = 0; i < n; i++) {
    const bool taken = out[i] && (out[i].ndim() > 1 || !(out[0].numel() && untaken(type, i, out[i].sizes())));  // an empty matrix is no statistic
    if (taken && is_inexact(out[i].dtype()) && type.gradient.outputs >> i & 1) set_history(out[i], ref, i);
  }
}

struct Install {
  Install() { set_interpreter(Layer::autograd, autograd); }
} install;

}  // namespace

Tensors pulled_back(const OpType& type, const void* op, const Saved& s, Tensors& grads) {
  // The gradient with respect to a complex number is the conjugate of the derivative, so a holomorphic op multiplies by
  // conjugate factors: its formula runs unchanged between two conjugations.
  bool complex = false;
  for (const Tensor& x : grads) complex |= x && is_complex(x.dtype());
  complex &= type.gradient.holomorphic && !type.geometry;
  if (complex) turn_over(grads);
  Tensors r = type.vjp(op, s, grads[0]);
  if (complex) turn_over(r);
  return r;
}

void check_inplace_allowed(const std::string& name, const Tensor& self) {
  const bool view = self.is_view();
  if (view) {
    check(!self.has_flag(kUnrecorded), "A view was created in no_grad or inference mode and is being modified in place with grad mode enabled. "
          "Make both the view and the change inside the block, which is not recorded then, or both outside.");
    const Tensor base(self->base);
    // Also where the leaf is itself a part of memory that nobody differentiates: no node stands between the two that could take the change.
    check(!((base.has_flag(kRequiresGrad) || self.has_flag(kRequiresGrad)) && !grad_fn(base)), "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  if (!self.has_flag(kRequiresGrad)) return;
  check(bool(grad_fn(self)), "a leaf Variable that requires grad is being used in an in-place operation.");
  if (!view) return;  // the message below is made in any case
  check(!self.has_flag(kSibling), name, ": Output 0 of ", grad_fn(self)->name(), " is a view and is being modified inplace. "
        "This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified "
        "inplace. You should replace the inplace operation by an out-of-place one.");
}

}  // namespace weir
