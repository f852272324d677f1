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
enum class Layer : uint8_t { autocast, forward, autograd, kernel };
using Interpreter = void (*)(const OpType& type, const void* op, Inputs in, Tensor* out);
void set_interpreter(Layer layer, Interpreter run);

/// Takes the place of the kernels while a program is traced: all layers above run as they do without it, on tensors that
/// have no values. See graph/trace.h.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void record(const OpType& type, const void* op, Inputs in, Outputs out) = 0;
};

enum class Randomness : uint8_t { error, same, different };
/// A vmap in force on this thread.
struct BatchLevel {
  uint64_t id;
  int64_t size;
  Randomness randomness;
  const BatchLevel* outer;
  uint64_t begin = storages_made;  // what was made since then nobody outside has seen
};

/// What is special on this thread.
struct Mode {
  bool grad = true;
  bool inference = false;
  bool autocast = false;
  DType autocast_dtype = DType::bfloat16;
  Recorder* recorder = nullptr;
  const BatchLevel* level = nullptr;             // the innermost vmap in force
  const std::vector<BatchAxis>* axes = nullptr;  // those that results of the running call get
  uint64_t pass = UINT64_MAX;                    // storages_made when the outermost backward pass began
  bool packs = false;    // what is saved for backward goes through `saved_hooks`
  bool anomaly = false;  // nodes remember where they were made, and backward looks for NaN
};
extern constinit thread_local Mode mode;  // constinit: no call asks whether it was made

/// Whether a derivative depends on what becomes of `t`: the call is recorded, or pushes a tangent on.
inline bool is_differentiated(const Tensor& t) {
  if (!t) return false;
  const uint32_t flags = t->flags | (t->base ? t->base->flags : 0);
  return flags & kDual || (mode.grad && flags & kRequiresGrad);
}

/// Sets the grad mode for a scope.
class GradMode {
 public:
  explicit GradMode(bool on) : before_(mode.grad) { mode.grad = on; }
  ~GradMode() { mode.grad = before_; }
  GradMode(const GradMode&) = delete;

 private:
  bool before_;
};

/// Says for a scope which axes of batches results get.
class AxesOfResults {
 public:
  explicit AxesOfResults(const std::vector<BatchAxis>* axes) : before_(mode.axes) { mode.axes = axes; }
  ~AxesOfResults() { mode.axes = before_; }
  AxesOfResults(const AxesOfResults&) = delete;

 private:
  const std::vector<BatchAxis>* before_;
};

void call(const OpType& type, const void* op, Inputs in, Tensor* out);
/// Of each example of a batch what `unfilled` gives.
Tensor unfilled_batch(const Meta& m, const std::vector<BatchAxis>& axes);
/// As `empty`, for what an op will fill: without memory while a program is traced.
inline Tensor unfilled(const Meta& m) {
  if (mode.axes) [[unlikely]] return unfilled_batch(m, *mode.axes);
  return mode.recorder && m.device.type == DeviceType::cpu ? symbolic(m) : empty(m);
}
/// Whether output `i`, of these `sizes`, holds statistics for backward that this call did not take, as batch_norm in evaluation: it is empty.
inline bool untaken(const OpType& type, int i, const Dims& sizes) { return i > 0 && type.saves.outputs >> i & 1 && sizes.product() == 0; }
/// Continues with the layers inside `above`; for interpreters.
void call_below(Layer above, const OpType& type, const void* op, Inputs in, Tensor* out);
/// As call, for ops with any number of results (composites that return a list).
Tensors call_list(const OpType& type, const void* op, Inputs in);

/// Fills an op's members from C++ arguments; members left out keep the signature's defaults.
template <class T, class... A> T make_op(const A&... args) {
  T op = *reinterpret_cast<const T*>(op_type<T>().defaults.data());
  [&]<size_t... i>(std::index_sequence<i...>) { ((op.*T::fields.template at<i>() = args), ...); }(std::index_sequence_for<A...>{});
  return op;
}

