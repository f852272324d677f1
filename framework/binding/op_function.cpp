#include "framework/binding/op_function.h"

#include <algorithm>
#include <cstring>

#include "framework/autograd/forward.h"
#include "framework/autograd/nodes.h"
#include "framework/binding/construct.h"
#include "framework/binding/factory_options.h"
#include "framework/binding/old_order.h"
#include "framework/binding/reason.h"
#include "framework/binding/results.h"
#include "framework/binding/rules.h"
#include "framework/core/warn.h"
#include "framework/op/copy.h"
#include "framework/op/input_list.h"
#include "framework/op/out.h"

namespace py = pybind11;

namespace weir {
namespace {

constexpr int64_t kReleaseFrom = 16384;  // elements; from here a call is long enough to let other threads run
constexpr size_t kMaxOpSize = 4096;

struct OpFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  std::vector<OpType*>* overloads;
  PyObject* name;
  bool inplace, takes_no_places, method;
};
extern PyTypeObject OpFunctionType, OpMethodType;

// Interned parameter names per op, so that keywords compare by pointer.
std::vector<PyObject*>& names_of(const OpType& type) {
  static std::unordered_map<const OpType*, std::vector<PyObject*>> all;
  auto& names = all[&type];
  if (names.empty())
    for (int i = 0; i < type.signature->n; i++) {
      auto& n = type.signature->params[i].name;
      PyObject* s = must(PyUnicode_FromStringAndSize(n.data(), n.size()));
      PyUnicode_InternInPlace(&s);
      names.push_back(s);
    }
  return names;
}

// NumPy's spellings, which PyTorch accepts everywhere.
std::string_view canonical(std::string_view name) {
  if (name == "axis") return "dim";
  if (name == "keepdims") return "keepdim";
  if (name == "self" || name == "x" || name == "x1" || name == "a") return "input";
  if (name == "x2") return "other";
  return name;
}

int find_parameter(const OpType& type, PyObject* key) {
  const auto& names = names_of(type);
  for (int i = 0; i < int(names.size()); i++)
    if (names[i] == key) return i;
  std::string_view name = text_of(key);
  for (int i = 0; i < int(names.size()); i++)
    if (type.signature->params[i].name == name) return i;
  for (int i = 0; type.calling.numpy_names && i < int(names.size()); i++)
    if (type.signature->params[i].name == canonical(name)) return i;
  return -1;
}

// Does another overload of the same name take None for this parameter, which asks for an overload without it? Not where a text must be given.
bool none_means_absent(const OpType& type, PyObject* key) {
  std::string_view name = text_of(key);
  for (const OpType* other : registry()) {
    if (other->signature->name != type.signature->name) continue;
    for (int i = 0; i < other->signature->n; i++)
      if (other->signature->params[i].name == name && other->signature->params[i].ty == Ty::opt_str) return true;
  }
  return false;
}

// The parsed call: inputs borrow the caller's references, numbers made into tensors are owned.
struct Call {
  InputList inputs;
  alignas(16) std::byte op[kMaxOpSize];
  Tensor out[kMaxOutputs];
  Tensors list_out;  // of an op that returns a list
  bool has_out = false, requires_grad = false, factor_by_place = false;  // a factory's result requires grad; alpha stands behind a number
  bool takes_places = true;  // alpha may stand there
  bool method = false;
  py::object listed;  // numbers given side by side, as one
};

bool wrong_type(const OpType& type, int i, PyObject* o, Reason& why) {
  const Param& p = type.signature->params[i];
  return why(function_name(type), ": argument '", p.name, "' (position ", i + 1, ") must be ", p.type, ", not ", Py_TYPE(o)->tp_name);
}

bool parse_out(const OpType& type, PyObject* o, Call& c, Reason& why) {
  if (o == Py_None) return true;
  if (type.out.takes == Out::none && !type.geometry) return why(function_name(type), " got an unexpected keyword argument 'out'");
  c.has_out = true;
  const bool list = type.signature->returns == "list[Tensor]";
  if (list && !takes_list_out(type)) return why(function_name(type), " got an unexpected keyword argument 'out'");
  const bool sequence = PyTuple_Check(o) || PyList_Check(o);
  if (list && !sequence) return why(function_name(type), ": argument 'out' must be tuple of Tensors, not ", Py_TYPE(o)->tp_name);
  if (is_tensor(o)) return c.out[0] = unwrap(o), true;
  if (!sequence) return why(function_name(type), ": argument 'out' must be Tensor or tuple of Tensors");
  const int n = int(PySequence_Fast_GET_SIZE(o));
  if (!list && n != type.signature->num_outputs) return why(function_name(type), ": argument 'out' needs ", type.signature->num_outputs, " tensors, got ", n);
  for (int i = 0; i < n; i++) {
    PyObject* t = PySequence_Fast_GET_ITEM(o, i);
    if (!is_tensor(t)) return why(function_name(type), ": argument 'out' must hold Tensors");
    if (list) c.list_out.push_back(unwrap(t));
    else c.out[i] = unwrap(t);
  }
  return true;
}

// Is there no `dim` beside something that belongs to the overload with one?
bool lacks_dim(const OpType& type, PyObject* const* slot, bool out, Reason& why) {
  const CallRule& rule = type.calling;
  if (rule.keepdim_alone && rule.out_alone) return false;
  const Signature& s = *type.signature;
  auto given = [&](std::string_view name) {
    for (int i = 0; i < s.n; i++)
      if (s.params[i].name == name) return slot[i] != nullptr;
    return false;
  };
  if (given("dim") || !((out && !rule.out_alone) || (!rule.keepdim_alone && given("keepdim")))) return false;
  return !why(function_name(type), " missing 1 required positional argument: 'dim'");
}

bool parse_inputs(const OpType& type, int i, PyObject* o, Call& c, Reason& why) {
  const Param& p = type.signature->params[i];
  if (p.ty == Ty::tensors) {
    if (!PyTuple_Check(o) && !PyList_Check(o)) return wrong_type(type, i, o, why);
    for (Py_ssize_t k = 0, n = PySequence_Fast_GET_SIZE(o); k < n; k++) {
      PyObject* t = PySequence_Fast_GET_ITEM(o, k);
      if (!is_tensor(t) && !(t == Py_None && p.type == "list[Tensor | None]"))
        return why(function_name(type), ": expected Tensor as element ", k, " in argument ", i, ", but got ", Py_TYPE(t)->tp_name);
      c.inputs.push_back(t == Py_None ? Tensor() : unwrap(t));
    }
    return true;
  }
  if (is_tensor(o)) return c.inputs.push_back(unwrap(o)), true;
  if (p.number_ok && is_number(o)) {
    if (c.has_out && (type.out.no_numbers >> i & 1))  // however large it is
      return why(function_name(type), ": argument '", p.name, "' must be Tensor where out= is given, not a number");
    Tensor number = number_operand(o);
    return number ? (c.inputs.push_back(std::move(number)), true) : wrong_type(type, i, o, why);
  }
  if (o == Py_None && p.ty == Ty::opt_tensor) return c.inputs.emplace_back(), true;
  return wrong_type(type, i, o, why);
}

// False with `why` when the arguments do not fit this signature.
bool parse(const OpType& type, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, Call& c, Reason& why) {
  const Signature& s = *type.signature;
  PyObject* slot[kMaxParams] = {};
  Py_ssize_t rest = -1;  // where the numbers of a variadic parameter begin, that stand side by side
  int positional = 0;
  bool out_named = false;
  for (; positional < nargs; positional++) {
    // Source: PyTorch's overloads with a number for `other` take `alpha` by position too.
    auto stands_for_number = [](PyObject* o) { return is_tensor(o) ? unwrap(o).ndim() == 0 && !requires_grad(unwrap(o)) : is_number(o); };
    bool after_number = c.takes_places && positional > 0 && positional < s.n && s.params[positional].name == "alpha" && stands_for_number(args[positional - 1]);
    c.factor_by_place |= after_number;
    if (positional >= s.n || (s.params[positional].keyword_only && !s.params[positional].variadic && !after_number)) {
      int most = 0;
      while (most < s.n && !s.params[most].keyword_only) most++;
      return why(function_name(type), " takes ", most, " positional arguments but ", nargs, " were given");
    }
    if (s.params[positional].variadic) {
      bool one_sequence = nargs == positional + 1 && s.params[positional].type != "Tensor" && (PyTuple_Check(args[positional]) || PyList_Check(args[positional]));
      slot[positional] = args[positional];
      if (!one_sequence) rest = positional;
      break;
    }
    slot[positional] = args[positional];
    // Source: PyTorch's methods that take one list alone, which take its numbers side by side too, in tensors of one element.
    if (c.method && positional == 1 && s.params[1].type.starts_with("list[int]") && (s.n == 2 || s.params[2].keyword_only) && (nargs > 2 || is_tensor(args[1]))) {
      py::list numbers;
      for (Py_ssize_t k = 1; k < nargs; k++) numbers.append(py::handle(args[k]));
      slot[1] = (c.listed = std::move(numbers)).ptr();
      break;
    }
  }
  if (kwnames) {
    for (Py_ssize_t k = 0, n = PyTuple_GET_SIZE(kwnames); k < n; k++) {
      PyObject* key = PyTuple_GET_ITEM(kwnames, k);
      PyObject* value = args[nargs + k];
      int i = find_parameter(type, key);
      if (i >= 0 && s.params[i].variadic && s.params[i].ty == Ty::tensors) i = -1;  // as of Python's *args
      if (i < 0) {
        if (PyUnicode_CompareWithASCIIString(key, "out") == 0) {
          out_named = true;
          if (!parse_out(type, value, c, why)) return false;
          continue;
        }
        if (type.calling.creates) {
          if (!parse_factory_option(type, key, value, c.requires_grad, why)) return false;
          continue;
        }
        // div(x, y, rounding_mode=None) is div(x, y).
        if (value == Py_None && none_means_absent(type, key)) continue;
        return why(function_name(type), " got an unexpected keyword argument '", text_of(key), "'");
      }
      if (slot[i]) return why(function_name(type), " got multiple values for argument '", s.params[i].name, "'");
      slot[i] = value;
    }
  }
  if (lacks_dim(type, slot, out_named, why)) return false;
  std::memcpy(c.op, type.defaults.data(), type.size);
  for (int i = 0; i < s.n; i++) {
    const Param& p = s.params[i];
    PyObject* o = slot[i];
    if (p.variadic && p.ty == Ty::tensors && (!o || rest >= 0)) {
      for (Py_ssize_t k = rest; o && k < nargs; k++) {
        if (!is_tensor(args[k])) return wrong_type(type, i, args[k], why);
        c.inputs.push_back(unwrap(args[k]));
      }
      continue;
    }
    if (!o && p.fallback.empty()) return why(function_name(type), " missing 1 required positional argument: '", p.name, "'");
    if (is_input(p.ty)) {
      if (!o) c.inputs.emplace_back();
      else if (!parse_inputs(type, i, o, c, why)) return false;
      continue;
    }
    if (!o || (o == Py_None && p.ty == Ty::ints && p.fallback == "[]")) continue;  // an empty list by default is PyTorch's None
    py::object taken;
    if (type.calling.truthy) taken = taken_in_python(o, p.ty), o = taken.ptr();
    // Source: PyTorch's parser takes a 0-d tensor for a number only where no gradient would be lost, and none for all numbers that may stand side by side.
    if ((is_tensor(o) && (requires_grad(unwrap(o)) || (p.variadic && rest < 0))) || has_axes_beside(o, p.ty, s.name, p.name, p.type)) return wrong_type(type, i, o, why);
    if (p.type == "list[int]" && (is_tensor(o) ? !has_length(p.name) : type.calling.creates && PyLong_Check(o))) return wrong_type(type, i, o, why);
    if (p.variadic && rest >= 0) {
      auto& ints = *reinterpret_cast<Dims*>(c.op + type.fields[i].offset);
      ints.n = 0;
      int64_t x;
      for (Py_ssize_t k = rest; k < nargs; k++) {
        const bool stray = !c.method && rest > 0 && is_tensor(args[k]);  // functions take a list there
        if (stray || !to_listed_int(args[k], k - rest, &x)) return wrong_type(type, i, args[k], why);
        ints.push(x);
      }
      continue;
    }
    if (Scalar held; type.calling.scalars && p.ty == Ty::f64 && PyLong_Check(o)) to_scalar(o, &held);  // OverflowError
    if (!store_argument(o, p.ty, c.op + type.fields[i].offset)) {
      if (type.calling.creates && p.ty == Ty::ints && PySequence_Check(o)) check_told_dtype(type, slot, c.out[0]);
      return wrong_type(type, i, o, why);
    }
  }
  if (!type.calling.writes_number) settle_large_numbers(type, c.op, c.inputs.all());
  auto is_plain_number = [](const Tensor& t) { return t && t.has_flag(kWrappedNumber); };
  if (!type.calling.only_numbers && !c.inputs.empty() && std::all_of(c.inputs.begin(), c.inputs.end(), is_plain_number))
    return why(function_name(type), ": expected a Tensor among the arguments, got numbers only");
  return true;
}

bool long_call(Inputs in) {
  for (const Tensor& t : in)
    if (t && t.numel() >= kReleaseFrom) return true;
  return false;
}

struct ReleaseGil {
  PyThreadState* state;
  explicit ReleaseGil(bool on) : state(on ? PyEval_SaveThread() : nullptr) {}
  ~ReleaseGil() {
    if (state) PyEval_RestoreThread(state);
  }
};

// A result whose dtype was not asked for takes that of out=, or of the tensor it is written into in place, before it is computed.
// Source: PyTorch's reductions.
void take_dtype_of_out(const OpType& type, Call& c) {
  for (int i = 0; i < type.signature->n; i++) {
    if (type.signature->params[i].ty != Ty::opt_dtype) continue;
    auto& dtype = *reinterpret_cast<std::optional<DType>*>(c.op + type.fields[i].offset);
    if (!c.out[0]) continue;
    check(!type.calling.creates || !mode.grad || !requires_grad(c.out[0]), type.signature->name, "(): functions with out=... arguments don't support "
          "automatic differentiation, but one of the arguments requires grad.");
    if (dtype && *dtype != c.out[0].dtype() && type.infer) {  // what else is wrong is told first
      Meta metas[kMaxOutputs];
      type.infer(c.op, c.inputs, metas);
    }
    if (type.calling.creates) check_dtype_of_out(type, dtype, c.out[0]);
    check(!dtype || *dtype == c.out[0].dtype(), type.signature->name, ": Expected out tensor to have dtype ", name_of(dtype.value_or(DType())),
          ", but got ", name_of(c.out[0].dtype()), " instead");
    if (!dtype) dtype = c.out[0].dtype();
  }
}

PyObject* run(const OpType& type, Call& c, bool inplace) {
  const Signature& s = *type.signature;
  if (s.returns == "list[Tensor]") {
    if (c.has_out) {
      call_list_into(type, c.op, c.inputs, c.list_out);
      Py_RETURN_NONE;
    }
    Tensors r = call_list(type, c.op, c.inputs);
    return list_of(r);
  }
  if (inplace) {
    c.out[0] = c.inputs[0];
    // A view op in place changes the tensor's own geometry.
    if (type.geometry) {
      Tensor v[1];
      const Tensor& x = c.inputs[0];
      check(!x.has_flag(kInference) || mode.inference, "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a normal tensor before doing inplace update.");
      bool recorded = mode.grad && requires_grad(x);
      if (recorded) check_inplace_allowed(str(s.name, "_"), x);
      call(type, c.op, c.inputs, v);
      NodeRef node = recorded ? grad_fn(v[0]) : NodeRef();  // before x changes under its view
      set_geometry(x, v[0].sizes(), v[0].strides(), v[0]->offset);
      share_tangents(v[0], x);
      bump_version(x);
      if (recorded && !x.is_view()) set_history(x, node, 0);
      return wrap(x);
    }
  }
  if ((type.geometry || type.out.takes == Out::none) && c.has_out) throw TypeError(function_name(type) + " got an unexpected keyword argument 'out'");
  if ((c.has_out && type.out.takes != Out::same) || inplace) take_dtype_of_out(type, c);
  if ((c.has_out || inplace) && type.take_out) type.take_out(c.op, c.inputs, c.out[0]);
  {
    ReleaseGil nogil(long_call(c.inputs));
    call(type, c.op, c.inputs, c.out);
  }
  if (c.requires_grad) finish_new(c.out[0], true);
  if (s.returns == "bool") return PyBool_FromLong(!item(c.out[0]).is_zero());
  return results(type, c.out, s.num_outputs);
}

PyObject* call_overloads(const OpFunction& function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const std::vector<OpType*>& overloads = *function.overloads;
  const bool inplace = function.inplace;
  return guarded([&]() -> PyObject* {
    if (inplace && nargs && is_number(args[0]) && overloads[0]->signature->params[0].type.starts_with("Tensor"))
      throw TypeError(str("descriptor '", text_of(function.name), "' for 'torch._C.TensorBase' objects doesn't apply to a '", Py_TYPE(args[0])->tp_name, "' object"));
    auto fits = [&](const OpType& type, Call& c, Reason& why) {
      c.takes_places = !function.takes_no_places, c.method = function.method;
      return parse(type, args, nargs, kwnames, c, why);
    };
    Reason unsaid;
    for (OpType* type : overloads) {
      Call c;
      if (!fits(*type, c, unsaid)) continue;
      if (c.factor_by_place && c.has_out) throw TypeError(str(text_of(function.name), "() takes alpha by name where out= is given"));
      return run(*type, c, inplace);
    }
    OldOrder order;
    for (OpType* type : overloads) {
      if (Call c; in_old_order(*type, text_of(function.name), args, nargs, kwnames, &order) && parse(*type, order.args.data(), order.nargs, order.kwnames.ptr(), c, unsaid))
        return run(*type, c, inplace);
      order = {};
    }
    std::string all = function_name(*overloads[0]) + " received an invalid combination of arguments:";
    for (OpType* type : overloads) {
      Call c;
      Reason why{.wanted = true};
      fits(*type, c, why);
      if (overloads.size() == 1) throw TypeError(why.text);
      all += "\n * " + std::string(type->signature->text) + ": " + why.text;
    }
    throw TypeError(all);
  });
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto* f = reinterpret_cast<OpFunction*>(self);
  const Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
  PyObject* result;
  if (tensors_have_rules && f->method && tensors_answer(PyUnicode_AsUTF8(f->name), nullptr, args, nargs, kwnames, &result)) return result;
  return (result = call_overloads(*f, args, nargs, kwnames)) ? result : ask_types(self, args, nargs, kwnames);
}

PyObject* describe(PyObject* self, PyObject* instance, PyObject*) {
  return !instance || instance == Py_None ? Py_NewRef(self) : PyMethod_New(self, instance);
}

PyObject* get_name(PyObject* self, void*) { return Py_NewRef(reinterpret_cast<OpFunction*>(self)->name); }
PyObject* get_doc(PyObject* self, void*) {
  std::string text;
  for (OpType* t : *reinterpret_cast<OpFunction*>(self)->overloads) text += std::string(t->signature->text) + "\n\n" + t->doc + "\n";
  return PyUnicode_FromString(text.c_str());
}
PyObject* function_repr(PyObject* self) { return PyUnicode_FromFormat("<op %U>", reinterpret_cast<OpFunction*>(self)->name); }
// What a call may leave out: as of a function in Python, which PyTorch's meshgrid is, and programs look for a parameter so.
template <bool kNamed> PyObject* get_defaults(PyObject* self, void*) {
  return guarded([&] {
    const Signature& s = *reinterpret_cast<OpFunction*>(self)->overloads->front()->signature;
    const py::object read = py::module_::import("ast").attr("literal_eval");
    py::dict named;
    py::list placed;
    for (int i = 0; i < s.n; i++) {
      const Param& p = s.params[i];
      if (p.fallback.empty()) continue;
      if (p.keyword_only) named[py::str(std::string(p.name))] = read(std::string(p.fallback));
      else placed.append(read(std::string(p.fallback)));
    }
    const py::object all = kNamed ? py::object(named) : py::object(py::tuple(placed));
    return py::len(all) ? all.inc_ref().ptr() : Py_NewRef(Py_None);
  });
}
PyGetSetDef function_getset[] = {{"__kwdefaults__", get_defaults<true>, nullptr, nullptr, nullptr},
                                 {"__defaults__", get_defaults<false>, nullptr, nullptr, nullptr},
                                 {"__name__", get_name, nullptr, nullptr, nullptr},
                                 {"__qualname__", get_name, nullptr, nullptr, nullptr},
                                 {"__doc__", get_doc, nullptr, nullptr, nullptr}, {}};

// A function stays one as an attribute of a class, as PyTorch's builtins do (`activation = torch.tanh` in a module); a method of Tensor binds to it.
PyTypeObject OpFunctionType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject OpMethodType = {PyVarObject_HEAD_INIT(nullptr, 0)};

}  // namespace

