// Tensor.to: one method of PyTorch's with three signatures.
#pragma once
#include "framework/binding/tensor_object.h"

namespace weir {

/// to(dtype, ...), to(device, dtype, ...) or to(other, ...), each with (non_blocking, copy, *, memory_format): the tensor itself when nothing
/// changes and no copy is asked for.
PyObject* to_method(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace weir
