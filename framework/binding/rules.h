// Types that are no tensors and yet answer calls: `__torch_function__`. They are looked for where a call has failed, so that tensors
// pay nothing for them; overrides.py asks them.
#pragma once
#include <pybind11/pybind11.h>

#include <string>

namespace weir {

/// After a call of `function` that left an error: the answer of such a type among the arguments to a call that raised TypeError, else null
/// and the error.
PyObject* ask_types(PyObject* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/// The answer of an operand to the operator whose method of Tensor is named; NotImplemented where neither has a rule.
PyObject* ask_operand(const std::string& method, PyObject* a, PyObject* b);

}  // namespace weir
