// The one door: every op call, from Python, C++, backward or a graph, goes through `call`.
//
//   call -> (autocast, autograd, ... where something is special) -> infer -> allocate -> kernel
//
// `out` has as many entries as the signature has outputs. A defined entry is written into (in-place or out=),
// an undefined one is allocated. In place means out[0] is in[0].
#pragma once
#include "framework/op/op.h"

namespace weir {

/// Interpreters from the outermost inwards; each handles all ops and calls the next inner one.
enum class Layer : uint8_t { trace, autocast, autograd, kernel };
using Interpreter = void (*)(const OpType& type, const void* op, Inputs in, Tensor* out);
void set_interpreter(Layer layer, Interpreter run);

/// What is special on this thread.
struct Mode {
  bool grad = true;
  bool inference = false;
  bool autocast = false;
  DType autocast_dtype = DType::bfloat16;
  bool trace = false;
};
extern thread_local Mode mode;

/// Sets the grad mode for a scope.
class GradMode {
 public:
  explicit GradMode(bool on) : before_(mode.grad) { mode.grad = on; }
  ~GradMode() { mode.grad = before_; }
  GradMode(const GradMode&) = delete;

 private:
  bool before_;
};

void call(const OpType& type, const void* op, Inputs in, Tensor* out);
/// Whether output `i`, of these `sizes` beside the `first` output's, holds statistics for backward that this call did not
/// take, as batch_norm in evaluation: it is empty, and the first is not.
inline bool untaken(const OpType& type, int i, const Dims& sizes, const Dims& first) {
  return i > 0 && type.saves.outputs >> i & 1 && sizes.product() == 0 && first.product() > 0;
}
/// Continues with the layers inside `above`; for interpreters.
void call_below(Layer above, const OpType& type, const void* op, Inputs in, Tensor* out);
/// As call, for ops with any number of results (composites that return a list).
Tensors call_list(const OpType& type, const void* op, Inputs in);

/// Fills an op's members from C++ arguments; members left out keep the signature's defaults.
template <class T, class... A> T make_op(const A&... args) {
  T op = *reinterpret_cast<const T*>(op_type<T>().defaults.data());
  [[maybe_unused]] auto values = std::tie(args...);
  [&]<size_t... i>(std::index_sequence<i...>) {
    ((op.*std::get<i>(T::fields) = std::get<i>(values)), ...);
  }(std::index_sequence_for<A...>{});
  return op;
}

/// An op as a C++ function: tensors first, then attributes in the signature's order.
///   inline constexpr Fn<Softmax> softmax;   softmax(x, -1)
template <class T> struct Fn {
  template <class... A> auto operator()(const A&... args) const {
    constexpr size_t tensors = (size_t(std::is_same_v<A, Tensor>) + ... + 0);
    return split(std::make_index_sequence<tensors>{}, std::make_index_sequence<sizeof...(A) - tensors>{},
                 std::tie(args...));
  }
  /// For ops over a list of tensors, and for those with more than one result.
  template <class... A> static Tensors over(Inputs in, const A&... attributes) {
    T op = make_op<T>(attributes...);
    if (op_type<T>().compose) return call_list(op_type<T>(), &op, in);
    Tensors out(T::signature.num_outputs);
    call(op_type<T>(), &op, in, out.data());
    return out;
  }
  /// In place: the result goes into `self`, the first input.
  template <class... A> static void into(const Tensor& self, Inputs in, const A&... attributes) {
    T op = make_op<T>(attributes...);
    Tensor out[kMaxOutputs] = {self};
    call(op_type<T>(), &op, in, out);
  }

 private:
  template <size_t... i, size_t... j, class Tuple>
  static auto split(std::index_sequence<i...>, std::index_sequence<j...>, const Tuple& args) {
    T op = make_op<T>(std::get<sizeof...(i) + j>(args)...);
    // Optional inputs at the end may be left out in C++: they stay undefined.
    constexpr int n = num_inputs();
    Tensor in[n > 0 ? n : 1] = {std::get<i>(args)...};
    if constexpr (T::signature.num_outputs == 1) {
      Tensor out[1];
      call(op_type<T>(), &op, Inputs(in, n), out);
      return std::move(out[0]);
    } else {
      std::array<Tensor, T::signature.num_outputs> out;
      call(op_type<T>(), &op, Inputs(in, n), out.data());
      return out;
    }
  }
  static constexpr int num_inputs() {
    int n = 0;
    for (int i = 0; i < T::signature.n; i++) n += is_input(T::signature.params[i].ty);
    return n;
  }
};

}  // namespace weir
