#include "framework/binding/construct.h"

#include <cstring>

#include "framework/autograd/variable.h"
#include "framework/core/alignment.h"
#include "framework/core/storage_types.h"
#include "framework/core/warn.h"
#include "framework/op/copy.h"
#include "framework/ops/create.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/view.h"

namespace py = pybind11;

namespace weir {
namespace {

// A type of NumPy's, only where the program has imported NumPy: otherwise no object can be one.
PyObject* numpy_type(const char* name) {
  static PyObject* modules = PyImport_GetModuleDict();
  PyObject* numpy = PyDict_GetItemString(modules, "numpy");  // borrowed
  if (!numpy) return nullptr;
  PyObject* type = PyObject_GetAttrString(numpy, name);  // kept for good
  if (!type) PyErr_Clear();                              // NumPy is being imported right now
  return type;
}
template <const char* kName> bool is_numpy(PyObject* o) {
  static PyObject* type = nullptr;
  if (!type) type = numpy_type(kName);
  return type && PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(type));
}
constexpr char kArray[] = "ndarray", kGeneric[] = "generic";

py::object item_of(PyObject* sequence, Py_ssize_t i) { return py::reinterpret_steal<py::object>(must(PySequence_GetItem(sequence, i))); }

Dims sizes_of(PyObject* data) {
  Dims sizes;
  py::object held = py::reinterpret_borrow<py::object>(data);
  while (!is_tensor(held.ptr()) && PySequence_Check(held.ptr())) {
    Py_ssize_t n = PySequence_Length(held.ptr());
    if (n < 0) throw py::error_already_set();
    check<ValueError>(sizes.n < kMaxDims, "too many dimensions '", Py_TYPE(held.ptr())->tp_name, "'");
    sizes.push(n);
    if (n == 0) break;
    auto first = py::reinterpret_steal<py::object>(PySequence_GetItem(held.ptr(), 0));
    if (!first) PyErr_Clear();
    check<ValueError>(bool(first), "could not determine the shape of object type '", Py_TYPE(held.ptr())->tp_name, "'");
    held = std::move(first);
  }
  return sizes;
}

DType inferred(PyObject* o) {
  if (PyBool_Check(o)) return DType::boolean;
  if (PyLong_CheckExact(o)) return DType::int64;
  if (PyFloat_CheckExact(o)) return default_dtype();
  if (is_numpy_array(o) || is_numpy_scalar(o)) return from_numpy(py::reinterpret_steal<py::object>(must(PyObject_CallMethod(o, "__array__", nullptr)))).dtype();
  if (PyFloat_Check(o)) return default_dtype();
  if (PyLong_Check(o)) return DType::int64;
  if (PyComplex_Check(o)) return complex_type(default_dtype());
  if (is_tensor(o)) return unwrap(o).dtype();
  check<TypeError>(!PyUnicode_Check(o) && !PyBytes_Check(o), "new(): invalid data type '", Py_TYPE(o)->tp_name, "'");
  check(PySequence_Check(o), "Could not infer dtype of ", Py_TYPE(o)->tp_name);
  Py_ssize_t n = PySequence_Length(o);
  if (n < 0) throw py::error_already_set();
  if (n == 0) return default_dtype();
  std::optional<DType> all;
  for (Py_ssize_t i = 0; i < n; i++) {
    py::object each = item_of(o, i);
    check<TypeError>(each.ptr() != o, "new(): self-referential lists are incompatible");
    DType t = inferred(each.ptr());
    all = all ? promote_types(*all, t) : t;
    if (*all == DType::complex128) break;
  }
  return *all;
}

int64_t whole_number(PyObject* o) {
  if (PyLong_Check(o)) {
    int overflow;
    int64_t i = PyLong_AsLongLongAndOverflow(o, &overflow);
    check<ValueError>(!overflow, "Overflow when unpacking long long");
    return i;
  }
  auto index = py::reinterpret_steal<py::object>(must(PyNumber_Index(o)));
  return whole_number(index.ptr());
}

double real_number(PyObject* o) {
  double d = PyFloat_AsDouble(o);
  if (d == -1 && PyErr_Occurred()) throw py::error_already_set();
  return d;
}

// The object as a number of T, or an error: nothing wraps, and no fraction of an int is invented.
template <class T> T number(PyObject* o, DType t) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::string_view type = Py_TYPE(o)->tp_name;
    const bool fraction = (type.starts_with("numpy.float") && !PyFloat_Check(o)) || type == "numpy.complex64";
    if (is_tensor(o) || is_numpy_array(o) || fraction) return whole_number(o) != 0;  // as for integers: a fraction is no truth
    check<TypeError>(o != Py_None, "'NoneType' object cannot be interpreted as an integer");
    return truth_of(o);
  } else if constexpr (kIsComplex<T>) {
    Py_complex c = PyComplex_AsCComplex(o);
    if (PyErr_Occurred()) throw py::error_already_set();
    return T(c.real, c.imag);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    check<TypeError>(!PyFloat_Check(o) && !PyComplex_Check(o), "an integer is required");
    auto index = py::reinterpret_steal<py::object>(must(PyNumber_Index(o)));
    const uint64_t value = PyLong_AsUnsignedLongLong(index.ptr());
    if (PyErr_Occurred()) throw py::error_already_set();
    return value;
  } else if constexpr (std::is_same_v<T, ComplexHalf>) {
    return T(number<std::complex<float>>(o, t));
  } else if constexpr (std::is_integral_v<T>) {
    Scalar s = PyFloat_Check(o) ? Scalar(PyFloat_AS_DOUBLE(o)) : Scalar(whole_number(o));
    check_fits(s, t);
    return T(s.to_int());
  } else {
    return T(real_number(o));
  }
}

