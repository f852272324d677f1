// What the profiler in Python asks for: the ops that were called while it ran.
#pragma once
#include "framework/binding/tensor_object.h"

namespace weir {

/// `_record_ops(on, shapes)` begins and ends it, `_recorded_ops()` gives (name, begin and length in ns, thread, shapes) of each.
void init_profile(pybind11::module_& m);

}  // namespace weir
