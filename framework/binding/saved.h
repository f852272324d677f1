// What calls left for backward, as programs see it: `y.grad_fn._saved_self`, `_saved_result`, `_saved_dim`, `_raw_saved_self`.
#pragma once
#include "framework/binding/autograd.h"

namespace weir {

/// The attributes of the node's recorded call by name, for dir(); none of nodes that no op recorded.
std::vector<std::string> saved_names(const NodeRef& node);

/// The attribute of that name, null where there is none. RuntimeError for a tensor that a backward pass has freed.
pybind11::object saved_attribute(const NodeRef& node, std::string_view name);

void init_saved(pybind11::module_& m);

}  // namespace weir