template <class T> void store(PyObject* data, const Dims& sizes, int dim, DType t, T*& at) {
  if (sizes.contains(0)) return;  // Source: PyTorch, which looks at no lists where the first ones hold nothing
  if (dim == sizes.n) {
    *at++ = number<T>(data, t);
    return;
  }
  auto items = py::reinterpret_steal<py::object>(must(PySequence_Fast(data, "not a sequence")));
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items.ptr());
  check<ValueError>(n == sizes[dim], "expected sequence of length ", sizes[dim], " at dim ", dim, " (got ", n, ")");
  // By index and anew each time: a number's own code may change the list.
  for (Py_ssize_t i = 0; i < n; i++) {
    check<ValueError>(i < PySequence_Fast_GET_SIZE(items.ptr()), "the sequence changed its length while it was read");
    py::object each = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(items.ptr(), i));
    if (!PyFloat_CheckExact(each.ptr()) && !PyLong_CheckExact(each.ptr()) && is_numpy_array(each.ptr()))
      warn_once("Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a single numpy.ndarray "
                "with numpy.array() before converting to a tensor.");
    store(each.ptr(), sizes, dim + 1, t, at);
  }
}

Tensor from_python(PyObject* data, std::optional<DType> dtype) {
  Dims sizes = sizes_of(data);
  DType t = dtype ? *dtype : inferred(data);
  Tensor r = empty(sizes, t);
  if (r.numel() == 0 && sizes.n < 2) return r;
  visit_any_dtype(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* at = r.data<T>();
    store(data, sizes, 0, t, at);
  });
  return r;
}

Tensor copied(const Tensor& t, std::optional<DType> dtype) {
  GradMode off(false);
  return dtype && *dtype != t.dtype() ? cast_to(t, *dtype) : clone_of(t);
}

// ---- foreign memory --------------------------------------------------------------------------------------------
struct Exported {
  Py_buffer view;
};
void release_buffer(void* context) {
  py::gil_scoped_acquire gil;
  auto* e = static_cast<Exported*>(context);
  PyBuffer_Release(&e->view);
  delete e;
}

}  // namespace

Tensor over_foreign(void* start, size_t bytes, DType t, const Dims& sizes, const Dims& strides, void (*release)(void*), void* context) {
  StorageRef theirs = borrow_storage(start, bytes, release, context);
  StorageRef held = theirs;
  if (bytes && !is_aligned_for(t, start)) {
    held = new_storage(bytes);
    std::memcpy(held->data, start, bytes);
  }
  Tensor r = alias(std::move(held), t, sizes, strides, 0);
  mark_truths(r);
  return r;
}
void warn_of_copy(const Tensor& t) {
  if (!t->storage->release)
    warn(str("The given memory is not aligned to elements of ", name_of(t.dtype()), ": the tensor is over a copy, and neither sees what is written to the other."));
}

