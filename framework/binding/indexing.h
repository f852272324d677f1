// x[...] and x[...] = value: basic indexing as view ops, advanced indexing as index ops.
#pragma once
#include "framework/binding/tensor_object.h"

namespace weir {

PyObject* get_item(PyObject* self, PyObject* key);
int set_item(PyObject* self, PyObject* key, PyObject* value);

}  // namespace weir
