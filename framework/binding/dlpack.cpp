// DLPack both ways: tensors of other frameworks over the same memory.
//
// The structs are the protocol's ABI, as its specification gives them. Source: https://dmlc.github.io/dlpack/latest/c_api.html
#include "framework/binding/construct.h"

namespace py = pybind11;

namespace weir {
namespace {

constexpr int32_t kCpu = 1;
constexpr uint64_t kReadOnly = 1;
constexpr const char *kPlain = "dltensor", *kVersioned = "dltensor_versioned";
enum Code : uint8_t {
  kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6,
  kFloat8E4M3Fn = 10, kFloat8E4M3Fnuz = 11, kFloat8E5M2 = 12, kFloat8E5M2Fnuz = 13, kFloat8E8M0Fnu = 14
};

struct DLDevice { int32_t type, id; };
struct DLDataType { uint8_t code, bits; uint16_t lanes; };
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;
  DLTensor tensor;
};

DLDataType described(DType t) {
  uint8_t bits = uint8_t(size_of(t) * 8);
  constexpr Code small[] = {kFloat8E5M2, kFloat8E4M3Fn, kFloat8E5M2Fnuz, kFloat8E4M3Fnuz, kFloat8E8M0Fnu};
  Code code = t == DType::boolean ? kBool : is_unsigned(t) ? kUInt : is_integral(t) ? kInt : t == DType::bfloat16 ? kBfloat
              : is_float8(t) ? small[int(t) - int(DType::float8_e5m2)] : is_complex(t) ? kComplex : kFloat;
  return {uint8_t(code), bits, 1};
}

DType dtype_of(const DLDataType& d) {
  for (int i = 0; i < kNumDTypes; i++) {
    DLDataType have = described(DType(i));
    if (have.code == d.code && have.bits == d.bits && d.lanes == 1) return DType(i);
  }
  throw Error(str("from_dlpack: no dtype for type code ", int(d.code), ", ", int(d.bits), " bits, ", d.lanes, " lanes"));
}

// What an exported capsule points into: the tensor keeps the memory, the arrays keep the geometry.
struct Exported {
  Tensor tensor;
  Dims sizes, strides;
  DLManagedTensor managed{};
  DLManagedTensorVersioned versioned{};
};

void fill(Exported& e, DLTensor& d) {
  d = {e.tensor.numel() ? e.tensor.raw() : nullptr, {kCpu, 0}, e.sizes.n, described(e.tensor.dtype()), e.sizes.v, e.strides.v, 0};
}

template <class Managed> py::capsule exported(Exported* e, Managed& managed, const char* name) {
  fill(*e, managed.tensor);
  managed.context = e;
  managed.deleter = [](Managed* m) { delete static_cast<Exported*>(m->context); };
  return py::capsule(&managed, name, [](PyObject* capsule) {
    const char* name = PyCapsule_GetName(capsule);
    if (std::string_view(name).starts_with("used_")) return;  // its consumer owns the tensor
    auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    m->deleter(m);
  });
}

py::capsule to_dlpack(const Tensor& t, bool versioned) {
  check(!(t->flags & kTurned), "__dlpack__: expected a tensor without the conjugate or negative bit, whose bytes are its numbers: resolve_conj(), resolve_neg()");
  check(t.device().type == DeviceType::cpu, "__dlpack__: expected a tensor on the CPU, got ", name_of(t.device().type));
  keep_in_place(t);
  auto* e = new Exported{alias(t, t.sizes(), t.strides(), t->offset), t.sizes(), t.strides()};
  e->versioned.major = 1;
  return versioned ? exported(e, e->versioned, kVersioned) : exported(e, e->managed, kPlain);
}

// A tensor over the memory `d` describes; `release(context)` when the last of them goes.
Tensor imported(const DLTensor& d, void (*release)(void*), void* context) {
  check(d.device.type == kCpu, "from_dlpack: expected memory of the CPU, got device type ", d.device.type);
  check(d.ndim >= 0 && d.ndim <= kMaxDims, "from_dlpack: ", d.ndim, " dimensions, tensors have at most ", kMaxDims);
  DType t = dtype_of(d.dtype);
  Dims sizes, strides;
  for (int i = 0; i < d.ndim; i++) sizes.push(d.shape[i]);
  if (d.strides)
    for (int i = 0; i < d.ndim; i++) strides.push(d.strides[i]);
  else strides = contiguous_strides(sizes);
  for (int64_t s : strides) check(s >= 0 || numel_of(sizes) == 0, "from_dlpack: negative strides are not supported, got ", strides);
  int64_t reach = numel_of(sizes) ? checked_add(extent(sizes, strides).high, 1) : 0;
  auto* start = static_cast<std::byte*>(d.data) + d.byte_offset;
  size_t bytes = size_t(checked_mul(reach, int64_t(size_of(t))));
  return over_foreign(start, bytes, t, sizes, strides, release, context);
}

template <class Managed> Tensor consume(PyObject* capsule, const char* name, const char* used) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if constexpr (requires { managed->flags; }) {
    check(managed->major == 1, "from_dlpack: version ", managed->major, " of the protocol, expected 1");
    check(!(managed->flags & kReadOnly), "from_dlpack: the memory is read-only; copy it first");
  }
  Tensor t = imported(managed->tensor, [](void* p) {
    py::gil_scoped_acquire gil;
    auto* m = static_cast<Managed*>(p);
    if (m->deleter) m->deleter(m);
  }, managed);
  PyCapsule_SetName(capsule, used);  // ours from now on: a second consumer is refused
  warn_of_copy(t);
  return t;
}

Tensor from_capsule(py::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned)) return consume<DLManagedTensorVersioned>(capsule.ptr(), kVersioned, "used_dltensor_versioned");
  check(PyCapsule_IsValid(capsule.ptr(), kPlain), "from_dlpack: expected a capsule named dltensor; a capsule can be consumed only once");
  return consume<DLManagedTensor>(capsule.ptr(), kPlain, "used_dltensor");
}

}  // namespace

Tensor from_exporter(py::handle o) {
  const int kind = py::int_(py::tuple(o.attr("__dlpack_device__")())[0]);
  check(kind == kCpu, "from_dlpack: expected memory of the CPU, got device type ", kind);
  try {
    return from_capsule(o.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0)));
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  return from_capsule(o.attr("__dlpack__")());  // from before versions were part of the protocol
}

void init_dlpack(py::module_& m) {
  m.def("_to_dlpack", &to_dlpack, py::arg("tensor"), py::arg("versioned"));
  m.def("_from_exporter", &from_exporter);
  m.def("_from_capsule", &from_capsule);
}

}  // namespace weir
