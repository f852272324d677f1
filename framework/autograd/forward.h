// Forward mode: tensors carry tangents, which every op pushes on.
//
//   y = op(x),  t_y = J t_x      beside the call itself, for each level in force
//
// One interpreter for all ops, no rule per op. A tangent is pushed by what an op already says of itself: a view of x is the same view of
// t_x; a linear op applies to t_x; element by element the Jacobian is diagonal, so the vjp is its own transpose; of a product one factor at a
// time becomes its tangent; and every other vjp is linear in its cotangent, so that its derivative by the cotangent in the direction t_x is
// J t_x (Townsend 2017).
//
// Levels nest: a tangent may have tangents of outer levels. Tangents are ordinary tensors, so all of this is recorded, batched and traced
// as any call, and what is saved for backward keeps its tangents: derivatives of either mode go through the other.
#pragma once
#include "framework/autograd/variable.h"

namespace weir {

/// A level inside all others.
LevelRef begin_forward_level();
/// Its tangents are none from then on.
void end_forward_level(const LevelRef& level);

/// Whether ops of this thread push tangents on.
extern constinit thread_local bool forward_enabled;

/// The tangent of `x`, undefined where it has none. A view made before its base had one shows the base's.
Tensor tangent(const Tensor& x, const LevelRef& level);
/// Gives `x` a tangent.
void set_tangent(const Tensor& x, const LevelRef& level, const Tensor& t);
/// `t`, or a copy of it, with the strides of `x` where these give each element its own place: a view of x is then the same view of it.
Tensor with_layout_of(const Tensor& x, const Tensor& t);
/// `x` as it is outside of the level: with its history, without the tangents of this level and of inner ones.
Tensor outside(const Tensor& x, const LevelRef& level);
/// Levels in force that any of the tensors has a tangent of, from the outermost inwards.
std::vector<LevelRef> forward_levels(Inputs tensors);
/// Gives `to` the tangents of `from`.
void share_tangents(const Tensor& from, const Tensor& to);
/// The same memory and tangents without history.
Tensor without_history(const Tensor& t);
/// Makes `t`, which has no history, what lies at a place of the graph already, as a saved tensor does.
void put_at(const Tensor& t, const Edge& edge);

/// The vjp of a call, in PyTorch's convention for complex numbers. `grads` are those of all outputs, the first one defined.
Tensors pulled_back(const OpType& type, const void* op, const Saved& s, Tensors& grads);

}  // namespace weir
