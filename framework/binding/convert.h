// Between Python objects and what op structs hold.
//
// Functions of the module take Tensor, DType, Device, Dims and Scalar as parameters: the casters below are the one way in,
// and what does not fit is a TypeError before any work.
#pragma once
#include <pybind11/stl.h>

#include "framework/binding/tensor_object.h"
#include "framework/op/call.h"

namespace weir {

/// Singletons: `weir.float32` is one object, so conversion is a pointer comparison.
PyObject* dtype_object(DType t);  // borrowed
bool to_dtype(PyObject* o, DType* out);
PyObject* device_object(Device d);  // new reference
bool to_device(PyObject* o, Device* out);
pybind11::object ints_object(const Dims& ints);  // a plain tuple
PyObject* size_object(const Dims& sizes);  // new reference to a weir.Size
bool is_size(PyObject* o);
PyObject* scalar_object(const Scalar& s);
/// The only element as a Python number, exactly.
PyObject* item_object(const Tensor& t);
/// The numbers of a tensor as nested lists, one level for each axis.
PyObject* lists_object(const Tensor& t);
bool to_int(PyObject* o, int64_t* out);    // int, NumPy integer, 0-d integer tensor; not float, not bool-less types
bool to_double(PyObject* o, double* out);
/// A whole number from 2^63 on becomes Scalar's `large` one. OverflowError from 2^64 on.
bool to_scalar(PyObject* o, Scalar* out);
bool is_number(PyObject* o);         // complex ones too
/// A number as a 0-d tensor that is weak in promotion; undefined for anything else. OverflowError from 2^64 on.
Tensor number_operand(PyObject* o);
/// Turns whole numbers from 2^63 on among operands into what the tensors beside them take: fractions a real number, integers the bits, but where
/// the result has fractions.
void settle_large_numbers(const OpType& type, const void* op, std::span<Tensor> operands);
bool is_complex_number(PyObject* o);
bool to_dims(PyObject* o, Dims* out, bool accept_int);
/// The UTF-8 text of a str. Raises Python's own error where it has none (a lone surrogate).
std::string_view text_of(PyObject* str);
/// Python's truth of `o`; raises what `bool(o)` raises.
bool truth_of(PyObject* o);
/// `o`, or the Python error that made it null.
inline PyObject* must(PyObject* o) {
  if (!o) throw pybind11::error_already_set();
  return o;
}
bool to_memory_format(PyObject* o, MemoryFormat* out);
Generator* to_generator(PyObject* o);  // null when it is none

/// The number at `place` of a list: TypeError where it is too large, as in PyTorch.
bool to_listed_int(PyObject* o, Py_ssize_t place, int64_t* out);
/// What a function that PyTorch writes in Python makes of an argument: the truth of a flag, 1 of True, the number of a tensor whatever its
/// history, and of optional axes their numbers one by one, those of a tensor too, and none of an empty tuple.
pybind11::object taken_in_python(PyObject* o, Ty ty);
/// Writes a Python argument into the member at `at`. False when the type does not fit.
bool store_argument(PyObject* o, Ty ty, void* at);

/// Whether PyTorch's signatures give a list of this name a length, so that it may be one number, in a tensor too.
bool has_length(std::string_view parameter);
/// Is `o` a tensor with axes in the place of one integer of `op` that takes only tensors without?
bool has_axes_beside(PyObject* o, Ty ty, std::string_view op, std::string_view parameter, std::string_view type = "");

void init_types(pybind11::module_& m);
void init_arguments(pybind11::module_& m);
void init_size(pybind11::module_& m);

}  // namespace weir

namespace pybind11::detail {

template <> struct type_caster<weir::Tensor> {
  PYBIND11_TYPE_CASTER(weir::Tensor, const_name("Tensor"));
  bool load(handle o, bool) {
    if (!weir::is_tensor(o.ptr())) return false;
    value = weir::unwrap(o.ptr());
    return true;
  }
  static handle cast(const weir::Tensor& t, return_value_policy, handle) { return weir::must(weir::wrap(t)); }
};
template <> struct type_caster<weir::DType> {
  PYBIND11_TYPE_CASTER(weir::DType, const_name("dtype"));
  bool load(handle o, bool) { return weir::to_dtype(o.ptr(), &value); }
  static handle cast(weir::DType t, return_value_policy, handle) { return Py_NewRef(weir::dtype_object(t)); }
};
template <> struct type_caster<weir::Dims> {
  PYBIND11_TYPE_CASTER(weir::Dims, const_name("int | list[int]"));
  bool load(handle o, bool) { return weir::to_dims(o.ptr(), &value, true); }
};
template <> struct type_caster<weir::Scalar> {
  PYBIND11_TYPE_CASTER(weir::Scalar, const_name("Number"));
  bool load(handle o, bool) { return weir::to_scalar(o.ptr(), &value); }
};

}  // namespace pybind11::detail