Tensor operand(PyObject* o) {
  if (is_tensor(o)) return unwrap(o);
  return number_operand(o);  // an array of NumPy's has its own operators, which make a tensor again: as in PyTorch
}

PyObject* as_method(PyObject* o) {
  auto* f = reinterpret_cast<OpFunction*>(o);
  return Py_IS_TYPE(o, &OpFunctionType) ? make_op_function(PyUnicode_AsUTF8(f->name), *f->overloads, f->inplace, true) : Py_NewRef(o);
}

PyObject* call_inputs(const OpType& type, Inputs in, bool inplace) {
  Tensor out[kMaxOutputs] = {inplace ? in[0] : Tensor()};
  {
    ReleaseGil nogil(long_call(in));
    call(type, type.defaults.data(), in, out);
  }
  return wrap(out[0]);
}

PyObject* make_op_function(const std::string& name, std::vector<OpType*> overloads, bool inplace, bool method) {
  auto* f = PyObject_New(OpFunction, method ? &OpMethodType : &OpFunctionType);
  f->vectorcall = vectorcall;
  f->overloads = new std::vector<OpType*>(std::move(overloads));
  f->name = PyUnicode_InternFromString(name.c_str());
  f->inplace = inplace;
  f->method = method || inplace;
  f->takes_no_places = name == "add" || name == "sub" || name == "add_" || name == "sub_";  // Source: PyTorch, where `subtract` has no such overload
  for (OpType* t : *f->overloads) {
    names_of(*t);
    if (t->size > kMaxOpSize) throw std::logic_error(name + ": op struct is larger than the call buffer");
  }
  return reinterpret_cast<PyObject*>(f);
}