/// Ops as C++ functions, the one way to call an op: arguments stand in the signature's order, those at the end that have a
/// default may be left out, a number stands for a tensor where the op takes numbers. Several ops are overloads of one name;
/// the first whose parameters take the arguments is called.
///
///   inline constexpr Fn<Softmax> softmax;       softmax(x, -1)
///   inline constexpr Fn<Gather> gather;         gather(x, dim, index)
///   add.inplace(x, y)                           x += y
///   cat.over(tensors, dim)                      the inputs as a list, then the attributes
template <class First, class... Rest> struct Fn {
  template <class... A> auto operator()(const A&... args) const { return chosen<A...>().run(nullptr, args...); }
  /// The result goes into the first argument, as `name_` does in Python.
  template <class... A> void inplace(const Tensor& self, const A&... rest) const {
    chosen<Tensor, A...>().run(&self, self, rest...);
  }
  template <class... A> static Tensors over(Inputs in, const A&... attributes) {
    First op = make_op<First>(attributes...);
    return call_list(op_type<First>(), &op, in);
  }
  template <class... A> static void into(const Tensor& self, Inputs in, const A&... attributes) {
    First op = make_op<First>(attributes...);
    Tensor out[kMaxOutputs] = {self};
    call(op_type<First>(), &op, in, out);
  }

 private:
  template <class T> struct Caller {
    static constexpr const Signature& s = T::signature;
    /// The field of parameter `k`: attributes only, in their order.
    static constexpr int field(int k) {
      int n = 0;
      for (int i = 0; i < k; i++) n += !is_input(s.params[i].ty);
      return n;
    }
    static constexpr int count_inputs(bool lists) {
      int n = 0;
      for (int i = 0; i < s.n; i++) n += lists ? s.params[i].ty == Ty::tensors : is_input(s.params[i].ty);
      return n;
    }
    template <int k, class A> static constexpr bool takes() {
      if constexpr (k >= s.n) return false;
      else if constexpr (s.params[k].ty == Ty::tensors) return std::is_convertible_v<A, Inputs> || std::is_same_v<A, std::initializer_list<Tensor>>;
      else if constexpr (is_input(s.params[k].ty)) return std::is_same_v<A, Tensor> || (std::is_arithmetic_v<A> && s.params[k].number_ok) || std::is_same_v<A, std::nullopt_t>;
      else return !std::is_same_v<A, Tensor> && std::is_constructible_v<std::remove_cvref_t<decltype(std::declval<T>().*T::fields.template at<field(k)>())>, const A&>;
    }
    template <class... A> static constexpr bool accepts() {
      return []<size_t... k>(std::index_sequence<k...>) {
        if (!(takes<int(k), A>() && ...)) return false;
        for (int i = int(sizeof...(A)); i < s.n; i++)
          if (s.params[i].fallback.empty() && s.params[i].ty != Ty::opt_tensor) return false;
        return true;
      }(std::index_sequence_for<A...>{});
    }

    static Tensor tensor(const Tensor& t) { return t; }
    static Tensor tensor(std::nullopt_t) { return {}; }
    static Tensor tensor(bool x) { return wrapped_number(Scalar(x)); }
    template <std::integral A> static Tensor tensor(A x) { return wrapped_number(Scalar(int64_t(x))); }
    static Tensor tensor(double x) { return wrapped_number(Scalar(x)); }

    template <int k, class Store, class A> static void place(T& op, Store& in, int& n, const A& arg) {
      if constexpr (s.params[k].ty == Ty::tensors) {
        for (const Tensor& t : arg) in.push_back(t);
      } else if constexpr (is_input(s.params[k].ty)) {
        if constexpr (std::is_same_v<Store, Tensors>) in.push_back(tensor(arg));
        else in[n++] = tensor(arg);
      } else {
        auto& member = op.*T::fields.template at<field(k)>();
        member = std::remove_cvref_t<decltype(member)>(arg);
      }
    }

    template <class... A> static auto run(const Tensor* self, const A&... args) {
      constexpr int kInputs = count_inputs(false);
      T op = make_op<T>();
      std::conditional_t<count_inputs(true) != 0, Tensors, std::array<Tensor, kInputs ? kInputs : 1>> in;
      int n = 0;
      [&]<size_t... k>(std::index_sequence<k...>) { (place<int(k)>(op, in, n, args), ...); }(std::index_sequence_for<A...>{});
      Inputs inputs(in.data(), count_inputs(true) ? in.size() : size_t(kInputs));
      if constexpr (s.returns == "list[Tensor]") {
        return call_list(op_type<T>(), &op, inputs);
      } else if constexpr (s.num_outputs == 1) {
        Tensor out[1];
        if (self) out[0] = *self;
        call(op_type<T>(), &op, inputs, out);
        return std::move(out[0]);
      } else {
        std::array<Tensor, s.num_outputs> out;
        if (self) out[0] = *self;
        call(op_type<T>(), &op, inputs, out.data());
        return out;
      }
    }
  };

  template <class Op, class... Others> struct Chosen {
    template <class... A> static constexpr auto of() {
      if constexpr (Caller<Op>::template accepts<A...>()) {
        return Caller<Op>{};
      } else {
        static_assert(sizeof...(Others) > 0, "these arguments fit no signature of the op");
        return Chosen<Others...>::template of<A...>();
      }
    }
  };
  template <class... A> static constexpr auto chosen() { return Chosen<First, Rest...>::template of<A...>(); }
};

}  // namespace weir
