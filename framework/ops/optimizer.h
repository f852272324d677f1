// Optimizer steps as ops: one call updates all parameters of a group, in one pass over the memory of each.
//
// The inputs of an update are, for every parameter, a run of tensors
//   parameter, gradient, numbers (of one element: the count of steps, ...), state (of the parameter's geometry)
// and the rate behind them all. Numbers and rate are tensors, so that a traced step stays true when they change. Everything but
// gradients and rate is changed in place; the result is the first parameter, given as `out`.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// How many tensors of each kind an update takes behind parameter and gradient.
struct UpdateLayout {
  int numbers, states;
  int width() const { return 2 + numbers + states; }
};

/// Whether a run of tensors is one that updates take: float32 or float64 on the CPU, dense, of one geometry. `halves_too`: gradients of float32
/// parameters may be of a half type, as a graph leaves them that would widen them for the update alone.
bool takes_update(const UpdateLayout& layout, Inputs run, bool halves_too = false);
Meta infer_update(const OpType& type, const UpdateLayout& layout, Inputs in);

template <class T> struct Update : Op {
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  UpdateLayout layout_of() const { return static_cast<const T*>(this)->layout(); }
  Meta infer(Inputs in) const { return infer_update(op_type<T>(), layout_of(), in); }
};

struct SgdUpdate : Update<SgdUpdate> {
  static constexpr Signature signature =
      "sgd_update(tensors: list[Tensor], momentum: float, dampening: float, weight_decay: float, nesterov: bool, maximize: bool) -> Tensor";
  static constexpr auto doc = "Gradient descent. With momentum: a number that holds until the buffer has been filled, and the buffer. Source: Sutskever et al. 2013, in PyTorch's form.";
  static constexpr Notation notation = "elements";
  double momentum, dampening, weight_decay;
  bool nesterov, maximize;
  static constexpr Fields fields{&SgdUpdate::momentum, &SgdUpdate::dampening, &SgdUpdate::weight_decay, &SgdUpdate::nesterov, &SgdUpdate::maximize};
  UpdateLayout layout() const { return momentum != 0 ? UpdateLayout{1, 1} : UpdateLayout{0, 0}; }
};

struct AdamUpdate : Update<AdamUpdate> {
  static constexpr Signature signature =
      "adam_update(tensors: list[Tensor], beta1: float, beta2: float, eps: float, weight_decay: float, amsgrad: bool, decoupled: bool, maximize: bool) -> Tensor";
  static constexpr auto doc = "Adam, or AdamW where the decay is decoupled. Step; exp_avg, exp_avg_sq, and with amsgrad its largest. Source: Kingma and Ba 2015, Loshchilov and Hutter 2019, Reddi et al. 2018.";
  static constexpr Notation notation = "elements";
  double beta1, beta2, eps, weight_decay;
  bool amsgrad, decoupled, maximize;
  static constexpr Fields fields{&AdamUpdate::beta1, &AdamUpdate::beta2, &AdamUpdate::eps, &AdamUpdate::weight_decay, &AdamUpdate::amsgrad,
                                     &AdamUpdate::decoupled, &AdamUpdate::maximize};
  UpdateLayout layout() const { return {1, amsgrad ? 3 : 2}; }
};

struct RmspropUpdate : Update<RmspropUpdate> {
  static constexpr Signature signature =
      "rmsprop_update(tensors: list[Tensor], alpha: float, eps: float, weight_decay: float, momentum: float, centered: bool, maximize: bool) -> Tensor";
  static constexpr auto doc = "RMSprop. Step; square_avg, grad_avg where centred, momentum_buffer with momentum. Source: Hinton's lecture 6e, Graves 2013.";
  static constexpr Notation notation = "elements";
  double alpha, eps, weight_decay, momentum;
  bool centered, maximize;
  static constexpr Fields fields{&RmspropUpdate::alpha, &RmspropUpdate::eps, &RmspropUpdate::weight_decay, &RmspropUpdate::momentum,
                                     &RmspropUpdate::centered, &RmspropUpdate::maximize};
  UpdateLayout layout() const { return {1, 1 + centered + (momentum > 0)}; }
};

struct AdagradUpdate : Update<AdagradUpdate> {
  static constexpr Signature signature =
      "adagrad_update(tensors: list[Tensor], lr_decay: float, eps: float, weight_decay: float, maximize: bool) -> Tensor";
  static constexpr auto doc = "Adagrad. Step; sum. Source: Duchi et al. 2011.";
  static constexpr Notation notation = "elements";
  double lr_decay, eps, weight_decay;
  bool maximize;
  static constexpr Fields fields{&AdagradUpdate::lr_decay, &AdagradUpdate::eps, &AdagradUpdate::weight_decay, &AdagradUpdate::maximize};
  UpdateLayout layout() const { return {1, 1}; }
};

struct AdadeltaUpdate : Update<AdadeltaUpdate> {
  static constexpr Signature signature =
      "adadelta_update(tensors: list[Tensor], rho: float, eps: float, weight_decay: float, maximize: bool) -> Tensor";
  static constexpr auto doc = "Adadelta. Step; square_avg, acc_delta. Source: Zeiler 2012.";
  static constexpr Notation notation = "elements";
  double rho, eps, weight_decay;
  bool maximize;
  static constexpr Fields fields{&AdadeltaUpdate::rho, &AdadeltaUpdate::eps, &AdadeltaUpdate::weight_decay, &AdadeltaUpdate::maximize};
  UpdateLayout layout() const { return {1, 2}; }
};

