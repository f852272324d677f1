#include "framework/binding/convert.h"

#include <algorithm>

#include "framework/core/generator.h"
#include "framework/core/storage_types.h"
#include "framework/core/warn.h"
#include "framework/graph/trace.h"

namespace py = pybind11;

namespace weir {
namespace {

struct PyDType {
  DType value;
  const char* absent = nullptr;  // the name of a dtype that weir does not hold; `value` then says its size only
};
PyObject* dtypes[kNumDTypes];

std::string_view name_of(const PyDType& t) { return t.absent ? t.absent : weir::name_of(t.value); }
bool named(const PyDType& t, std::string_view begin) { return name_of(t).starts_with(begin); }
PyObject* made_of(const PyDType& t, DType (*part)(DType)) {
  check<NotImplemented>(!t.absent, "weir does not hold torch.", name_of(t));
  return Py_NewRef(dtypes[int(part(t.value))]);
}
DType complex_of(DType t) { return is_inexact(t) ? complex_type(t) : (no_complex_type(t), t); }
DType real_of(DType t) { return real_type(t); }

/// An object for the name of a dtype that weir does not hold: it compares, prints and pickles; to use it raises NotImplementedError.
PyObject* absent_dtype(const std::string& name) {
  py::object module = py::module_::import("_weir");
  if (py::hasattr(module, name.c_str())) return py::object(module.attr(name.c_str())).release().ptr();
  const DType like = name == "qint32" ? DType::int32 : name == "bits16" ? DType::int16 : DType::int8;
  py::object made = py::cast(PyDType{like, (new std::string(name))->c_str()});  // kept for good, as the object is
  module.attr(name.c_str()) = made;
  return made.release().ptr();
}

}  // namespace

PyObject* dtype_object(DType t) { return dtypes[int(t)]; }

bool to_dtype(PyObject* o, DType* out) {
  for (int i = 0; i < kNumDTypes; i++)
    if (o == dtypes[i]) return *out = DType(i), true;
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *out = DType::float64, true;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return *out = DType::int64, true;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return *out = DType::boolean, true;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return *out = DType::complex128, true;
  if (py::isinstance<PyDType>(o)) throw NotImplemented(str("weir does not hold torch.", name_of(py::cast<PyDType>(py::handle(o)))));
  return false;
}

PyObject* device_object(Device d) {
  static PyObject* const cpu = py::cast(Device{}).release().ptr();  // every tensor's is asked for often
  return d == Device{} ? Py_NewRef(cpu) : py::cast(d).release().ptr();
}

std::string_view text_of(PyObject* str) {
  Py_ssize_t n;
  const char* text = PyUnicode_AsUTF8AndSize(str, &n);
  if (!text) throw py::error_already_set();
  return {text, size_t(n)};
}

bool truth_of(PyObject* o) {
  int r = PyObject_IsTrue(o);
  if (r < 0) throw py::error_already_set();
  return r;
}

static Device parse_device(const std::string& text) {
  std::string name = text.substr(0, text.find(':'));
  Device d;
  const auto known = std::find(std::begin(kDeviceNames), std::end(kDeviceNames), name);
  if (known == std::end(kDeviceNames)) {
    std::string all;
    for (std::string_view n : kDeviceNames) (all += all.empty() ? "" : ", ") += n;
    throw Error("Expected one of " + all + " device type at start of device string: " + text);
  }
  d.type = DeviceType(known - std::begin(kDeviceNames));
  if (size_t colon = text.find(':'); colon != text.npos) {
    std::string digits = text.substr(colon + 1);
    check(!digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == digits.npos,
          "Invalid device string: '", text, "'");
    d.index = int8_t(std::stoi(digits));
  }
  return d;
}

bool to_device(PyObject* o, Device* out) {
  if (PyUnicode_Check(o)) return *out = parse_device(std::string(text_of(o))), true;
  if (!py::isinstance<Device>(o)) return false;
  *out = py::cast<Device>(py::handle(o));
  return true;
}

py::object ints_object(const Dims& ints) {
  auto t = py::reinterpret_steal<py::object>(must(PyTuple_New(ints.n)));
  for (int i = 0; i < ints.n; i++) PyTuple_SET_ITEM(t.ptr(), i, must(PyLong_FromLongLong(ints[i])));
  return t;
}

PyObject* scalar_object(const Scalar& s) {
  if (s.is_complex()) return PyComplex_FromDoubles(s.d, s.imag);
  if (s.is_real()) return PyFloat_FromDouble(s.d);
  return s.kind == Scalar::Kind::boolean ? PyBool_FromLong(s.i) : PyLong_FromLongLong(s.i);
}

PyObject* item_object(const Tensor& t) {
  const Scalar s = item(t);  // which holds the larger half of uint64 roughly
  return t.dtype() == DType::uint64 ? PyLong_FromUnsignedLongLong(*t.data<uint64_t>()) : scalar_object(s);
}

namespace {

template <class T> PyObject* number_object(T x) {
  if constexpr (kIsComplex<T>) return PyComplex_FromDoubles(double(x.real()), double(x.imag()));
  else if constexpr (std::is_same_v<T, bool>) return PyBool_FromLong(x);
  else if constexpr (std::is_same_v<T, uint64_t>) return PyLong_FromUnsignedLongLong(x);
  else if constexpr (std::is_integral_v<T>) return PyLong_FromLongLong(x);
  else return PyFloat_FromDouble(double(x));
}

template <class Stored> PyObject* number_at(const Tensor& t, const Stored* at) {
  using T = typename Carrier<Stored>::type;
  if constexpr (std::is_same_v<T, bool>) return must(number_object(*reinterpret_cast<const uint8_t*>(at) != 0));  // another dtype's bytes may be seen as truth
  T x(*at);
  if constexpr (kIsComplex<T>) if (t.has_flag(kConj)) x = std::conj(x);
  if constexpr (!std::is_same_v<T, bool>) if (t.has_flag(kNeg)) x = T(-x);
  return must(number_object(x));
}
// The numbers of axes `d` and following from `at` on.
template <class Stored> PyObject* lists_from(const Tensor& t, const Stored* at, int d) {
  if (d == t.ndim()) return number_at(t, at);
  const int64_t n = t.sizes()[d], step = t.strides()[d];
  auto list = py::reinterpret_steal<py::object>(must(PyList_New(n)));
  const bool numbers = d + 1 == t.ndim();
  for (int64_t i = 0; i < n; i++, at += step) PyList_SET_ITEM(list.ptr(), i, numbers ? number_at(t, at) : lists_from(t, at, d + 1));
  return list.release().ptr();
}

}  // namespace

PyObject* lists_object(const Tensor& t) {
  check<NotImplemented>(!t.is_meta(), "Cannot copy out of meta tensor; no data!");
  return visit_any_dtype(t.dtype(), [&]<class Stored>(TypeTag<Stored>) { return lists_from(t, t.data<Stored>(), 0); });
}

// Truth is no number here, as in PyTorch. OverflowError where the number is too large.
bool to_int(PyObject* o, int64_t* out) {
  if (PyLong_CheckExact(o)) {
    *out = PyLong_AsLongLong(o);
    if (*out == -1 && PyErr_Occurred()) throw py::error_already_set();
    return true;
  }
  if (PyFloat_Check(o) || PyUnicode_Check(o) || PyBool_Check(o)) return false;
  if (is_tensor(o)) {
    const Tensor& t = unwrap(o);
    if (t.numel() != 1 || is_inexact(t.dtype()) || t.dtype() == DType::boolean) return false;
    return *out = graph::number_of(t).to_int(), true;
  }
  if (!PyIndex_Check(o)) return false;
  PyObject* i = PyNumber_Index(o);
  if (!i) throw py::error_already_set();
  *out = PyLong_AsLongLong(i);
  Py_DECREF(i);
  if (*out == -1 && PyErr_Occurred()) throw py::error_already_set();
  return true;
}

// The number of a parameter that takes one: ValueError where it is too large, as in PyTorch.
static bool to_one_int(PyObject* o, int64_t* out) {
  try {
    return to_int(o, out);
  } catch (const py::error_already_set& e) {
    if (!e.matches(PyExc_OverflowError)) throw;
  }
  throw ValueError("Overflow when unpacking long long");
}

bool is_complex_number(PyObject* o) {
  // NumPy's complex64 is no subclass of complex; its `__complex__` says little, real NumPy numbers have one too.
  return PyComplex_Check(o) || std::string_view(Py_TYPE(o)->tp_name) == "numpy.complex64";
}

bool is_number(PyObject* o) {
  if (PyFloat_Check(o) || PyLong_Check(o) || is_complex_number(o)) return true;
  return !is_tensor(o) && !PyUnicode_Check(o) && !PySequence_Check(o) && PyNumber_Check(o) &&
         (PyIndex_Check(o) || PyObject_HasAttrString(o, "__float__"));
}

bool to_double(PyObject* o, double* out) {
  if (PyFloat_Check(o)) return *out = PyFloat_AS_DOUBLE(o), true;
  if (is_tensor(o)) {
    if (unwrap(o).ndim() != 0 || unwrap(o).has_flag(kRequiresGrad)) return false;
    return *out = graph::number_of(unwrap(o)).to_double(), true;
  }
  if (!is_number(o) || is_complex_number(o)) return false;
  *out = PyFloat_AsDouble(o);
  if (*out == -1 && PyErr_Occurred()) throw py::error_already_set();
  return true;
}

// Is an int from 2^63 on? OverflowError from 2^64 on. Source: c10::Scalar, which holds whole numbers from 2^63 to 2^64 - 1 as uint64.
static bool is_large(PyObject* o, uint64_t* large) {
  int overflow;
  const int64_t i = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (i == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (overflow <= 0) return false;
  *large = PyLong_AsUnsignedLongLong(o);
  if (PyErr_Occurred()) throw py::error_already_set();
  return true;
}

bool to_scalar(PyObject* o, Scalar* out) {
  if (PyBool_Check(o)) return *out = Scalar(o == Py_True), true;
  if (PyFloat_Check(o)) return *out = Scalar(PyFloat_AS_DOUBLE(o)), true;
  if (is_tensor(o)) {
    if (unwrap(o).ndim() != 0) return false;
    return *out = graph::number_of(unwrap(o)), true;
  }
  if (is_complex_number(o)) {
    Py_complex c = PyComplex_AsCComplex(o);
    if (PyErr_Occurred()) throw py::error_already_set();
    return *out = Scalar(std::complex<double>(c.real, c.imag)), true;
  }
  if (uint64_t large; PyLong_Check(o) && is_large(o, &large)) return *out = Scalar::of_large(large), true;
  int64_t i;
  if (PyLong_Check(o) || PyIndex_Check(o)) return to_int(o, &i) && (*out = Scalar(i), true);
  double d;
  return is_number(o) && to_double(o, &d) && (*out = Scalar(d), true);
}

Tensor number_operand(PyObject* o) {
  if (!is_number(o)) return {};
  if (uint64_t large; PyLong_Check(o) && is_large(o, &large)) {
    Tensor t = empty(Meta({}, DType::uint64));
    *t.data<uint64_t>() = large;
    t->flags |= kWrappedNumber;
    return t;
  }
  Scalar s;
  return to_scalar(o, &s) ? wrapped_number(s) : Tensor();
}

void settle_large_numbers(const OpType& type, const void* op, std::span<Tensor> operands) {
  for (Tensor& large : operands) {
    if (!large || large.dtype() != DType::uint64 || !large.has_flag(kWrappedNumber)) [[likely]] continue;
    const Scalar value(double(*large.data<uint64_t>())), bits(int64_t(*large.data<uint64_t>()));
    auto settles = [](const Tensor& t) { return t && !t.has_flag(kWrappedNumber) && t.dtype() != DType::uint64; };
    auto beside = std::find_if(operands.begin(), operands.end(), [&](const Tensor& t) { return settles(t) && is_inexact(t.dtype()); });
    if (beside == operands.end()) beside = std::find_if(operands.begin(), operands.end(), settles);
    if (beside == operands.end()) continue;
    const DType t = beside->dtype();
    check(t != DType::boolean, "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote Bool and UInt64");
    large = wrapped_number(is_inexact(t) ? value : bits);
    if (is_inexact(t) || !type.infer) continue;
    Meta metas[kMaxOutputs];
    type.infer(op, operands, metas);
    if (is_inexact(metas[0].dtype)) large = wrapped_number(value);  // as of a quotient of whole numbers
  }
}

/// A number of a list, of which PyTorch looks only at the first whether it is one: True behind it counts as 1. So does truth in a tensor of one
/// element anywhere.
bool to_listed_int(PyObject* o, Py_ssize_t place, int64_t* out) {
  if (place > 0 && PyBool_Check(o)) return *out = o == Py_True, true;
  if (is_tensor(o) && unwrap(o).dtype() == DType::boolean && unwrap(o).numel() == 1) return *out = item(unwrap(o)).to_int(), true;
  try {
    return to_int(o, out);
  } catch (const py::error_already_set& e) {
    if (!e.matches(PyExc_OverflowError)) throw;
  }
  throw TypeError(str("element ", place, " of a list of integers is too large for 64 bits"));
}

bool to_dims(PyObject* o, Dims* out, bool accept_int) {
  out->n = 0;
  if (PyTuple_Check(o) || PyList_Check(o)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {  // by index: a number's own code may change the list
      int64_t x;
      if (!to_listed_int(PySequence_Fast_GET_ITEM(o, i), i, &x)) return false;
      out->push(x);
    }
    return true;
  }
  int64_t x;
  if (!accept_int) return false;
  // Truth in a tensor without axes is a number, and as such is no list: only a parser that was offered lists takes it.
  if (is_tensor(o) && unwrap(o).ndim() == 0 && unwrap(o).dtype() == DType::boolean) x = item(unwrap(o)).to_int();
  else if (!(is_tensor(o) ? to_int(o, &x) : to_one_int(o, &x))) return false;
  out->push(x);
  return true;
}

bool to_memory_format(PyObject* o, MemoryFormat* out) {
  if (!py::isinstance<MemoryFormat>(o)) return false;
  *out = py::cast<MemoryFormat>(py::handle(o));
  return true;
}

Generator* to_generator(PyObject* o) {
  return py::isinstance<Generator>(o) ? py::cast<Generator*>(py::handle(o)) : nullptr;
}

// The numbers lie in one of a few rows that each thread keeps: whoever reads them does so before it takes as many lists again.
static bool to_places(PyObject* o, Places* out) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  thread_local std::array<std::vector<int64_t>, 16> rows;
  thread_local size_t next = 0;
  std::vector<int64_t>& row = rows[next++ % rows.size()];
  row.clear();
  int64_t x;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {  // by index: a number's own code may change the list
    if (!to_listed_int(PySequence_Fast_GET_ITEM(o, i), i, &x)) return false;
    row.push_back(x);
  }
  return *out = Places(row.data(), int64_t(row.size())), true;
}

static bool to_floats(PyObject* o, Floats* out) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  double d;
  out->n = 0;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++) {
    PyObject* each = PySequence_Fast_GET_ITEM(o, i);
    if (is_tensor(each) || !to_double(each, &d)) return false;  // a list of tensors is another overload's
    out->push(d);
  }
  return true;
}

