#include "framework/binding/indexing.h"

#include "framework/binding/construct.h"
#include "framework/binding/op_function.h"
#include "framework/binding/rules.h"
#include "framework/core/warn.h"
#include "framework/graph/trace.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/index_put.h"
#include "framework/ops/view.h"

namespace py = pybind11;

namespace weir {
using namespace fn;

namespace {

bool is_int(PyObject* o) { return !is_numpy_array(o) && ((PyLong_Check(o) && !PyBool_Check(o)) || (!is_tensor(o) && !PyBool_Check(o) && PyIndex_Check(o))); }

// Lists and arrays index like the tensors they describe.
Tensor as_tensor(PyObject* o) {
  Tensor r = construct(o, std::nullopt);
  // Source: PyTorch, which reads a list as whole numbers. An array has its own dtype.
  return r.numel() == 0 || (is_floating(r.dtype()) && !is_numpy_array(o)) ? cast_to(r, DType::int64) : r;
}

// A short list with a sequence, slice, None, Ellipsis or tensor in it means the tuple of its items.
// Source: treatSequenceAsTuple in PyTorch's python_variable_indexing.cpp, after old NumPy.
bool means_tuple(PyObject* key) {
  if (!PySequence_Check(key) || PyTuple_Check(key) || is_tensor(key) || is_numpy_array(key) || PyUnicode_Check(key)) return false;
  Py_ssize_t n = PySequence_Length(key);
  if (n < 0) throw py::error_already_set();
  if (n >= 32) return false;
  for (Py_ssize_t i = 0; i < n; i++) {
    auto o = py::reinterpret_steal<py::object>(must(PySequence_GetItem(key, i)));
    if (is_tensor(o.ptr()) || PySequence_Check(o.ptr()) || PySlice_Check(o.ptr()) || o.ptr() == Py_None || o.ptr() == Py_Ellipsis) return true;
  }
  return false;
}

int specified(PyObject* const* items, Py_ssize_t n) {
  int count = 0;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* o = items[i];
    if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) continue;
    bool mask = is_tensor(o) && (unwrap(o).dtype() == DType::boolean || unwrap(o).dtype() == DType::uint8);
    count += mask ? unwrap(o).ndim() : 1;
  }
  return count;
}

int64_t step_of(PyObject* s, Py_ssize_t* start, Py_ssize_t* stop) {
  Py_ssize_t step;
  if (PySlice_Unpack(s, start, stop, &step) < 0) throw py::error_already_set();
  check<ValueError>(step > 0, "step must be greater than zero");
  return step;
}

Tensor take_slice(const Tensor& x, int64_t dim, PyObject* s) {
  Py_ssize_t start, stop;
  const int64_t step = step_of(s, &start, &stop);
  if (start == 0 && step == 1 && stop >= x.size(dim)) return x;
  return slice(x, dim, int64_t(start), int64_t(stop), step);
}

struct Indexed {
  Tensor view;
  Tensors advanced;  // by axis of view; empty when indexing was basic
};

// Applies ints, slices, None and Ellipsis as views; collects tensors for advanced indexing.
Indexed apply(const Tensor& x, PyObject* key) {
  py::object tuple;
  if (means_tuple(key)) {
    warn("Using a non-tuple sequence for multidimensional indexing is deprecated: x[tuple(seq)] in place of x[seq].");
    tuple = py::reinterpret_steal<py::object>(must(PySequence_Tuple(key)));
    key = tuple.ptr();
  }
  PyObject* const* items = &key;
  Py_ssize_t n = 1;
  if (PyTuple_Check(key)) {
    items = &PyTuple_GET_ITEM(key, 0);
    n = PyTuple_GET_SIZE(key);
  }
  int named = specified(items, n);
  if (Py_ssize_t start, stop; n == 1 && named > x.ndim() && PySlice_Check(items[0])) step_of(items[0], &start, &stop);  // its own error comes first
  if (x.ndim() == 0 && n == 1) {
    check<IndexError>(!is_int(items[0]), "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    check<IndexError>(!PySlice_Check(items[0]), "slice() cannot be applied to a 0-dim tensor.");
  }
  check<IndexError>(named <= x.ndim(), "too many indices for tensor of dimension ", x.ndim());
  Indexed r{x, {}};
  int64_t dim = 0, taken = 0;  // of the view; axes of x that integers took
  bool any = false;
  auto push = [&](const Tensor& t) {
    r.advanced.resize(dim);
    r.advanced.push_back(t);
    any = true;
    dim++;
  };
  // Source: PyTorch's boolToIndexingTensor: one truth is an index of a new axis, and no mask.
  auto push_truth = [&](bool truth) {
    r.view = unsqueeze(r.view, dim);
    push(full_of(Meta(Dims{truth ? 1 : 0}, DType::int64), Scalar(int64_t(0))));
  };
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* o = items[i];
    if (is_int(o)) {
      int64_t k;
      check<IndexError>(store_argument(o, Ty::i64, &k), "an index must be an integer, got ", Py_TYPE(o)->tp_name);
      int64_t size = r.view.ndim() ? r.view.size(dim) : 0;
      check<IndexError>(k >= -size && k < size, "index ", k, " is out of bounds for dimension ", dim + taken++, " with size ", size);
      r.view = select(r.view, dim, k);
    } else if (PySlice_Check(o)) {
      r.view = take_slice(r.view, dim++, o);
    } else if (o == Py_None) {
      r.view = unsqueeze(r.view, dim++);
    } else if (o == Py_Ellipsis) {
      dim += x.ndim() - named;
    } else if (PyBool_Check(o)) {
      push_truth(o == Py_True);
    } else if (is_tensor(o) && unwrap(o).ndim() == 0 && !unwrap(o).is_batched() && !is_inexact(unwrap(o).dtype()) && unwrap(o).dtype() != DType::boolean && unwrap(o).dtype() != DType::uint8) {
      r.view = select(r.view, dim, graph::number_of(unwrap(o)).to_int());
    } else if (is_tensor(o) || is_numpy_array(o) || (PySequence_Check(o) && !PyUnicode_Check(o))) {
      Tensor t = is_tensor(o) ? unwrap(o) : as_tensor(o);
      bool mask = t.dtype() == DType::boolean || t.dtype() == DType::uint8;
      if (mask && t.ndim() == 0 && !t.is_batched()) {
        push_truth(!graph::number_of(t).is_zero());
        continue;
      }
      if (mask && t.ndim() == 0) r.view = unsqueeze(r.view, dim), t = reshape(t, Dims{1});
      int covers = mask ? t.ndim() : 1;
      push(t);
      dim += covers - 1;
    } else {
      throw IndexError(str("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ", Py_TYPE(o)->tp_name, ")"));
    }
  }
  if (!any) r.advanced.clear();
  return r;
}

