#include "framework/binding/rules.h"

#include <algorithm>
#include <unordered_set>

#include "framework/binding/tensor_object.h"

namespace py = pybind11;

namespace weir {
namespace {

bool has_rule(PyObject* o) { return !is_tensor(o) && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__torch_function__"); }

/// Those classes, kept for as long as the process runs.
std::unordered_set<PyTypeObject*>& watched() {
  static std::unordered_set<PyTypeObject*> all;
  return all;
}
bool is_watched(PyObject* o) { return Py_TYPE(o) != &TensorType && watched().contains(Py_TYPE(o)); }

/// is(o), or of an item of a list or tuple.
template <bool (*is)(PyObject*)> bool holds(PyObject* o) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return is(o);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++)
    if (is(PySequence_Fast_GET_ITEM(o, i))) return true;
  return false;
}

py::object answer(py::handle function, const py::tuple& args, const py::dict& keywords) {
  return py::module_::import("weir.overrides").attr("ask_types")(function, args, keywords);
}
py::object answer(py::handle function, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  py::tuple given(nargs + (self != nullptr));
  if (self) given[0] = py::handle(self);
  for (Py_ssize_t i = 0; i < nargs; i++) given[i + (self != nullptr)] = py::handle(args[i]);
  py::dict named;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++) named[py::handle(PyTuple_GET_ITEM(kwnames, i))] = py::handle(args[nargs + i]);
  return answer(function, given, named);
}

}  // namespace

bool tensors_have_rules = false;

void watch_tensors_of(PyTypeObject* type) {
  if (watched().insert(type).second) Py_INCREF(type);
  tensors_have_rules = true;
}

bool tensors_answer(const char* method, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** result) {
  const Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  if (!(self && is_watched(self)) && std::none_of(args, args + all, holds<is_watched>)) return false;
  *result = guarded([&] { return answer(py::handle(reinterpret_cast<PyObject*>(&TensorType)).attr(method), self, args, nargs, kwnames).release().ptr(); });
  if (*result != Py_NotImplemented) return true;
  Py_DECREF(*result);
  return false;
}

PyObject* ask_types(PyObject* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
  return guarded([&] {
    const py::error_already_set failure;
    const Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    if (std::none_of(args, args + all, holds<has_rule>)) throw py::error_already_set(failure);
    py::object result = answer(function, nullptr, args, nargs, kwnames);
    if (result.ptr() == Py_NotImplemented) throw py::error_already_set(failure);
    return result.release().ptr();
  });
}

PyObject* ask_operand(const std::string& method, PyObject* a, PyObject* b) {
  if (!has_rule(a) && !has_rule(b)) return Py_NewRef(Py_NotImplemented);
  const py::object function = py::handle(reinterpret_cast<PyObject*>(&TensorType)).attr(method.c_str());
  return answer(function, py::make_tuple(py::handle(a), py::handle(b)), py::dict()).release().ptr();
}

}  // namespace weir
