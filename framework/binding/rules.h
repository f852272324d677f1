// Types that answer calls: `__torch_function__`. Those that are no tensors are looked for where a call has failed, so that tensors
// pay nothing for them; those of tensors, in methods of plain tensors, once a program has made one. overrides.py asks them.
#pragma once
#include <pybind11/pybind11.h>

#include <string>

namespace weir {

/// After a call of `function` that left an error: the answer of such a type among the arguments to a call that raised TypeError, else null
/// and the error.
PyObject* ask_types(PyObject* function, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/// Whether there are classes of tensors with rules, which is asked before tensors_answer(); makes `type` one of them.
extern bool tensors_have_rules;
void watch_tensors_of(PyTypeObject* type);
/// Whether tensors with rules are among the arguments of a method of Tensor, of which `self`, where given, is the first, and answer it: `*result` is then
/// the answer, or null with an error.
bool tensors_answer(const char* method, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** result);

/// The answer of an operand to the operator whose method of Tensor is named; NotImplemented where neither has a rule.
PyObject* ask_operand(const std::string& method, PyObject* a, PyObject* b);

}  // namespace weir
