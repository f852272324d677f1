#include "framework/binding/operators.h"

#include "framework/autograd/engine.h"
#include "framework/binding/construct.h"
#include "framework/binding/op_function.h"
#include "framework/binding/rules.h"
#include "framework/core/warn.h"
#include "framework/ops/pointwise.h"

namespace py = pybind11;

namespace weir {
namespace {

template <const char* kName> const OpType& op_named() {
  static const OpType* t = find_op(kName);
  return *t;
}
template <const char* kName> PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Tensor in[2] = {operand(a), operand(b)};
    if (!in[0] || !in[1]) return ask_operand(kName, a, b);
    settle_large_numbers(op_named<kName>(), op_named<kName>().defaults.data(), in);
    return call_inputs(op_named<kName>(), in);
  });
}
template <const char* kName> PyObject* binary_inplace(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Tensor in[2] = {operand(a), operand(b)};
    if (!in[1]) return ask_operand(kName + std::string("_"), a, b);
    settle_large_numbers(op_named<kName>(), op_named<kName>().defaults.data(), in);
    return call_inputs(op_named<kName>(), in, true);
  });
}
template <const char* kName> PyObject* unary(PyObject* a) {
  return guarded([&] { return call_inputs(op_named<kName>(), std::span(&unwrap(a), 1)); });
}
constexpr char kAdd[] = "add", kSub[] = "sub", kMul[] = "mul", kDiv[] = "div", kRemainder[] = "remainder", kPow[] = "pow",
               kFloorDivide[] = "floor_divide", kNegate[] = "neg", kAbs[] = "abs", kMatmul[] = "matmul", kNot[] = "bitwise_not",
               kAnd[] = "bitwise_and", kOr[] = "bitwise_or", kXor[] = "bitwise_xor", kShl[] = "bitwise_left_shift",
               kShr[] = "bitwise_right_shift", kEq[] = "eq", kNe[] = "ne", kLt[] = "lt", kLe[] = "le", kGt[] = "gt", kGe[] = "ge";
constexpr char kReciprocal[] = "reciprocal";
PyObject* true_divide(PyObject* a, PyObject* b) { return PyObject_TypeCheck(a, &TensorType) ? binary<kDiv>(a, b) : divide_in_order(b, a); }
PyObject* multiply(PyObject* a, PyObject* b) { return PyObject_TypeCheck(a, &TensorType) ? binary<kMul>(a, b) : multiply_in_order(b, a); }
PyObject* power(PyObject* a, PyObject* b, PyObject*) { return binary<kPow>(a, b); }
PyObject* power_inplace(PyObject* a, PyObject* b, PyObject*) { return binary_inplace<kPow>(a, b); }
PyObject* matrix_multiply(PyObject* a, PyObject* b) {
  if (is_number(a) || is_number(b)) return Py_NewRef(Py_NotImplemented);  // which Python makes a TypeError of
  return binary<kMatmul>(a, b);
}
PyObject* positive(PyObject* a) {
  return guarded([&] {
    check(unwrap(a).dtype() != DType::boolean, "The `+` operator, on a bool tensor is not supported.");
    return Py_NewRef(a);
  });
}
PyObject* invert(PyObject* a) {
  return guarded([&] {
    check<TypeError>(!is_inexact(unwrap(a).dtype()), "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    return must(unary<kNot>(a));
  });
}

int truth(PyObject* o) {
  try {
    check(unwrap(o).numel() == 1, "Boolean value of Tensor with ", unwrap(o).numel() == 0 ? "no values" : "more than one value",
          " is ambiguous");
    return !item(unwrap(o)).is_zero();
  } catch (...) {
    set_python_error();
    return -1;
  }
}
PyObject* to_python_float(PyObject* o) {
  return guarded([&] { return PyFloat_FromDouble(only_element(o).to_double()); });
}
PyObject* to_python_int(PyObject* o) {
  return guarded([&] {
    check<ValueError>(unwrap(o).numel() == 1, "only one element tensors can be converted to Python scalars, got one of shape ", unwrap(o).sizes());
    Scalar s = item(unwrap(o));  // without the warning of a lost gradient: a whole number has none
    return s.is_whole() ? PyLong_FromLongLong(s.i) : unwrap(o).dtype() == DType::uint64 ? item_object(unwrap(o)) : PyLong_FromDouble(s.to_double());
  });
}
PyObject* to_python_index(PyObject* o) {
  return guarded([&] {
    check<TypeError>(unwrap(o).numel() == 1 && !is_inexact(unwrap(o).dtype()), "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(item(unwrap(o)).to_int());
  });
}

// An array of NumPy's numbers as a tensor; an undefined one for anything else.
Tensor numbers_of(PyObject* o) {
  if (!is_numpy_array(o)) return {};
  try {
    return from_numpy(o);
  } catch (const TypeError&) {
    return {};
  }
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  static const OpType* ops[] = {find_op("lt"), find_op("le"), find_op("eq"), find_op("ne"), find_op("gt"), find_op("ge")};
  return guarded([&]() -> PyObject* {
    Tensor in[2] = {operand(a), operand(b)};
    if (op == Py_EQ && !in[1]) in[1] = numbers_of(b);  // in PyTorch too, of the comparisons this one alone
    if (!in[1]) return ask_operand(std::string(ops[op]->signature->name), a, b);
    settle_large_numbers(*ops[op], ops[op]->defaults.data(), in);
    return call_inputs(*ops[op], in);
  });
}

PyNumberMethods number{};

}  // namespace

void warn_of_lost_gradient(const Tensor& t) {
  static WarnOnce recorded;
  if (t.has_flag(kRequiresGrad) && mode.grad)
    recorded("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider using tensor.detach() first.");
}

Scalar only_element(PyObject* o) {
  check<ValueError>(unwrap(o).numel() == 1, "only one element tensors can be converted to Python scalars, got one of shape ", unwrap(o).sizes());
  warn_of_lost_gradient(unwrap(o));
  return item(unwrap(o));
}

PyObject* add_in_order(PyObject* self, PyObject* other) { return binary<kAdd>(self, other); }
// As in PyTorch, what is divided by a tensor is multiplied by its reciprocal, and so rounded twice; of two tensors by name only.
PyObject* divide_in_order(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    if (!operand(other) && !is_numpy_array(other)) return Py_NewRef(Py_NotImplemented);
    auto inverse = py::reinterpret_steal<py::object>(must(unary<kReciprocal>(self)));
    return must(PyNumber_Multiply(inverse.ptr(), other));  // which an array answers by NumPy's types and broadcasting
  });
}
PyObject* multiply_in_order(PyObject* self, PyObject* other) { return binary<kMul>(self, other); }

