// Between Python objects and what op structs hold.
#pragma once
#include "framework/binding/tensor_object.h"
#include "framework/op/call.h"

namespace weir {

/// Singletons: `weir.float32` is one object, so conversion is a pointer comparison.
PyObject* dtype_object(DType t);  // borrowed
bool to_dtype(PyObject* o, DType* out);
PyObject* device_object(Device d);  // new reference
bool to_device(PyObject* o, Device* out);
PyObject* size_object(const Dims& sizes);  // new reference to a weir.Size
PyObject* scalar_object(const Scalar& s);
bool to_int(PyObject* o, int64_t* out);    // int, NumPy integer, 0-d integer tensor; not float, not bool-less types
bool to_double(PyObject* o, double* out);
bool to_scalar(PyObject* o, Scalar* out);
bool is_number(PyObject* o);         // complex ones too
bool is_complex_number(PyObject* o);
bool to_dims(PyObject* o, Dims* out, bool accept_int);
bool to_memory_format(PyObject* o, MemoryFormat* out);
Generator* to_generator(PyObject* o);  // null when it is none

/// Writes a Python argument into the member at `at`. False when the type does not fit.
bool store_argument(PyObject* o, Ty ty, void* at);

void init_types(pybind11::module_& m);

}  // namespace weir