template <class T> static bool put(void* at, T value) { return *static_cast<T*>(at) = value, true; }

bool store_argument(PyObject* o, Ty ty, void* at) {
  const bool none = o == Py_None;
  int64_t i;
  double d;
  switch (ty) {
    case Ty::i64: return to_one_int(o, &i) && put(at, i);
    case Ty::opt_i64: return none ? put(at, std::optional<int64_t>()) : to_one_int(o, &i) && put(at, std::optional(i));
    case Ty::f64: return to_double(o, &d) && put(at, d);
    case Ty::opt_f64: return none ? put(at, std::optional<double>()) : to_double(o, &d) && put(at, std::optional(d));
    case Ty::boolean: return PyBool_Check(o) && put(at, o == Py_True);
    case Ty::opt_boolean:
      return none ? put(at, std::optional<bool>()) : PyBool_Check(o) && put(at, std::optional(o == Py_True));
    case Ty::number: return to_scalar(o, static_cast<Scalar*>(at));
    case Ty::opt_number: {
      Scalar s;
      return none ? put(at, std::optional<Scalar>()) : to_scalar(o, &s) && put(at, std::optional(s));
    }
    case Ty::ints: return to_dims(o, static_cast<Dims*>(at), true);
    case Ty::opt_ints: {
      Dims v;
      return none ? put(at, std::optional<Dims>()) : to_dims(o, &v, true) && put(at, std::optional(v));
    }
    case Ty::places: return to_places(o, static_cast<Places*>(at));
    case Ty::floats: return to_floats(o, static_cast<Floats*>(at));
    case Ty::opt_floats: {
      Floats v;
      return none ? put(at, std::optional<Floats>()) : to_floats(o, &v) && put(at, std::optional(v));
    }
    case Ty::str: return PyUnicode_Check(o) && put(at, Str(text_of(o)));
    case Ty::opt_str: return none ? put(at, std::optional<Str>()) : PyUnicode_Check(o) && put(at, std::optional(Str(text_of(o))));
    case Ty::dtype: return to_dtype(o, static_cast<DType*>(at));
    case Ty::opt_dtype: {
      DType t;
      return none ? put(at, std::optional<DType>()) : to_dtype(o, &t) && put(at, std::optional(t));
    }
    case Ty::opt_device: {
      Device v;
      return none ? put(at, std::optional<Device>()) : to_device(o, &v) && put(at, std::optional(v));
    }
    case Ty::opt_memory_format: {
      MemoryFormat f;
      return none ? put(at, std::optional<MemoryFormat>()) : to_memory_format(o, &f) && put(at, std::optional(f));
    }
    case Ty::generator: {
      if (none) return put<Generator*>(at, nullptr);
      Generator* g = to_generator(o);
      return g && put(at, g);
    }
    default: return false;
  }
}

