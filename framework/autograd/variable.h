// What autograd hangs on a tensor: its place in the graph, its gradient, its hooks.
#pragma once
#include "framework/autograd/node.h"

namespace weir {

/// One derivative in forward mode, while it is in force; inner ones have larger numbers.
struct ForwardLevel {
  uint64_t id;
  std::atomic<bool> alive{true};
};
using LevelRef = std::shared_ptr<ForwardLevel>;
struct Tangent { LevelRef level; Tensor value; };

struct Variable : AutogradData {
  NodeRef grad_fn;             // null on a leaf
  uint32_t output_nr = 0;      // which output of grad_fn this tensor is
  Tensor grad;
  Node* accumulator = nullptr;  // borrowed: the AccumulateGrad node holds the tensor, not the reverse
  std::shared_ptr<Tensor> retained;  // .grad of a non-leaf after retain_grad(); its hook must not own the tensor
  std::vector<Node::TensorHook> leaf_hooks;   // run by the accumulator
  struct AfterAccumulate { uint64_t id; std::function<void()> fn; };
  std::vector<AfterAccumulate> post_accumulate;
  std::vector<Tangent> tangents;  // by rising level; see autograd/forward.h
  bool has_history() const override { return bool(grad_fn); }
};

/// The tensor's Variable, made on first use.
Variable& variable(const Tensor& t);
Variable* variable_or_null(const Tensor& t);

bool requires_grad(const Tensor& t);
bool is_leaf(const Tensor& t);
/// Raises for non-floating tensors and for clearing it on a non-leaf.
void set_requires_grad(const Tensor& t, bool on);
/// grad_fn, remade first when `t` is a view whose base was changed in place. Null on a leaf.
NodeRef grad_fn(const Tensor& t);
/// Where t's gradient goes; a null node when none is wanted.
Edge gradient_edge(const Tensor& t);
/// Makes `t` output `nr` of `node`.
void set_history(const Tensor& t, const NodeRef& node, uint32_t nr);
/// After an in-place op: `t`, or the base it is a view of, becomes the result of `node`.
void rebase_history(const Tensor& t, const NodeRef& node);
/// Same storage and version counter, no history. Source: torch.Tensor.detach.
Tensor detach(const Tensor& t);

/// `.grad`, of a leaf or retained.
Tensor grad_of(const Tensor& t);
uint64_t add_hook(const Tensor& t, Hook fn);
void remove_hook(const Tensor& t, uint64_t id);
void retain_grad(const Tensor& t);
/// `fn` runs after each gradient that was added to the leaf's `.grad`.
uint64_t add_after_accumulate(const Tensor& t, std::function<void()> fn);

/// What becomes of tensors that are saved for backward, set by a program for a while. Null: they are kept as they are.
struct SavedHooks {
  std::function<std::shared_ptr<void>(const Tensor&)> pack;
  std::function<Tensor(const std::shared_ptr<void>&)> unpack;
};
extern thread_local std::shared_ptr<SavedHooks> saved_hooks;
/// Where in the user's program a call is made; set by the binding, asked under anomaly mode.
extern std::string (*user_location)();

/// The few ops that autograd itself needs, set by ops/ when it loads (autograd lies below ops).
struct GradOps {
  Tensor (*sum_to)(const Tensor& t, const Dims& sizes);
  Tensor (*cast)(const Tensor& t, DType dtype);
  Tensor (*add)(const Tensor& a, const Tensor& b);
  void (*add_into)(const Tensor& a, const Tensor& b);
  Tensor (*zeros)(const Meta& meta);
  Tensor (*clone)(const Tensor& t);
  Tensor (*row_major)(const Tensor& t);  // a copy in that order
  Tensor (*shown_as)(const Tensor& whole, const Geometry& view);
  Tensor (*conj)(const Tensor& t);
  Tensor (*settled)(const Tensor& t);  // t, or what it shows where that is the conjugates of its bytes
  Tensor (*expand)(const Tensor& t, const Dims& sizes);
  bool (*has_nan)(const Tensor& t);
};
extern GradOps grad_ops;

}  // namespace weir
