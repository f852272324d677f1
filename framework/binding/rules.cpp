#include "framework/binding/rules.h"

#include <algorithm>

#include "framework/binding/tensor_object.h"

namespace py = pybind11;

namespace weir {
namespace {

bool has_rule(PyObject* o) { return !is_tensor(o) && PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), "__torch_function__"); }

bool holds_rule(PyObject* o) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return has_rule(o);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++)
    if (has_rule(PySequence_Fast_GET_ITEM(o, i))) return true;
  return false;
}

py::object answer(py::handle function, const py::tuple& args, const py::dict& keywords) {
  return py::module_::import("weir.overrides").attr("ask_types")(function, args, keywords);
}

}  // namespace

PyObject* ask_types(PyObject* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
  return guarded([&] {
    const py::error_already_set failure;
    const Py_ssize_t all = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    if (std::none_of(args, args + all, holds_rule)) throw py::error_already_set(failure);
    py::tuple given(nargs);
    for (Py_ssize_t i = 0; i < nargs; i++) given[i] = py::handle(args[i]);
    py::dict named;
    for (Py_ssize_t i = nargs; i < all; i++) named[py::handle(PyTuple_GET_ITEM(kwnames, i - nargs))] = py::handle(args[i]);
    py::object result = answer(function, given, named);
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
