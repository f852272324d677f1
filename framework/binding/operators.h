// The operators of Tensor: each slot is one op; reversed operands arrive in order.
#pragma once
#include "framework/binding/tensor_object.h"
#include "framework/core/scalar.h"

namespace weir {

/// Gives `type` the operators, comparisons and conversions to Python numbers.
void set_operators(PyTypeObject& type);
/// Gives a class made in Python the operators of Tensor where it has none of its own. Python would ask the right operand's `__radd__` first, by
/// which it stands on the left, and the result takes its layout.
void keep_operators(PyTypeObject& type);
/// self + other and self * other, in this order.
PyObject* add_in_order(PyObject* self, PyObject* other);
PyObject* multiply_in_order(PyObject* self, PyObject* other);
PyObject* divide_in_order(PyObject* self, PyObject* other);  // other / self
/// The number that a tensor of one element holds. ValueError for another count.
Scalar only_element(PyObject* o);
/// Warns where a tensor becomes a number whose history is lost.
void warn_of_lost_gradient(const Tensor& t);

}  // namespace weir
