// The order of arguments that PyTorch deprecated and still takes: factors by position, before the tensors they multiply.
#pragma once
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "framework/binding/convert.h"
#include "framework/op/op.h"

namespace weir {
namespace py = pybind11;

/// `add(x, 2, y)`, `x.addcmul_(0.5, a, b)`, `addmm(2, x, 3, a, b)` and `x.addmm(2, 3, a, b)`, told as `add(x, y, alpha=2)` and so on.
struct OldOrder {
  std::vector<PyObject*> args;  // borrowed: tensors first, then the values of the keywords
  Py_ssize_t nargs = 0;
  py::object kwnames;
};

/// Whether the arguments stand in the old order of this signature; then they are in `to`. Warns by `name`, as PyTorch does.
bool in_old_order(const OpType& type, std::string_view name, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, OldOrder* to);

}  // namespace weir