void set_operators(PyTypeObject& type) {
  number.nb_add = binary<kAdd>;
  number.nb_subtract = binary<kSub>;
  number.nb_multiply = multiply;
  number.nb_true_divide = true_divide;
  number.nb_floor_divide = binary<kFloorDivide>;
  number.nb_remainder = binary<kRemainder>;
  number.nb_power = power;
  number.nb_matrix_multiply = matrix_multiply;
  number.nb_and = binary<kAnd>;
  number.nb_or = binary<kOr>;
  number.nb_xor = binary<kXor>;
  number.nb_lshift = binary<kShl>;
  number.nb_rshift = binary<kShr>;
  number.nb_inplace_lshift = binary_inplace<kShl>;
  number.nb_inplace_rshift = binary_inplace<kShr>;
  number.nb_inplace_add = binary_inplace<kAdd>;
  number.nb_inplace_subtract = binary_inplace<kSub>;
  number.nb_inplace_multiply = binary_inplace<kMul>;
  number.nb_inplace_true_divide = binary_inplace<kDiv>;
  number.nb_inplace_floor_divide = binary_inplace<kFloorDivide>;
  number.nb_inplace_remainder = binary_inplace<kRemainder>;
  number.nb_inplace_power = power_inplace;
  number.nb_inplace_and = binary_inplace<kAnd>;
  number.nb_inplace_or = binary_inplace<kOr>;
  number.nb_inplace_xor = binary_inplace<kXor>;
  number.nb_negative = unary<kNegate>;
  number.nb_positive = positive;
  number.nb_absolute = unary<kAbs>;
  number.nb_invert = invert;
  number.nb_bool = truth;
  number.nb_float = to_python_float;
  number.nb_int = to_python_int;
  number.nb_index = to_python_index;
  type.tp_as_number = &number;
  type.tp_richcompare = compare;
}

void keep_operators(PyTypeObject& type) {
  auto same = [&](const char* name) {
    auto own = py::reinterpret_steal<py::object>(must(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&type), name)));
    auto base = py::reinterpret_steal<py::object>(must(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&TensorType), name)));
    return own.is(base);
  };
  if (same("__add__") && same("__radd__")) type.tp_as_number->nb_add = number.nb_add;
  if (same("__sub__") && same("__rsub__")) type.tp_as_number->nb_subtract = number.nb_subtract;
  if (same("__mul__") && same("__rmul__")) type.tp_as_number->nb_multiply = number.nb_multiply;
  if (same("__truediv__") && same("__rtruediv__")) type.tp_as_number->nb_true_divide = number.nb_true_divide;
}

}  // namespace weir
