// Channels of Python objects.
#include "framework/graph/channel.h"

#include "framework/binding/graph.h"

namespace py = pybind11;

namespace weir {
namespace {

constexpr std::chrono::milliseconds kAttention(50);  // how long a waiting consumer may be deaf to signals

// Waits without the interpreter's lock. Objects inside are owned.
class ObjectChannel {
 public:
  explicit ObjectChannel(size_t credits) : channel_(credits) {}
  ~ObjectChannel() {
    PyObject* left = nullptr;
    while (channel_.take(&left, std::chrono::milliseconds(0)) == graph::Arrival::item) Py_DECREF(left);
  }
  bool put(const py::object& item) {
    PyObject* owned = item.inc_ref().ptr();
    bool taken = false;
    {
      py::gil_scoped_release nogil;
      taken = channel_.put(owned);
    }
    if (!taken) Py_DECREF(owned);
    return taken;
  }
  py::object take() {
    while (true) {
      PyObject* item = nullptr;
      graph::Arrival arrival;
      {
        py::gil_scoped_release nogil;
        arrival = channel_.take(&item, kAttention);
      }
      if (arrival == graph::Arrival::item) return py::reinterpret_steal<py::object>(item);
      if (arrival == graph::Arrival::closed) return py::none();
      if (PyErr_CheckSignals()) throw py::error_already_set();
    }
  }
  void close() { channel_.close(); }

 private:
  graph::Channel<PyObject*> channel_;
};

}  // namespace

void init_channel(py::module_& m) {
  py::class_<ObjectChannel>(m, "_Channel")
      .def(py::init<size_t>())
      .def("put", &ObjectChannel::put)    // False: closed
      .def("take", &ObjectChannel::take)  // None: closed, and nothing is left
      .def("close", &ObjectChannel::close);
}

}  // namespace weir
