// A Python callable over the overloads of one name; also the method descriptor of Tensor.
#pragma once
#include "framework/binding/convert.h"

namespace weir {

/// Calls `type` with its defaults on plain inputs: what operators do.
PyObject* call_inputs(const OpType& type, Inputs in, bool inplace = false);
/// Where PyTorch keeps ops of `module`.
const char* module_name(Module module);
/// Is there no method of Tensor but the one in place?
bool only_in_place(const OpType& type);
/// An op that a module offers, as a method of Tensor; anything else as it is.
PyObject* as_method(PyObject* o);
PyObject* make_op_function(const std::string& name, std::vector<OpType*> overloads, bool inplace, bool method = false);
/// Tensor of a Python operand, a weak 0-d tensor for a number; undefined when it is neither.
Tensor operand(PyObject* o);

}  // namespace weir
