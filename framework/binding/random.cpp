// Generator as a Python class.
#include "framework/binding/convert.h"
#include "framework/core/generator.h"

namespace py = pybind11;

namespace weir {

void init_random(py::module_& m) {
  py::class_<Generator>(m, "Generator")
      .def(py::init([](py::object) { return new Generator; }), py::arg("device") = "cpu")
      .def("manual_seed", [](py::object self, uint64_t seed) {
        self.cast<Generator&>().manual_seed(seed);
        return self;
      })
      .def("initial_seed", &Generator::initial_seed)
      .def("random", &Generator::random)
      .def_property_readonly("device", [](const Generator&) { return py::reinterpret_steal<py::object>(device_object({})); })
      .def("_state", [](const Generator& g) { return py::bytes(reinterpret_cast<const char*>(&g.state), sizeof g.state); })
      .def("_set_state", [](Generator& g, const std::string& s) {
        check(s.size() == sizeof g.state, "RNG state is wrong size");
        std::memcpy(&g.state, s.data(), s.size());
      });
  m.def("_default_generator", [] { return &default_generator(); }, py::return_value_policy::reference);
}

}  // namespace weir
