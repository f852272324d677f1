// What a call of an op gives to Python.
#pragma once
#include "framework/binding/tensor_object.h"
#include "framework/op/op.h"

namespace weir {

/// A tensor, or the named tuple of several.
PyObject* results(const OpType& type, Tensor* out, int n);
/// Tensors of a list, as a tuple.
PyObject* list_of(const Tensors& ts);

}  // namespace weir