// A mask over several axes stands once in `advanced` while its further axes are skipped: index() counts axes itself.
Tensors by_axis(const Indexed& r) {
  Tensors out;
  for (size_t i = 0; i < r.advanced.size(); i++) {
    out.push_back(r.advanced[i]);
    const Tensor& t = r.advanced[i];
    if (t && (t.dtype() == DType::boolean || t.dtype() == DType::uint8)) i += t.ndim() - 1;
  }
  return out;
}

}  // namespace

// Source: PyTorch's valueToTensor, which makes a tensor of the dtype of a number before it looks at the index. Halves take numbers beyond
// their largest as infinite.
static Tensor assigned(PyObject* value, DType t) {
  if (int64_t whole; PyLong_Check(value) && !PyBool_Check(value)) store_argument(value, Ty::i64, &whole);  // ValueError beyond 64 bits
  Tensor v = operand(value);
  if (!v || !v.has_flag(kWrappedNumber)) return v;
  check_written(item(v), is_reduced(t) ? DType::float64 : t);
  return is_complex(v.dtype()) && !is_complex(t) ? full_of(Meta(Dims{}, t), t == DType::boolean ? item(v) : Scalar(item(v).d)) : v;
}

PyObject* get_item(PyObject* self, PyObject* key) {
  if (PyObject* answer; tensors_have_rules && tensors_answer("__getitem__", self, &key, 1, nullptr, &answer)) return answer;
  return guarded([&] {
    const Tensor& x = unwrap(self);
    Indexed r = apply(x, key);
    if (!r.advanced.empty()) return wrap(index(r.view, by_axis(r)));
    if (r.view == x) return wrap(expand(x, x.sizes()));  // another tensor, with all its strides
    return wrap(r.view);
  });
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
  PyObject* const given[] = {key, value};
  if (PyObject* answer; tensors_have_rules && value && tensors_answer("__setitem__", self, given, 2, nullptr, &answer)) {
    Py_XDECREF(answer);
    return answer ? 0 : -1;
  }
  PyObject* done = guarded([&]() -> PyObject* {
    check<TypeError>(value, "Tensor does not support deleting items");
    const Tensor& x = unwrap(self);
    // The value is looked at before the index; of NumPy's, PyTorch takes what is a Python number too, and integers.
    const std::string_view type = Py_TYPE(value)->tp_name;
    check<TypeError>(type != "numpy.ndarray" && !type.starts_with("numpy.bool") && (!type.starts_with("numpy.float") || PyFloat_Check(value)), "can't assign a ", type, " to a torch.",
                     name_of(x.dtype()), " tensor");
    Tensor v = assigned(value, x.dtype());
    check<TypeError>(v.defined(), "can't assign a ", Py_TYPE(value)->tp_name, " to a torch.", name_of(x.dtype()), " tensor");
    if (key == Py_False) return Py_NewRef(Py_None);  // without a look at the value's shape, as in PyTorch
    Indexed r = apply(x, key == Py_True ? Py_None : key);
    // Leading axes of size 1 in the value are dropped, as NumPy and PyTorch do.
    auto without_ones = [&](int least) {
      while (v.ndim() > least && v.size(0) == 1) v = squeeze(v, std::optional<Dims>(Dims{0}));
    };
    if (!r.advanced.empty()) {
      without_ones(0);
      warn_of_repeats(r.view);
      index_put(r.view, by_axis(r), v.has_flag(kWrappedNumber) ? cast_to(v, x.dtype()) : v, false);
    } else {
      without_ones(r.view.ndim());
      check_no_repeats(r.view);
      if (v->storage == r.view->storage && !(v.sizes() == r.view.sizes())) v = grad_ops.clone(v);  // elements that are spread over themselves
      if (v.has_flag(kWrappedNumber) && is_reduced(x.dtype())) v = cast_to(v, x.dtype());  // beyond a half it is infinite here, as in PyTorch
      if (v.ndim() == 0) fill_into(r.view, v);
      else copy_into(r.view, v);
    }
    return Py_NewRef(Py_None);
  });
  if (!done) return -1;
  Py_DECREF(done);
  return 0;
}

}  // namespace weir
