// Optimizer steps as one function over lists of tensors.
#include "framework/ops/optimizer.h"

#include "framework/autograd/variable.h"
#include "framework/binding/convert.h"
#include "framework/op/autocast.h"
#include "framework/op/changes.h"
#include "framework/ops/complex.h"

namespace py = pybind11;

namespace weir {
namespace {

std::vector<std::byte> filled(const OpType& type, const py::dict& options) {
  std::vector<std::byte> op = type.defaults;
  const Signature& s = *type.signature;
  for (int i = 1; i < s.n; i++) {
    py::str name(s.params[i].name.data(), s.params[i].name.size());
    check<ValueError>(options.contains(name), s.name, ": ", s.params[i].name, " is missing");
    check<TypeError>(store_argument(py::object(options[name]).ptr(), s.params[i].ty, op.data() + type.fields[i].offset), s.name, ": ", s.params[i].name, " is no number");
  }
  return op;
}

// What an optimizer keeps of parameters under one name: {parameter: {name: tensor}} and the name.
using Source = std::pair<py::dict, py::str>;

PyObject* found(PyObject* dict, PyObject* key) {  // borrowed, null where it is not there
  PyObject* value = PyDict_GetItemWithError(dict, key);
  if (!value && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

// Appends to `run` what is kept of a parameter. Nothing where some of it is not there yet.
void append_kept(const std::vector<Source>& kept, PyObject* param, Tensors& run) {
  PyObject *dict = nullptr, *entry = nullptr;
  for (const Source& source : kept) {
    if (source.first.ptr() != dict) entry = found(dict = source.first.ptr(), param);
    if (!entry) continue;
    check<TypeError>(PyDict_Check(entry), "optimizer: expected a dict as the state of a parameter, got ", Py_TYPE(entry)->tp_name);
    PyObject* value = found(entry, source.second.ptr());
    if (!value || value == Py_None) continue;
    check<TypeError>(is_tensor(value), "optimizer: expected a tensor as ", std::string(source.second), ", got ", Py_TYPE(value)->tp_name);
    run.push_back(unwrap(value));
  }
}

// The gradient of a parameter, without an object for it unless a class has a `grad` of its own.
Tensor gradient_of(PyObject* param) {
  static PyObject* const name = PyUnicode_InternFromString("grad");
  static PyObject* const ours = _PyType_Lookup(&TensorType, name);
  if (is_tensor(param) && _PyType_Lookup(Py_TYPE(param), name) == ours) return grad_of(unwrap(param));
  const py::object slope = py::getattr(param, name);
  check<TypeError>(is_tensor(slope.ptr()) || slope.is_none(), "optimizer: expected a tensor as a gradient, got ", Py_TYPE(slope.ptr())->tp_name);
  return slope.is_none() ? Tensor() : unwrap(slope.ptr());
}

py::list with_gradients(const py::list& params) {
  py::list found;
  for (size_t i = 0; i < params.size(); i++) {
    const py::object param = params[i];
    if (gradient_of(param.ptr())) found.append(param);
  }
  return found;
}

// What belongs to a complex parameter, as the real numbers that it consists of. Source: PyTorch, which updates those.
void as_parts(Tensors& run) {
  GradMode off(false);
  for (Tensor& t : run)
    if (is_complex(t.dtype())) t = fn::view_as_real(fn::resolve_conj(t));
}

// One step of the op `name` for all parameters that it takes, those of a dtype in one call; the positions of the others. Where something of
// their state is not there yet nothing is done: (positions of those parameters, None).
py::tuple update(const std::string& name, const py::list& params, const std::vector<Source>& kept, const Tensor& rate, const py::dict& options) {
  const OpType* type = find_op(name);
  check<ValueError>(type, name, " is no op");
  std::vector<std::byte> op = filled(*type, options);
  std::optional<UpdateLayout> layout = layout_of_update(*type, op.data());
  check<ValueError>(layout.has_value(), name, " updates no parameters");
  check<ValueError>(int(kept.size()) + 2 == layout->width(), name, ": expected ", layout->width(), " tensors per parameter, got ", kept.size() + 2);
  py::list left, lacking;
  Tensors taken[2];  // float32, float64
  Tensors run;
  for (size_t i = 0; i < params.size(); i++) {
    const py::object param = params[i];
    check<TypeError>(is_tensor(param.ptr()), name, ": expected tensors, got ", Py_TYPE(param.ptr())->tp_name);
    run.assign({unwrap(param.ptr()), gradient_of(param.ptr())});
    check<TypeError>(run[1].defined(), name, ": expected tensors with gradients, got one without");
    append_kept(kept, param.ptr(), run);
    if (int(run.size()) < layout->width()) {
      lacking.append(i);
      continue;
    }
    if (is_complex(run[0].dtype()) && !run[0].has_flag(kConj)) as_parts(run);
    if (!takes_update(*layout, run)) {
      left.append(i);
      continue;
    }
    Tensors& list = taken[run[0].dtype() == DType::float64];
    if (list.empty()) list.reserve((params.size() - i) * run.size() + 1);
    std::move(run.begin(), run.end(), std::back_inserter(list));
  }
  if (!lacking.empty()) return py::make_tuple(lacking, py::none());
  py::gil_scoped_release nogil;
  GradMode off(false);
  for (Tensors& list : taken) {
    if (list.empty()) continue;
    list.push_back(rate);
    Tensor out[kMaxOutputs] = {list[0]};
    call(*type, op.data(), list, out);
    for (int k : changed_inputs(*type, op.data(), list))
      if (k) bump_version(list[size_t(k)]);
  }
  clear_autocast_cache();
  py::gil_scoped_acquire gil;
  return py::make_tuple(lacking, left);
}

}  // namespace

void init_optimizer(py::module_& m) {
  m.def("_with_gradients", &with_gradients, "Those of the parameters that have a gradient.");
  m.def("_optimizer_update", &update,
        "One step of an update op in place for all `params`, whose state lies in `kept`, pairs of {parameter: {name: tensor}} and name, in the op's order. "
        "Returns (positions of parameters that lack state, None) before any work, or ([], positions of those that the op does not take).");
}

}  // namespace weir