// `copy`, `uniform`, `fill` and others like them are methods in place only, as in PyTorch: programs know arrays of NumPy's by such names.
bool only_in_place(const OpType& type) { return type.inplace.offered && (type.module == Module::method || type.signature->name == "fill"); }

// `weir._C.ops`: {module: {name: function}}, and methods on Tensor where the first parameter is a tensor.
void init_ops(py::module_& m) {
  OpFunctionType.tp_name = "weir.OpFunction";
  OpFunctionType.tp_basicsize = sizeof(OpFunction);
  OpFunctionType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE;
  OpFunctionType.tp_vectorcall_offset = offsetof(OpFunction, vectorcall);
  OpFunctionType.tp_call = PyVectorcall_Call;
  OpFunctionType.tp_getset = function_getset;
  OpFunctionType.tp_repr = function_repr;
  OpMethodType.tp_name = "weir.OpMethod";
  OpMethodType.tp_base = &OpFunctionType;
  OpMethodType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  OpMethodType.tp_descr_get = describe;
  if (PyType_Ready(&OpFunctionType) < 0 || PyType_Ready(&OpMethodType) < 0) throw py::error_already_set();

  std::vector<std::pair<std::string, std::vector<OpType*>>> groups;
  for (OpType* t : registry()) {
    std::string name(t->signature->name);
    auto it = std::find_if(groups.begin(), groups.end(), [&](auto& g) { return g.first == name; });
    (it == groups.end() ? groups.emplace_back(name, std::vector<OpType*>()) : *it).second.push_back(t);
  }
  py::dict modules;
  for (auto& [name, overloads] : groups) {
    Module where = overloads[0]->module;
    const Signature& s = *overloads[0]->signature;
    bool method = s.n && s.params[0].ty == Ty::tensor && s.params[0].name == "input" && (!overloads[0]->calling.creates || where == Module::method) && (where == Module::torch || where == Module::method);
    std::vector<OpType*> inplace;
    std::copy_if(overloads.begin(), overloads.end(), std::back_inserter(inplace), [](OpType* t) { return t->inplace.offered; });
    if (method && !only_in_place(*overloads[0])) PyDict_SetItemString(TensorType.tp_dict, name.c_str(), py::reinterpret_steal<py::object>(make_op_function(name, overloads, false, true)).ptr());
    const char* module = module_name(where);
    if (!modules.contains(module)) modules[module] = py::dict();
    modules[module][name.c_str()] = py::reinterpret_steal<py::object>(make_op_function(name, overloads, false));
    if (inplace.empty()) continue;
    if (method || where == Module::torch)
      PyDict_SetItemString(TensorType.tp_dict, (name + "_").c_str(), py::reinterpret_steal<py::object>(make_op_function(name + "_", inplace, true, true)).ptr());
    modules[module][(name + "_").c_str()] = py::reinterpret_steal<py::object>(make_op_function(name + "_", inplace, true));
  }
  PyType_Modified(&TensorType);
  m.attr("ops") = modules;
  m.def("_renamed", [](py::handle op, const std::string& name) {
    auto* f = reinterpret_cast<OpFunction*>(op.ptr());
    return py::reinterpret_steal<py::object>(make_op_function(name, *f->overloads, f->inplace, Py_IS_TYPE(op.ptr(), &OpMethodType)));
  }, "The same op under another name.");
}

}  // namespace weir
