// The Python Tensor: a hand-written type object over weir::Tensor.
//
// One Python object per TensorImpl while it lives, so `x.grad is x.grad`. Operators and methods are op calls.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <pybind11/pybind11.h>

#include "framework/core/tensor.h"

namespace weir {

struct PyTensor {
  PyObject_HEAD
  Tensor tensor;
  PyObject* dict;
  PyObject* weakrefs;
};

extern PyTypeObject TensorType;

inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == &TensorType || PyObject_TypeCheck(o, &TensorType); }
inline const Tensor& unwrap(PyObject* o) { return reinterpret_cast<PyTensor*>(o)->tensor; }
/// The Python object of `t`, None for an undefined one. New reference.
PyObject* wrap(const Tensor& t);
/// A new object of `type` (Tensor or a subclass) over `t`, which must have no Python object yet.
PyObject* wrap_as(PyTypeObject* type, const Tensor& t);

/// Runs `f`; turns C++ exceptions into the Python exception of the same name. Null after an error.
template <class F> PyObject* guarded(F&& f) noexcept;
/// Untraceable, or DynamicShape, as a Python class.
PyObject* untraceable_error(bool shape);
/// LinAlgError as a Python class, made at the first use.
PyObject* linalg_error();
void set_python_error() noexcept;  // from inside a catch block

void init_tensor_type(pybind11::module_& m);
void init_ops(pybind11::module_& m);
void init_schema(pybind11::module_& m);
void init_autograd(pybind11::module_& m);
void init_random(pybind11::module_& m);
void init_numpy(pybind11::module_& m);
void init_dlpack(pybind11::module_& m);
void init_optimizer(pybind11::module_& m);
void init_batch(pybind11::module_& m);
void init_forward(pybind11::module_& m);

template <class F> PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

}  // namespace weir
