// The graph as Python sees it.
#pragma once
#include "framework/autograd/variable.h"
#include "framework/binding/tensor_object.h"

namespace weir {

struct PyNode { NodeRef node; };

}  // namespace weir
