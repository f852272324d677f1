// Generator as a Python class.
#include "framework/binding/convert.h"
#include "framework/core/generator.h"

namespace py = pybind11;

namespace weir {
namespace {

py::bytes state_of(const Generator& g) { return py::bytes(reinterpret_cast<const char*>(&g.state), sizeof g.state); }
// A traced program draws when it runs: what is seeded or drawn while it is traced would be another thing.
void check_not_tracing() {
  if (mode.recorder && untraceable) untraceable(Obstacle::value, "a random generator is seeded or read");
}
void set_state(Generator& g, const std::string& state) {
  check_not_tracing();
  check(state.size() == sizeof g.state, "RNG state is wrong size: ", state.size(), " bytes, expected ", sizeof g.state);
  std::memcpy(&g.state, state.data(), state.size());
}
std::unique_ptr<Generator> with_state(const py::bytes& state) {
  auto g = std::make_unique<Generator>();
  set_state(*g, std::string(state));
  return g;
}

}  // namespace

void init_random(py::module_& m) {
  py::class_<Generator>(m, "Generator")
      .def(py::init([](py::object) { return new Generator; }), py::arg("device") = "cpu")
      .def("manual_seed", [](py::object self, uint64_t seed) {
        check_not_tracing();
        self.cast<Generator&>().manual_seed(seed);
        return self;
      })
      .def("initial_seed", &Generator::initial_seed)
      .def("random", [](Generator& g) { return check_not_tracing(), g.random(); })
      .def_property_readonly("device", [](const Generator&) { return py::reinterpret_steal<py::object>(device_object({})); })
      .def("_state", &state_of)
      .def("clone_state", [](const Generator& g) { return with_state(state_of(g)); })
      .def("__copy__", [](const Generator& g) { return with_state(state_of(g)); })
      .def("__deepcopy__", [](const Generator& g, py::object) { return with_state(state_of(g)); })
      .def(py::pickle(&state_of, &with_state))
      .def("_set_state", &set_state);
  m.def("_default_generator", [] { return &default_generator(); }, py::return_value_policy::reference);
}

}  // namespace weir