struct AdamaxUpdate : Update<AdamaxUpdate> {
  static constexpr Signature signature =
      "adamax_update(tensors: list[Tensor], beta1: float, beta2: float, eps: float, weight_decay: float, maximize: bool) -> Tensor";
  static constexpr auto doc = "Adamax. Step; exp_avg, exp_inf. Source: Kingma and Ba 2015.";
  static constexpr Notation notation = "elements";
  double beta1, beta2, eps, weight_decay;
  bool maximize;
  static constexpr Fields fields{&AdamaxUpdate::beta1, &AdamaxUpdate::beta2, &AdamaxUpdate::eps, &AdamaxUpdate::weight_decay, &AdamaxUpdate::maximize};
  UpdateLayout layout() const { return {1, 2}; }
};

struct NadamUpdate : Update<NadamUpdate> {
  static constexpr Signature signature =
      "nadam_update(tensors: list[Tensor], beta1: float, beta2: float, eps: float, weight_decay: float, momentum_decay: float, decoupled: bool, maximize: bool) -> Tensor";
  static constexpr auto doc = "NAdam. Step, mu_product; exp_avg, exp_avg_sq. Source: Dozat 2016.";
  static constexpr Notation notation = "elements";
  double beta1, beta2, eps, weight_decay, momentum_decay;
  bool decoupled, maximize;
  static constexpr Fields fields{&NadamUpdate::beta1, &NadamUpdate::beta2, &NadamUpdate::eps, &NadamUpdate::weight_decay, &NadamUpdate::momentum_decay,
                                     &NadamUpdate::decoupled, &NadamUpdate::maximize};
  UpdateLayout layout() const { return {2, 2}; }
};

struct RadamUpdate : Update<RadamUpdate> {
  static constexpr Signature signature =
      "radam_update(tensors: list[Tensor], beta1: float, beta2: float, eps: float, weight_decay: float, decoupled: bool, maximize: bool) -> Tensor";
  static constexpr auto doc = "RAdam. Step; exp_avg, exp_avg_sq. Source: Liu et al. 2020.";
  static constexpr Notation notation = "elements";
  double beta1, beta2, eps, weight_decay;
  bool decoupled, maximize;
  static constexpr Fields fields{&RadamUpdate::beta1, &RadamUpdate::beta2, &RadamUpdate::eps, &RadamUpdate::weight_decay, &RadamUpdate::decoupled,
                                     &RadamUpdate::maximize};
  UpdateLayout layout() const { return {1, 2}; }
};

struct RpropUpdate : Update<RpropUpdate> {
  static constexpr Signature signature =
      "rprop_update(tensors: list[Tensor], shrink: float, grow: float, least: float, most: float, maximize: bool) -> Tensor";
  static constexpr auto doc = "Rprop. Step; prev, step_size. Source: Riedmiller and Braun 1993.";
  static constexpr Notation notation = "elements";
  double shrink, grow, least, most;
  bool maximize;
  static constexpr Fields fields{&RpropUpdate::shrink, &RpropUpdate::grow, &RpropUpdate::least, &RpropUpdate::most, &RpropUpdate::maximize};
  UpdateLayout layout() const { return {1, 2}; }
};

struct AsgdUpdate : Update<AsgdUpdate> {
  static constexpr Signature signature =
      "asgd_update(tensors: list[Tensor], lambd: float, alpha: float, t0: float, weight_decay: float, maximize: bool) -> Tensor";
  static constexpr auto doc = "SGD that averages its iterates. Step, eta, mu; ax. Source: Polyak and Juditsky 1992.";
  static constexpr Notation notation = "elements";
  double lambd, alpha, t0, weight_decay;
  bool maximize;
  static constexpr Fields fields{&AsgdUpdate::lambd, &AsgdUpdate::alpha, &AsgdUpdate::t0, &AsgdUpdate::weight_decay, &AsgdUpdate::maximize};
  UpdateLayout layout() const { return {3, 1}; }
};

struct LambUpdate : Update<LambUpdate> {
  static constexpr Signature signature =
      "lamb_update(tensors: list[Tensor], beta1: float, beta2: float, eps: float, weight_decay: float, decoupled: bool, correct: bool, maximize: bool) -> Tensor";
  static constexpr auto doc = "LAMB. Step; exp_avg, exp_avg_sq. Source: You et al. 2020.";
  static constexpr Notation notation = "elements";
  double beta1, beta2, eps, weight_decay;
  bool decoupled, correct, maximize;
  static constexpr Fields fields{&LambUpdate::beta1, &LambUpdate::beta2, &LambUpdate::eps, &LambUpdate::weight_decay, &LambUpdate::decoupled,
                                     &LambUpdate::correct, &LambUpdate::maximize};
  UpdateLayout layout() const { return {1, 2}; }
};

using OptimizerOps = OpList<SgdUpdate, AdamUpdate, RmspropUpdate, AdagradUpdate, AdadeltaUpdate, AdamaxUpdate, NadamUpdate, RadamUpdate,
                            RpropUpdate, AsgdUpdate, LambUpdate>;

/// The layout of the update op called `name`, with its options; empty where there is none.
std::optional<UpdateLayout> layout_of_update(const OpType& type, const void* op);

}  // namespace weir