bool has_length(std::string_view parameter) { return parameter == "kernel_size" || parameter == "output_size" || parameter == "bins"; }

// What says how many elements, or where they begin, may be a tensor of one element: PyTorch's schema calls it a symbolic integer, but that of
// a few ops calls it a plain one. Source: PyTorch's native_functions.yaml.
bool has_axes_beside(PyObject* o, Ty ty, std::string_view op, std::string_view parameter, std::string_view type) {
  constexpr std::string_view extents[] = {"C", "HxW", "N", "end", "groups", "high", "ignore_index", "index", "k", "length", "low", "m", "minlength", "num_samples",
                                          "output_size", "padding_idx", "size", "split_size", "step", "storage_offset"};
  constexpr std::string_view plain[] = {"embedding_bag", "istft", "rot90", "unfold", "unfold_copy", "vander"};
  if (!is_tensor(o) || unwrap(o).ndim() == 0 || type.starts_with("int | Tensor")) return false;
  // Lists of no length of their own, or one int.
  if (ty == Ty::ints || ty == Ty::opt_ints) return parameter == "source" || parameter == "destination" || type.starts_with("list[int] | int");
  if (ty != Ty::i64 && ty != Ty::opt_i64) return false;
  return !std::binary_search(std::begin(extents), std::end(extents), parameter) || std::binary_search(std::begin(plain), std::end(plain), op);
}

