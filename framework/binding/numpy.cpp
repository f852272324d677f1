// NumPy arrays and tensors over the same memory. NumPy itself is imported by the first of these calls.
#include <pybind11/numpy.h>

#include "framework/autograd/variable.h"
#include "framework/binding/construct.h"
#include "framework/core/released.h"
#include "framework/core/warn.h"

namespace py = pybind11;

namespace weir {
namespace {

/// What NumPy calls a dtype: the kind of number and its own number for the type, -1 for those that it lacks.
struct Type {
  char kind;
  int number;
};
constexpr Type kTypes[kNumDTypes] = {{'b', 0}, {'u', 2}, {'i', 1}, {'i', 3}, {'i', 5}, {'i', 7}, {'u', 4}, {'u', 6}, {'u', 8},
    {'V', -1}, {'V', -1}, {'V', -1}, {'V', -1}, {'V', -1}, {'f', 23}, {'V', -1}, {'f', 11}, {'f', 12}, {'V', -1}, {'c', 14}, {'c', 15}};

DType dtype_of(const py::array& array) {
  py::dtype given = array.dtype();
  check<ValueError>(given.byteorder() != '>', "given numpy array has byte order different from the native byte order. Conversion "
                    "between byte orders is currently not supported.");
  for (int i = 0; i < kNumDTypes; i++)
    if (kTypes[i].kind == given.kind() && size_of(DType(i)) == size_t(given.itemsize()) && kTypes[i].number >= 0)
      return DType(i);
  throw TypeError(str("can't convert np.ndarray of type ", std::string(py::str(given)), ". The only supported types are: float64, "
                      "float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."));
}

}  // namespace

void keep_in_place(const Tensor& t) { keep_in_place(*t->storage); }

Tensor from_numpy(py::handle given) {
  check<TypeError>(py::isinstance<py::array>(given), "expected np.ndarray (got ", Py_TYPE(given.ptr())->tp_name, ")");
  auto array = py::reinterpret_borrow<py::array>(given);
  DType t = dtype_of(array);
  int64_t item = int64_t(size_of(t)), reach = 1;
  Dims sizes, strides;
  for (py::ssize_t i = 0; i < array.ndim(); i++) {
    int64_t n = array.shape(i), s = array.strides(i);
    check<ValueError>(s >= 0, "At least one stride in the given numpy array is negative, and tensors with negative strides are "
                      "not currently supported. (You can probably work around this by making a copy of your array with array.copy().) ");
    check<ValueError>(s % item == 0, "given numpy array strides not a multiple of the element byte size.");
    sizes.push(n), strides.push(s / item);
    if (array.size()) reach = checked_add(reach, checked_mul(n - 1, s / item));
  }
  auto release = [](void* o) {
    py::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(o));
  };
  size_t bytes = array.size() ? size_t(reach * item) : 0;
  void* memory = const_cast<void*>(array.data());
  return over_foreign(memory, bytes, t, sizes, strides, release, array.release().ptr());
}

namespace {

// PyTorch's word, for which programs look in messages.
std::string word_for(DType t) {
  if (t == DType::bfloat16) return "BFloat16";
  return t == DType::complex32 ? "ComplexHalf" : "F" + std::string(name_of(t).substr(1));  // Float8_e5m2
}

py::object numpy(const Tensor& t, bool force) {
  check(force || !mode.grad || !requires_grad(t), "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
  check<TypeError>(t.device().type == DeviceType::cpu, "can't convert ", name_of(t.device().type), " device type tensor to numpy.");
  int number = kTypes[int(t.dtype())].number;
  check<TypeError>(number >= 0, "Got unsupported ScalarType ", word_for(t.dtype()));
  std::vector<py::ssize_t> shape(t.ndim()), strides(t.ndim());
  // Where nothing is read along an axis, its stride may be beyond what bytes can count: there it may be any. Of no elements they are 0, as
  // NumPy makes them where it is given no address, which is what PyTorch gives it.
  const uint64_t item = t.numel() ? size_of(t.dtype()) : 0;
  for (int i = 0; i < t.ndim(); i++) shape[i] = t.sizes()[i], strides[i] = py::ssize_t(uint64_t(t.strides()[i]) * item);
  py::object owner = py::cast(detach(t));
  return py::array(py::dtype(number), std::move(shape), std::move(strides), t.raw(), owner);
}

}  // namespace

void init_numpy(py::module_& m) {
  m.def("from_numpy", [](py::handle array) {
    Tensor t = from_numpy(array);
    if (!py::reinterpret_borrow<py::array>(array).writeable())
      warn_once("The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this tensor will result in "
                "undefined behavior. You may want to copy the array to protect its data or make it writable before converting it to a tensor. This type of "
                "warning will be suppressed for the rest of this program.");
    warn_of_copy(t);
    return t;
  }, "A tensor over the array's memory, without a copy but where it is not aligned. TypeError for dtypes weir does not have.");
  m.def("_numpy", &numpy, "An array over a tensor's memory, for as long as the memory stays where it is.");
  m.def("_keep_in_place", [](const Tensor& t) { keep_in_place(t); }, "From now on a tensor's memory cannot grow, since others have its address.");
}

}  // namespace weir
