// The nodes that are not an op's own: leaves, in-place writes through views, and views whose base changed.
#pragma once
#include "framework/autograd/variable.h"

namespace weir {

/// What `view` shows of `base`, from the base's first element on; it may show it in another dtype or turned over.
Geometry within(const Tensor& base, const Tensor& view);

/// What is said where a call's saved tensors are gone.
constexpr const char* kReleased =
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need "
    "to access saved tensors after calling backward.";

/// Asked before a gradient is added to a leaf's `.grad`; may raise. Set by the tracer's user.
extern thread_local void (*before_accumulation)();

/// Whether a first gradient is copied to its leaf's strides where it has others and could be kept as it is.
extern thread_local bool keeps_grad_layout;

/// Adds the gradient to a leaf's `.grad`. Threads may record calls of one leaf, run backward passes to it and drop its graphs at once.
struct AccumulateGrad : Node {
  Tensor leaf;
  explicit AccumulateGrad(const Tensor& t);
  /// The leaf's one, made where none is alive.
  static NodeRef of(const Tensor& leaf);
  /// Gives up a reference that may be the last; false where `of` has handed out another one meanwhile.
  bool ends();
  Tensors apply(Tensors&& grads) override;
  std::string name() const override { return "AccumulateGrad"; }
  bool is_accumulator() const override { return true; }
  /// The leaf's own hooks; the engine runs them, also where the gradient is only asked for.
  std::vector<TensorHook> hooks_of_leaf() const { return variable(leaf).leaf_hooks; }
};

/// History of a base after an in-place op `fn` on a view of it: the slice's gradient goes through fn, the rest passes.
struct CopySlices : Node {
  Meta base_meta;
  Geometry view;
  NodeRef fn;
  CopySlices(const Tensor& base, const Tensor& view, NodeRef fn);
  Tensors apply(Tensors&& grads) override;
  std::string name() const override { return "CopySlices"; }
  void release() override { fn->release(); }
};

/// The recorded call of an op, as programs look at it.
struct RecordedCall : Saved {
  virtual const OpType& op_type() const = 0;
  virtual const void* attributes() const = 0;  // the op's struct
  virtual bool freed() const = 0;
  /// Whether `input(i)`, or `output(i)`, was kept for backward.
  virtual bool keeps_input(int i) const = 0;
  virtual bool keeps_output(int i) const = 0;
  /// Packs what was kept. RuntimeError where it is packed already, or no longer there.
  virtual void pack(bool of_output, int i, std::shared_ptr<SavedHooks> hooks) = 0;
};

/// A view expressed by its geometry in the base, for views whose base changed after they were made.
struct AsStridedNode : Node {
  Meta base_meta;
  Geometry view;
  AsStridedNode(const Tensor& base, const Tensor& view);
  Tensors apply(Tensors&& grads) override;
  std::string name() const override { return "AsStridedBackward0"; }
};

/// RuntimeError where `self` may not be written to in place by the function `name`: a leaf that requires grad, a view of one, or one of
/// several views that one call made.
void check_inplace_allowed(const std::string& name, const Tensor& self);

}  // namespace weir
