// An op is one struct; OpType is the same facts with the type erased.
//
//   struct Softmax : Op {
//     static constexpr Signature signature = "softmax(input: Tensor, dim: int) -> Tensor";
//     static constexpr auto doc = "Exponentials along dim, scaled to sum to 1. Shape: as input.";
//     int64_t dim;
//     static constexpr Fields fields{&Softmax::dim};
//     static constexpr Save saves{.outputs = 0b1};
//     Meta infer(Inputs in) const;                          // a kernel op
//     Tensors vjp(const Saved& s, const Tensor& dy) const;  // gradients per input, written with ops
//   };
//
// Three kinds, told apart by which member is there:
//   infer     a kernel op: the result is allocated and the device's kernel fills it
//   geometry  a view op: a new geometry over the input's storage, no kernel
//   compose   a plain function over other ops: gradient, graph form and SBP follow from them
// Everything after `type_of<T>` is ordinary code over OpType: no template reaches the engine.
#pragma once
#include <vector>

#include "framework/core/tensor.h"
#include "framework/op/notation.h"
#include "framework/op/signature.h"

namespace weir {

using Tensors = std::vector<Tensor>;

/// What backward needs of the call: a bit per input and per output. The last input bit stands for all further ones.
struct Save {
  uint8_t inputs = 0;
  uint8_t outputs = 0;
  bool factors = false;  // those inputs are factors: the result is linear in each, so the gradient of one is made of the others only
};

/// Where the Python name lives. `torch` also makes it a method of Tensor when its first parameter is a Tensor, `function` does not.
enum class Module : uint8_t { torch, functional, method, special, linalg, fft, hidden, function };

/// What `out=` may be. Source: PyTorch's checks, which differ between element-wise and indexing ops.
enum class Out : uint8_t {
  cast,   // any dtype that the result casts to
  apart,  // as cast, and no memory of an input
  exact,  // as apart, and the result's own dtype
  joined,  // as apart, but a dtype that the result does not cast to is a TypeError, as PyTorch's cat has it
  none,   // takes no out=
  same,   // the result's own dtype, in any memory
  row,    // as cast, and of as many elements as a result of one axis has, in any shape
  truth,  // bool or uint8
  usual,  // as most ops of its kind: cast for element-wise ops, composites and those that are told a dtype, same for others
};

/// What becomes of out= where inputs require grad. Source: PyTorch, where it follows from how an op is written.
enum class OutHistory : uint8_t {
  refused,  // it raises
  dropped,  // out gets the numbers only
  kept,     // out gets the result's history
};

/// Which precision autocast runs an op in. Source: https://pytorch.org/docs/stable/amp.html
/// A composite with a precision of its own is one op to autocast: within it nothing is cast again.
enum class Autocast : uint8_t { unchanged, lower, float32, promote, opaque };  // opaque: inputs as they are, nothing cast within

/// What a node kept from the forward call, as `vjp` sees it.
class Saved {
 public:
  virtual ~Saved() = default;
  virtual Tensor input(int i) const = 0;    // only those named in `saves`
  virtual Tensor output(int i = 0) const = 0;
  virtual Meta input_meta(int i) const = 0;
  virtual int num_inputs() const = 0;
  virtual bool needs(int i) const = 0;      // is the gradient of input i asked for?
  virtual Tensor cotangent(int i) const = 0;  // the gradient of output i, undefined when none reached it
  /// What other calls gave to the gradient of the only input, where `vjp` may add to it and return it; undefined elsewhere.
  virtual Tensor sum() const { return {}; }
};

struct Geometry {
  Dims sizes, strides;
  int64_t offset;                // in elements of the view
  std::optional<DType> dtype{};  // where the view shows its bytes as another type
  uint32_t marks = 0;            // of kMarks: those of the input that are turned over
  bool unwatched = false;        // no view to autograd: it counts its writes on its own, and what is written does not reach its input's history
};

/// The form of an op that writes into its first input, `name_`.
struct InplaceRule {
  bool offered = false;
  bool keeps_history = false;  // a tensor's history stays as if nothing had been written
  bool into_integers = true;   // recorded in a tensor of integers too, as in PyTorch
  bool may_repeat = false;     // an axis of the tensor may repeat one element, as in PyTorch
  bool copies = false;         // what is written is the second input: the tensor itself, whose elements may then repeat too, as in PyTorch
  bool apart = false;          // no other input may lie in the tensor's memory, as in PyTorch
};

/// What autograd makes of an op's results.
struct GradientRule {
  bool exists = true;      // false: results never require grad (comparisons, argmax)
  bool holomorphic = true;  // false: vjp conjugates complex factors itself
  bool of_complex = true;   // false: raises where results are complex and would require grad, as in PyTorch
  uint8_t outputs = 0xff;   // those that gradients flow into
};

/// What the op makes of an out=.
struct OutRule {
  Out takes = Out::usual;
  OutHistory history = OutHistory::refused;
  uint8_t no_numbers = 0;  // a bit per input that may be no number where out= is given, as in PyTorch
};

/// How Python calls an op.
struct CallRule {
  bool creates = false;       // a factory: takes layout=, pin_memory= and requires_grad=, and is no method
  bool only_numbers = false;  // takes "Tensor | Number" without one tensor among them
  bool numpy_names = true;    // takes axis=, keepdims= and the like, as all but PyTorch's Python functions do
  bool truthy = false;        // a flag may be anything that is true or not, and True a number, as in those that pass neither on to C++
  bool keepdim_alone = true, out_alone = true;  // takes keepdim=, and out=, without dim; else they belong to PyTorch's other overload
  bool writes_number = false;  // a number is written as it is: one from 2^63 on does not wrap around beside integers, as where they are computed with
  bool scalars = false;       // its float parameters are c10::Scalars in PyTorch, which hold no whole number beyond 64 bits
};

/// The strides of inputs and results that a kernel takes.
enum class Layouts : uint8_t {
  row_major,
  apart,  // any, but results may not lie over inputs
  any,
};

/// The rows an out= gets that takes the shape of a result, which is copied into it.
enum class NewShape : uint8_t {
  usual,    // a kernel's result: the result's strides; a composite's: rows of its own where it is not of the first input's shape
  rows,     // its own, as where PyTorch computes aside, resizes out= and copies
  as_made,  // the result's strides, as where PyTorch's kernel writes into out= itself
};

/// The members of an op that are its attributes, in the order of its signature. A std::tuple takes the compiler several times as long.
template <class... M> struct Fields {
  template <class F, class... Before> constexpr auto apply(F&& f, Before... before) const { return f(before...); }
};
template <class First, class... Rest> struct Fields<First, Rest...> {
  First first;
  Fields<Rest...> rest;
  /// f(all members).
  template <class F, class... Before> constexpr auto apply(F&& f, Before... before) const { return rest.apply(f, before..., first); }
  template <int k> constexpr auto at() const {
    if constexpr (k == 0) return first;
    else return rest.template at<k - 1>();
  }
};
template <class... M> Fields(M...) -> Fields<M...>;

struct Op {
  static constexpr Save saves{};
  static constexpr Module module = Module::torch;
  static constexpr Autocast autocast = Autocast::unchanged;
  static constexpr InplaceRule inplace{};
  static constexpr GradientRule gradient{};
  static constexpr OutRule out{};
  static constexpr NewShape new_shape = NewShape::usual;
  static constexpr CallRule calling{};
  static constexpr Layouts layouts = Layouts::row_major;
  static constexpr bool dynamic_shape = false;   // sizes depend on values: the kernel makes the results, infer says dtype and device
  static constexpr Notation notation{};          // index notation, for SBP and costs
  static constexpr Fields<> fields{};
};

using Kernel = void (*)(const void* op, Inputs in, Outputs out);
/// Filled by the kernel libraries. One small variable per op and nothing else, so kernels compile fast.
template <class T> inline Kernel kernel_slots[kNumDevices] = {};

struct Field {
  uint16_t offset;
  Ty ty;
};

struct OpType {
  const Signature* signature;
  const char* doc;
  Notation notation;
  size_t size;
  Save saves;
  Module module;
  Autocast autocast;
  InplaceRule inplace;
  GradientRule gradient;
  OutRule out;
  NewShape new_shape;
  CallRule calling;
  Layouts layouts;
  bool dynamic_shape;
  void (*infer)(const void* op, Inputs in, Meta* out);
  Geometry (*geometry)(const void* op, Inputs in);
  Tensors (*compose)(const void* op, Inputs in);
  Tensors (*vjp)(const void* op, const Saved& s, const Tensor& dy);
  Kernel* kernels;
  void (*construct)(void* op);
  bool (*rounds)(const void* op, Inputs in, const Meta& result);     // whether `round` changes anything
  void (*round)(void* op, Tensors& in, const Meta& result);          // makes its numbers and inputs what PyTorch's kernels see of them
  void (*take_out)(void* op, Inputs in, const Tensor& out);  // what the op makes of an out= before it computes: refuses it, or warns as PyTorch does
  std::array<Field, kMaxParams> fields;  // by parameter; inputs have no field
  // filled at registration
  std::vector<std::byte> defaults;
};

/// Registered ops in order; find_op takes "name" or "name.overload".
std::vector<OpType*>& registry();
OpType* find_op(std::string_view name);
/// Whether the op draws random numbers.
bool is_random(const OpType& type);
/// Writes the defaults of the signature and adds the op to the registry.
void register_op(OpType* type);

/// Whether a copy of the bytes is a copy. Dims copies fewer of them than it has, which is all that keeps it from being trivial.
template <class T> constexpr bool kIsBytes = std::is_trivially_copyable_v<T>;
template <> inline constexpr bool kIsBytes<Dims> = true;
template <> inline constexpr bool kIsBytes<std::optional<Dims>> = true;

template <class T> consteval bool fields_match() {
  const Signature& s = T::signature;
  int k = 0;
  bool ok = true;
  auto skip_inputs = [&] { while (k < s.n && is_input(s.params[k].ty)) k++; };
  T::fields.apply([&](auto... m) {
    ([&] {
      skip_inputs();
      ok = ok && k < s.n && s.params[k].ty == ty_of<std::remove_cvref_t<decltype(std::declval<T>().*m)>>();
      k++;
    }(), ...);
  });
  skip_inputs();
  return ok && k == s.n;
}

/// Source: PyTorch's kernels, of which iterators cast into out= and others do not.
template <class T> constexpr Out usual_out() {
  constexpr bool composite = requires(const T& op, Inputs in) { op.compose(in); };
  constexpr bool told = T::fields.apply([](auto... m) { return (std::is_same_v<std::remove_cvref_t<decltype(std::declval<T>().*m)>, std::optional<DType>> || ...); });
  return composite || told || T::calling.creates || T::notation.kind == Notation::pointwise ? Out::cast : Out::same;
}

template <class T> OpType make_op_type() {
  static_assert(fields_match<T>(), "signature and data members differ");
  static_assert(requires(const T& op, Inputs in) { op.compose(in); } ||
                    T::fields.apply([](auto... m) { return (!std::is_same_v<std::remove_cvref_t<decltype(std::declval<T>().*m)>, Places> && ...); }),
                "only a composite may hold Places, which are not its own");
  static_assert(T::fields.apply([](auto... m) { return (kIsBytes<std::remove_cvref_t<decltype(std::declval<T>().*m)>> && ...); }),
                "op structs are copied by memcpy");
  OpType t{};
  t.signature = &T::signature;
  t.doc = T::doc;
  t.notation = T::notation;
  t.size = sizeof(T);
  t.saves = T::saves;
  t.module = T::module;
  t.autocast = T::autocast;
  t.inplace = T::inplace;
  t.gradient = T::gradient;
  t.out = T::out;
  if (t.out.takes == Out::usual) t.out.takes = usual_out<T>();
  t.new_shape = T::new_shape;
  t.calling = T::calling;
  t.layouts = T::layouts;
  t.dynamic_shape = T::dynamic_shape;
  t.kernels = kernel_slots<T>;
  t.construct = [](void* p) { new (p) T(); };
  if constexpr (requires(const T& op, Inputs in) { op.infer(in); })
    t.infer = [](const void* p, Inputs in, Meta* out) {
      auto r = static_cast<const T*>(p)->infer(in);
      if constexpr (std::is_same_v<decltype(r), Meta>) *out = r;
      else for (size_t i = 0; i < r.size(); i++) out[i] = r[i];
    };
  if constexpr (requires(const T& op, Inputs in) { op.geometry(in); })
    t.geometry = [](const void* p, Inputs in) { return static_cast<const T*>(p)->geometry(in); };
  if constexpr (requires(const T& op, Inputs in) { op.compose(in); })
    t.compose = [](const void* p, Inputs in) -> Tensors {
      auto r = static_cast<const T*>(p)->compose(in);
      if constexpr (std::is_same_v<decltype(r), Tensor>) return {std::move(r)};
      else return r;
    };
  if constexpr (requires(const T& op, const Saved& s, const Tensor& dy) { op.vjp(s, dy); })
    t.vjp = [](const void* p, const Saved& s, const Tensor& dy) -> Tensors {
      auto r = static_cast<const T*>(p)->vjp(s, dy);
      if constexpr (std::is_same_v<decltype(r), Tensor>) return {std::move(r)};
      else return r;
    };
  if constexpr (requires(T& op, Tensors& in, const Meta& result) { op.round(in, result); }) {
    t.rounds = [](const void* p, Inputs in, const Meta& result) { return static_cast<const T*>(p)->rounds(in, result); };
    t.round = [](void* p, Tensors& in, const Meta& result) { static_cast<T*>(p)->round(in, result); };
  }
  if constexpr (requires(T& op, Inputs in, const Tensor& out) { op.take_out(in, out); })
    t.take_out = [](void* p, Inputs in, const Tensor& out) { static_cast<T*>(p)->take_out(in, out); };
  const T probe{};
  int k = 0;
  T::fields.apply([&](auto... m) {
    ([&] {
      while (is_input(T::signature.params[k].ty)) k++;
      auto at = reinterpret_cast<const char*>(&(probe.*m)) - reinterpret_cast<const char*>(&probe);
      t.fields[k] = {uint16_t(at), T::signature.params[k].ty};
      k++;
    }(), ...);
  });
  return t;
}

/// What `T` is registered as. One small variable per op and nothing else, so that calls of it compile fast.
template <class T> inline OpType* type_slot = nullptr;
template <class T> OpType& op_type() { return *type_slot<T>; }
/// Fills the slot, once: called where the op's members are defined.
template <class T> OpType* keep_op_type() {
  static OpType type = make_op_type<T>();
  return type_slot<T> = &type;
}

/// `static const Register<Softmax, LogSoftmax> ops;` in a family's .cpp puts its ops into the registry.
template <class... T> struct Register {
  Register() { (register_op(keep_op_type<T>()), ...); }
};
/// The same for ops that no name finds: passes make them.
template <class... T> struct Unlisted {
  Unlisted() { (keep_op_type<T>(), ...); }
};

/// A family's ops as a type, so that registration and kernels go through one list.
template <class... T> struct OpList {
  using Registration = Register<T...>;
  template <class F> static void for_each(F&& f) { (f(TypeTag<T>{}), ...); }
};

/// Binds `fn(const T&, Inputs, Outputs)` as the kernel of `T`; used once per kernel in kernels/.
template <class T, auto fn> void set_kernel(DeviceType device) {
  kernel_slots<T>[int(device)] = [](const void* op, Inputs in, Outputs out) {
    fn(*static_cast<const T*>(op), in, out);
  };
}

}  // namespace weir
