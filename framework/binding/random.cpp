// Generator as a Python class.
#include <random>

#include "framework/binding/convert.h"
#include "framework/binding/tensor_object.h"
#include "framework/core/generator.h"
#include "framework/ops/create.h"

namespace py = pybind11;

namespace weir {
namespace {

// A traced program draws when it runs: what is seeded or drawn while it is traced would be another thing.
void check_not_tracing() {
  if (mode.recorder && untraceable) untraceable(Obstacle::value, "a random generator is seeded or read");
}

Tensor state_of(const Generator& g) {
  check_not_tracing();
  Tensor bytes = empty(Dims{int64_t(Generator::kStateBytes)}, DType::uint8);
  g.save(bytes.raw());
  return bytes;
}
void set_state(Generator& g, const Tensor& state) {
  check_not_tracing();
  check<TypeError>(state.dtype() == DType::uint8 && state.device().type == DeviceType::cpu, "set_state: RNG state must be a torch.ByteTensor");
  check(state.ndim() == 1 && state.strides()[0] == 1, "set_state: expected a state of one axis, got ", state.sizes());
  g.load(state.raw(), size_t(state.numel()));
}
std::unique_ptr<Generator> copy_of(const Generator& g) {
  auto copy = std::make_unique<Generator>();
  set_state(*copy, state_of(g));
  return copy;
}

// Python's numbers in [-2^63, 2^64), of which the negative ones count from 2^64 down.
uint64_t to_seed(const py::object& seed) {
  check(PyLong_Check(seed.ptr()), "manual_seed expected a long, but got ", Py_TYPE(seed.ptr())->tp_name);
  uint64_t value = PyLong_AsUnsignedLongLong(seed.ptr());
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  value = uint64_t(PyLong_AsLongLong(seed.ptr()));
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  throw ValueError(str("manual_seed: Overflow when unpacking long long: expected a seed in [-2^63, 2^64), got ", std::string(py::str(seed))));
}

void check_cpu(const py::object& device) {
  Device d;
  check<TypeError>(device.is_none() || to_device(device.ptr(), &d), "Generator(): expected a device, got ", Py_TYPE(device.ptr())->tp_name);
  check(d.type == DeviceType::cpu, "Generator(): expected the device type cpu, got ", name_of(d.type));
}

}  // namespace

void init_random(py::module_& m) {
  const char* no_offset = "CPU Generator does not use offset";
  py::class_<Generator>(m, "Generator")
      .def(py::init([](const py::object& device) {
        check_cpu(device);
        return new Generator;
      }), py::arg("device") = "cpu")
      .def("manual_seed", [](py::object self, const py::object& seed) {
        check_not_tracing();
        self.cast<Generator&>().manual_seed(to_seed(seed));
        return self;
      })
      .def("seed", [](Generator& g) {
        check_not_tracing();
        std::random_device device;
        g.manual_seed(uint64_t(device()) << 32 | device());
        return g.initial_seed();
      })
      .def("initial_seed", &Generator::initial_seed)
      .def("random", [](Generator& g) { return check_not_tracing(), g.random(); })
      .def_property_readonly("device", [](const Generator&) { return py::reinterpret_steal<py::object>(device_object({})); })
      .def("get_state", &state_of)
      .def("set_state", [](py::object self, const Tensor& state) {
        set_state(self.cast<Generator&>(), state);
        return self;
      })
      .def("clone_state", &copy_of)
      .def("get_offset", [no_offset](const Generator&) -> int64_t { throw Error(no_offset); })
      .def("set_offset", [no_offset](Generator&, int64_t) { throw Error(no_offset); })
      .def("__copy__", &copy_of)
      .def("__deepcopy__", [](const Generator& g, const py::object&) { return copy_of(g); })
      .def(py::pickle(
          [](const Generator& g) {
            std::string bytes(Generator::kStateBytes, 0);
            g.save(reinterpret_cast<std::byte*>(bytes.data()));
            return py::bytes(bytes);
          },
          [](const py::bytes& state) {
            auto g = std::make_unique<Generator>();
            const std::string_view bytes(state);
            g->load(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
            return g;
          }));
  m.def("_default_generator", [] { return &default_generator(); }, py::return_value_policy::reference);
}

}  // namespace weir