namespace {

Tensor from_buffer(py::handle o, DType t, int64_t count, int64_t offset) {
  auto held = std::make_unique<Exported>();
  if (PyObject_GetBuffer(o.ptr(), &held->view, PyBUF_WRITABLE) < 0) {
    PyErr_Clear();  // read-only memory is shared too; PyTorch warns, and so does the Python form
    if (PyObject_GetBuffer(o.ptr(), &held->view, PyBUF_SIMPLE) < 0) {
      PyErr_Clear();
      throw ValueError(str("object does not implement Python buffer protocol: ", Py_TYPE(o.ptr())->tp_name));
    }
  }
  struct Guard {
    Exported* e;
    ~Guard() { if (e) PyBuffer_Release(&e->view); }
  } guard{held.get()};
  int64_t have = held->view.len, item = int64_t(size_of(t));
  check<ValueError>(have > 0 && count != 0, "both buffer length (", have, ") and count (", count, ") must not be 0");
  check<ValueError>(offset >= 0 && offset < have, "offset (", offset, " bytes) must be non-negative and no greater than buffer length (",
                    have, " bytes) minus 1");
  check<ValueError>(count > 0 || (have - offset) % item == 0, "buffer length (", have - offset, " bytes) after offset (", offset,
                    " bytes) must be a multiple of element size (", item, ")");
  int64_t n = count < 0 ? (have - offset) / item : count;
  check<ValueError>(n <= (have - offset) / item, "requested buffer length (", n, " * ", item, " bytes) after offset (", offset,
                    " bytes) must not be greater than actual buffer length (", have, " bytes)");
  auto* start = static_cast<std::byte*>(held->view.buf) + offset;
  guard.e = nullptr;
  Tensor r = over_foreign(start, size_t(n * item), t, Dims{n}, Dims{1}, release_buffer, held.release());
  warn_of_copy(r);
  return r;
}

/// All bytes of the storage, as uint8: what storages in Python are made of.
Tensor storage_bytes(const Tensor& t) {
  return alias(t->storage, DType::uint8, Dims{int64_t(t->storage->bytes)}, Dims{1}, 0);
}

// A storage of Python's as numbers over its memory, of `dtype` where one is given; nothing for other objects.
std::optional<Tensor> over_storage(PyObject* data, std::optional<DType> dtype) {
  if (!PyObject_HasAttrString(data, "_numbers_as")) return {};
  return py::handle(data).attr("_numbers_as")(dtype).cast<Tensor>();
}

}  // namespace

bool is_numpy_array(PyObject* o) { return is_numpy<kArray>(o); }
bool is_numpy_scalar(PyObject* o) { return is_numpy<kGeneric>(o); }

Tensor construct(PyObject* data, std::optional<DType> dtype) {
  if (is_tensor(data)) {
    warn("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True).");
    return copied(detach(unwrap(data)), dtype);  // without a tangent
  }
  if (is_numpy_array(data)) return copied(from_numpy(data), dtype);
  if (is_numpy_scalar(data) && !dtype) return copied(from_numpy(py::reinterpret_steal<py::object>(must(PyObject_CallMethod(data, "__array__", nullptr)))), dtype);
  const bool plain = PyList_Check(data) || PyTuple_Check(data) || PyFloat_Check(data) || PyLong_Check(data) || PyComplex_Check(data);
  if (!plain && PyObject_HasAttrString(data, "__dlpack__")) return copied(from_exporter(data), dtype);
  if (!plain)
    if (auto numbers = over_storage(data, dtype)) return *numbers;
  return from_python(data, dtype);
}

