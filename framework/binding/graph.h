// Traces, graphs and plans as Python objects.
#pragma once
#include <pybind11/pybind11.h>

namespace weir {
void init_graph(pybind11::module_& m);
void init_watch(pybind11::module_& m);
void init_channel(pybind11::module_& m);
}  // namespace weir
