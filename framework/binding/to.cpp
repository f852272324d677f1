#include "framework/binding/to.h"

#include <optional>
#include <string>

#include "framework/binding/convert.h"
#include "framework/binding/rules.h"
#include "framework/ops/create.h"
#include "framework/ops/factory.h"
#include "framework/ops/resize.h"

namespace py = pybind11;

namespace weir {
namespace {

struct Target {
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> format;
  bool copy = false;
};

std::string_view type_name(PyObject* o) {
  const std::string_view name = Py_TYPE(o)->tp_name;
  return name.substr(name.rfind('.') + 1);  // from the start where there is no dot
}

[[noreturn]] void refuse(PyObject* const* args, Py_ssize_t n) {
  std::string types;
  for (Py_ssize_t i = 0; i < n; i++) types += std::string(i ? ", " : "") + std::string(type_name(args[i]));
  throw TypeError("to() received an invalid combination of arguments: (" + types + ")");
}

/// The dtype of the tensor that a number stands for. A whole one that `names_place` is the index of a device.
std::optional<DType> dtype_of_number(PyObject* o, bool names_place) {
  std::optional<DType> r;
  bool whole = PyLong_CheckExact(o);
  if (PyBool_Check(o)) r = DType::boolean;
  else if (whole) r = DType::int64;
  else if (PyFloat_CheckExact(o)) r = DType::float64;
  else if (PyComplex_CheckExact(o)) r = DType::complex128;
  else if (std::string_view(Py_TYPE(o)->tp_name).starts_with("numpy.") && is_number(o)) {
    const std::string kind = py::str(py::handle(o).attr("dtype").attr("kind"));
    whole = kind == "i" || kind == "u";
    r = whole ? DType::int64 : DType::float64;
  }
  check(!whole || !names_place, "Cannot access accelerator device when none is available.");
  return r;
}

bool flag(const char* name, PyObject* o) {
  check<TypeError>(PyBool_Check(o), "to(): argument '", name, "' must be bool, not ", type_name(o));
  return o == Py_True;
}

Target target(PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  Target to;
  bool non_blocking = false;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++) {
    const std::string_view name = text_of(PyTuple_GET_ITEM(kwnames, i));
    PyObject* value = args[n + i];
    DType dtype;
    MemoryFormat format;
    if (name == "non_blocking") {
      non_blocking = flag("non_blocking", value);
    } else if (name == "copy") {
      to.copy = flag("copy", value);
    } else if (name != "dtype" && name != "device" && name != "memory_format") {
      throw TypeError("to() got an unexpected keyword argument '" + std::string(name) + "'");
    } else if (value == Py_None) {
      continue;
    } else if (name == "dtype") {
      check<TypeError>(to_dtype(value, &dtype), "to(): argument 'dtype' must be torch.dtype, not ", type_name(value));
      to.dtype = dtype;
    } else if (name == "device") {
      Device device;
      to.device = to_device(value, &device) ? device : py::type::of<Device>()(py::handle(value)).cast<Device>();
    } else {
      check<TypeError>(to_memory_format(value, &format), "to(): argument 'memory_format' must be torch.memory_format, not ", type_name(value));
      to.format = format;
    }
  }
  if (n == 0) return to;

  PyObject* first = args[0];
  DType dtype;
  Device device;
  Py_ssize_t next = 1;
  bool settled = false;  // by a dtype or a model, behind which only flags stand, where a dtype may stand behind a device
  if (to_dtype(first, &dtype)) {
    if (to.dtype) refuse(args, n);
    to.dtype = dtype, settled = true;
  } else if (is_tensor(first)) {
    to.dtype = unwrap(first).dtype(), to.device = unwrap(first).device(), settled = true;
  } else if (first != Py_None && to_device(first, &device)) {
    if (to.device) refuse(args, n);
    to.device = device;
  } else if (first != Py_None) {
    const std::optional<DType> number = dtype_of_number(first, n == 1 || !PyBool_Check(args[1]));
    if (!number) refuse(args, n);
    to.dtype = number, settled = true;
  }
  if (next < n && !settled) {
    if (to_dtype(args[next], &dtype)) to.dtype = dtype, next++;
    else if (args[next] == Py_None) next++;
    else refuse(args, n);
  }
  const Py_ssize_t flags = n - next;
  if (flags > 2 || (flags > 0 && non_blocking) || (flags > 1 && to.copy)) refuse(args, n);
  for (Py_ssize_t i = next; i < n; i++)
    if (!PyBool_Check(args[i])) refuse(args, n);
  if (flags > 1) to.copy = args[next + 1] == Py_True;
  return to;
}

}  // namespace

PyObject* to_method(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (PyObject* answer; tensors_have_rules && tensors_answer("to", self, args, nargs, kwnames, &answer)) return answer;
  return guarded([&] {
    const Tensor& t = unwrap(self);
    const Target to = target(args, nargs, kwnames);
    if (to.device && to.device->type != t.device().type) {
      check<NotImplemented>(to.device->type != DeviceType::cpu, "Cannot copy out of meta tensor; no data!");
      return wrap(fn::empty_like(t, to.dtype, to.device));  // refuses a device that is not built
    }
    Tensor r = to.dtype ? cast_to(t, *to.dtype) : t;
    const bool fresh = to.copy || r != t;
    if (to.format && *to.format != MemoryFormat::preserve) {
      // A copy has the very strides of the format; those of axes of size 1 may be others.
      const bool same = fresh ? is_dense_in(r, *to.format) && !r.sizes().contains(1) : *to.format == suggested_format(r);
      if (!same) r = clone_of(r, *to.format);
    }
    if (to.copy && r == t) r = clone_of(t);
    return r == t ? Py_NewRef(self) : wrap(r);
  });
}

}  // namespace weir