void init_types(py::module_& m) {
  py::class_<PyDType>(m, "dtype")
      .def("__repr__", [](PyDType t) { return "torch." + std::string(name_of(t)); })
      .def("__reduce__", [](PyDType t) { return std::string(name_of(t)); })
      .def("to_complex", [](PyDType t) { return py::reinterpret_steal<py::object>(made_of(t, complex_of)); })
      .def("to_real", [](PyDType t) { return py::reinterpret_steal<py::object>(made_of(t, real_of)); })
      .def_property_readonly("name", [](PyDType t) { return std::string(name_of(t)); })
      .def_property_readonly("itemsize", [](PyDType t) { return size_of(t.value); })
      .def_property_readonly("is_floating_point", [](PyDType t) { return t.absent ? named(t, "float") : is_floating(t.value); })
      .def_property_readonly("is_complex", [](PyDType t) { return is_complex(t.value); })
      .def_property_readonly("is_signed", [](PyDType t) {
        if (t.absent) return !named(t, "uint") && !named(t, "quint") && !named(t, "bit");
        return t.value != DType::boolean && !is_unsigned(t.value) && t.value != DType::float8_e8m0fnu;
      });
  m.def("_absent_dtype", [](const std::string& name) { return py::reinterpret_steal<py::object>(absent_dtype(name)); });
  for (int i = 0; i < kNumDTypes; i++) {
    dtypes[i] = py::cast(PyDType{DType(i)}).release().ptr();
    m.add_object(std::string(weir::name_of(DType(i))).c_str(), dtypes[i]);
  }
  py::class_<Device>(m, "device")
      .def(py::init([](const std::string& s) { return parse_device(s); }), py::arg("type"))
      .def(py::init([](const std::string& s, int index) {
             Device d = parse_device(s);
             d.index = int8_t(index);
             return d;
           }), py::arg("type"), py::arg("index"))
      .def(py::init([](const Device& d) { return d; }))
      .def(py::init([](int64_t index) -> Device {
             check(index >= 0, "Device index must not be negative, got ", index);
             throw Error("Cannot access accelerator device when none is available.");
           }), py::arg("index"))
      .def_property_readonly("type", [](const Device& d) { return std::string(name_of(d.type)); })
      .def_property_readonly("index", [](const Device& d) -> py::object { return d.index < 0 ? py::object(py::none()) : py::int_(int(d.index)); })
      .def("__eq__", [](const Device& d, py::object o) { return py::isinstance<Device>(o) && d == o.cast<Device>(); })
      .def("__hash__", [](const Device& d) { return int(d.type) * 256 + d.index; })
      .def("__reduce__", [](const Device& d) {
        py::tuple arguments = py::make_tuple(std::string(name_of(d.type)), int(d.index));
        if (d.index < 0) arguments = py::make_tuple(arguments[0]);
        return py::make_tuple(py::type::of<Device>(), arguments);
      })
      .def("__str__", [](const Device& d) { return std::string(name_of(d.type)) + (d.index < 0 ? "" : ":" + std::to_string(d.index)); })
      .def("__repr__", [](const Device& d) {
        return "device(type='" + std::string(name_of(d.type)) + "'" + (d.index < 0 ? "" : ", index=" + std::to_string(d.index)) + ")";
      });
  py::enum_<MemoryFormat> formats(m, "memory_format");
  formats
      .value("contiguous_format", MemoryFormat::contiguous)
      .value("preserve_format", MemoryFormat::preserve)
      .value("channels_last", MemoryFormat::channels_last)
      .value("channels_last_3d", MemoryFormat::channels_last_3d)
      .export_values();
  for (const char* text : {"__repr__", "__str__"})
    formats.attr(text) = py::cpp_function([](const py::object& f) { return "torch." + py::cast<std::string>(f.attr("name")); }, py::name(text),
                                          py::is_method(formats));
}

}  // namespace weir