Tensor construct_legacy(PyObject* args, PyObject* kwargs, DType dtype, bool any_dtype) {
  PyObject *data = nullptr, *key, *value;
  bool only_size = false, device_given = false;
  Py_ssize_t at = 0, n = PyTuple_GET_SIZE(args);
  while (kwargs && PyDict_Next(kwargs, &at, &key, &value)) {
    std::string_view name = text_of(key);
    check<TypeError>(name == "device" || ((name == "size" || name == "data" || name == "other") && n == 0 && !data),
                     "new() received an invalid combination of arguments: unexpected keyword argument '", name, "'");
    Device d;
    if (name == "device") device_given = value != Py_None;
    if (name == "device") check<TypeError>(value == Py_None || to_device(value, &d), "new(): device must be a device, not ", Py_TYPE(value)->tp_name);
    else data = value, only_size = name == "size";
    check(d.type == DeviceType::cpu, "legacy constructor expects device type: cpu but device type: ", name_of(d.type), " was passed");
  }
  if (!data && n == 0) return empty(Dims{0}, dtype);
  Dims sizes;
  if (n > 1) {
    check<TypeError>(to_dims(args, &sizes, false), "new() received an invalid combination of arguments: sizes must be ints");
    return empty(sizes, dtype);
  }
  if (!data) data = PyTuple_GET_ITEM(args, 0);
  if (is_tensor(data)) {
    const Tensor& t = unwrap(data);
    check(!device_given, any_dtype ? "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use torch.tensor(...) or "
                                     "torch.as_tensor(...) instead."
                                   : "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  Use torch.as_tensor(...) instead.");
    check<TypeError>(any_dtype || t.dtype() == dtype, "expected a tensor of ", name_of(dtype), " (got ", name_of(t.dtype()), ")");
    return mode.grad && t.has_flag(kRequiresGrad) ? fn::expand(t, t.sizes()) : detach(t);
  }
  if (auto numbers = only_size ? std::nullopt : over_storage(data, dtype)) return *numbers;
  if (only_size || is_size(data) || (PyIndex_Check(data) && !PyBool_Check(data) && !PySequence_Check(data))) {
    check<TypeError>(to_dims(data, &sizes, true), "new(): size must be ints, got ", Py_TYPE(data)->tp_name);
    return empty(sizes, dtype);
  }
  check<TypeError>(PySequence_Check(data), "new(): data must be a sequence (got ", Py_TYPE(data)->tp_name, ")");
  return construct(data, dtype);
}

Tensor finish_new(Tensor t, bool requires_grad) {
  if (mode.inference) t->flags |= kInference;
  if (requires_grad) {
    check(is_inexact(t.dtype()), "only Tensors of floating point and complex dtype can require gradients");
    t->flags |= kRequiresGrad;
  }
  return t;
}

Device device_argument(py::handle o) {
  Device d;
  if (!o.is_none()) check<TypeError>(to_device(o.ptr(), &d), "device: expected a device or str, got ", Py_TYPE(o.ptr())->tp_name);
  check_available(d);
  return d;
}

// A copy onto the meta device keeps no numbers.
static Tensor on_device(const Tensor& t, py::handle device) {
  Device d = device_argument(device);
  return d.type == t.device().type ? t : empty(Meta(t.sizes(), t.strides(), t.dtype(), d));
}

// pybind11's own bool is NumPy's too.
static bool flag(const char* name, py::handle given) {
  check<TypeError>(PyBool_Check(given.ptr()), "tensor(): argument '", name, "' must be bool, not ", Py_TYPE(given.ptr())->tp_name);
  return given.ptr() == Py_True;
}

void init_construct(py::module_& m) {
  m.def("_construct_legacy", [](DType t, const py::args& args, const py::kwargs& kwargs) {
    return construct_legacy(args.ptr(), kwargs.ptr(), t, false);
  });
  m.def("tensor", [](py::handle data, std::optional<DType> dtype, py::handle d, py::handle grad, py::handle pinned) {
    const auto [requires_grad, pin_memory] = std::pair(flag("requires_grad", grad), flag("pin_memory", pinned));
    check(!pin_memory, "tensor: ", kNoPinnedMemory);
    Tensor t = construct(data.ptr(), dtype);
    return finish_new(on_device(t, d), requires_grad);
  }, py::arg("data"), py::kw_only(), py::arg("dtype") = py::none(), py::arg("device") = py::none(),
     py::arg("requires_grad") = false, py::arg("pin_memory") = false,
     "A new tensor with a copy of data: a number, nested sequences, an array or a tensor. Floats get the default dtype, NumPy\n"
     "numbers, arrays and tensors keep theirs. RuntimeError where a number does not fit dtype, ValueError for ragged sequences,\n"
     "TypeError for what is no number. Source: https://pytorch.org/docs/stable/generated/torch.tensor.html");
  m.def("_from_buffer", &from_buffer);
  m.def("_is_numpy", [](py::handle o) { return is_numpy_array(o.ptr()) || is_numpy_scalar(o.ptr()); });
  m.def("_storage_as_bytes", &storage_bytes);
  m.def("_mark_truths", [](const Tensor& t) {
    mark_truths(t);
    return t;
  }, "The tensor itself; of truths over another dtype's bytes it knows now whether all are 0 or 1.");
}

}  // namespace weir
