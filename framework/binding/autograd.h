// The graph as Python sees it.
#pragma once
#include "framework/autograd/variable.h"
#include "framework/binding/tensor_object.h"

namespace weir {

struct PyNode { NodeRef node; };

/// The node in Python, an instance of the class of its name.
pybind11::object node_object(const NodeRef& node);

/// Hooks from Python for what calls save.
std::shared_ptr<SavedHooks> saved_hooks_of(pybind11::function pack, pybind11::function unpack);

}  // namespace weir
