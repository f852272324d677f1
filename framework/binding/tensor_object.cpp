#include "framework/binding/tensor_object.h"

#include <cstddef>

#include "framework/autograd/engine.h"
#include "framework/binding/autograd.h"
#include "framework/binding/construct.h"
#include "framework/binding/indexing.h"
#include "framework/binding/op_function.h"
#include "framework/binding/operators.h"
#include "framework/binding/rules.h"
#include "framework/binding/to.h"
#include "framework/core/warn.h"
#include "framework/graph/trace.h"
#include "framework/op/copy.h"
#include "framework/ops/create.h"
#include "framework/ops/linalg.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/resize.h"
#include "framework/ops/view.h"

namespace py = pybind11;

namespace weir {

PyTypeObject TensorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

constexpr int kKept = 128;
PyTensor* kept[kKept];
int num_kept = 0;

PyTensor* as(PyObject* o) { return reinterpret_cast<PyTensor*>(o); }

void attach(PyTensor* self, const Tensor& t) {
  new (&self->tensor) Tensor(t);
  self->dict = nullptr;
  self->weakrefs = nullptr;
  t->py = self;
}

// Python let go of `o`, but the tensor lives on in C++: an object with attributes, or of a class of its own, is kept for when
// the tensor comes back. A weak reference to it is dead all the same.
bool keep_for_return(PyObject* o) {
  PyTensor* self = as(o);
  bool special = (self->dict && PyDict_GET_SIZE(self->dict) > 0) || Py_TYPE(o) != &TensorType;
  if (!special || !self->tensor || self->tensor->refs.load() < 2) return false;
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  Py_SET_REFCNT(o, 1);
  if (Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_INCREF(Py_TYPE(o));  // subtype_dealloc gives up the object's share of its class
  self->tensor->owns_py = true;
  Tensor last = std::exchange(self->tensor, Tensor());  // may be the last reference after all, and then frees `o`
  return true;
}

void release_kept(void* o) {
  py::gil_scoped_acquire gil;
  Py_DECREF(static_cast<PyObject*>(o));
}

void dealloc(PyObject* o) {
  PyTensor* self = as(o);
  if (keep_for_return(o)) return;
  if (self->weakrefs) PyObject_ClearWeakRefs(o);
  Py_CLEAR(self->dict);
  if (self->tensor) self->tensor->py = nullptr;
  self->tensor.~Tensor();
  if (Py_TYPE(o) == &TensorType && num_kept < kKept) {
    kept[num_kept++] = self;
    return;
  }
  Py_TYPE(o)->tp_free(o);
}

Py_ssize_t length(PyObject* o) {
  if (unwrap(o).ndim() == 0) return PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor"), -1;
  return unwrap(o).sizes()[0];
}

// ---- attributes -----------------------------------------------------------------------------------------------
using Getter = PyObject* (*)(const Tensor&);
template <Getter kGet> PyObject* get(PyObject* o, void*) {
  return guarded([&] { return kGet(unwrap(o)); });
}
PyObject* get_shape(const Tensor& t) { return size_object(t.sizes()); }
PyObject* get_dtype(const Tensor& t) { return Py_NewRef(dtype_object(t.dtype())); }
PyObject* get_device(const Tensor& t) { return device_object(t.device()); }
PyObject* get_ndim(const Tensor& t) { return PyLong_FromLong(t.ndim()); }
PyObject* get_requires_grad(const Tensor& t) { return PyBool_FromLong(requires_grad(t)); }
PyObject* get_is_leaf(const Tensor& t) { return PyBool_FromLong(is_leaf(t)); }
PyObject* get_retains_grad(const Tensor& t) {
  Variable* v = variable_or_null(t);
  return PyBool_FromLong(v && v->retained);
}
PyObject* get_grad(const Tensor& t) { return wrap(grad_of(t)); }
PyObject* get_grad_of_leaf(const Tensor& t) {
  if (Variable* v = variable_or_null(t); !is_leaf(t) && !(v && v->retained) && !grad_of(t))
    warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during autograd.backward(). "
         "If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf "
         "Tensor by mistake, make sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more informations.");
  return get_grad(t);
}
PyObject* get_data(const Tensor& t) {
  Tensor d = detach(t);
  d->own_writes = Ref(new WriteCount);
  return wrap(d);
}
// The engine knows no other than the tensor's own.
PyObject* get_grad_dtype(const Tensor& t) {
  check(is_leaf(t), "grad_dtype can only be accessed on leaf tensors.");
  return get_dtype(t);
}
int set_grad_dtype(PyObject* o, PyObject* value, void*) {
  try {
    DType t;
    check(is_leaf(unwrap(o)), "grad_dtype can only be set on leaf tensors.");
    check(value && (value == Py_None || to_dtype(value, &t)), "grad_dtype must be a torch.dtype or None, but got ", value ? Py_TYPE(value)->tp_name : "nothing");
    check<NotImplemented>(value != Py_None && t == unwrap(o).dtype(), "grad_dtype: gradients of another dtype than the tensor's are not implemented");
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}
PyObject* get_grad_fn(const Tensor& t) {
  NodeRef fn = grad_fn(t);
  return fn ? node_object(fn).release().ptr() : Py_NewRef(Py_None);
}
PyObject* get_output_nr(const Tensor& t) {
  Variable* v = variable_or_null(t);
  return PyLong_FromLong(v ? v->output_nr : 0);
}
PyObject* get_version(const Tensor& t) {
  check(!t.has_flag(kInference), "Inference tensors do not track version counter.");
  return PyLong_FromUnsignedLong(t.version());
}
PyObject* get_cdata(const Tensor& t) { return PyLong_FromVoidPtr(t.get()); }
PyObject* get_base(const Tensor& t) { return t.is_view() ? wrap(Tensor(t->base)) : Py_NewRef(Py_None); }

int set_requires_grad_attr(PyObject* o, PyObject* value, void*) {
  try {
    check(value, "cannot delete requires_grad");
    check<TypeError>(PyBool_Check(value), "requires_grad must be a bool, got ", Py_TYPE(value)->tp_name);
    set_requires_grad(unwrap(o), value == Py_True);
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}
int set_grad(PyObject* o, PyObject* value, void*) {
  const Tensor& t = unwrap(o);
  Variable& v = variable(t);
  if (!value || value == Py_None) {
    v.grad = Tensor();
    if (v.retained) *v.retained = Tensor();
    return 0;
  }
  if (!is_tensor(value)) return PyErr_SetString(PyExc_TypeError, "assigned grad expected to be a Tensor or None"), -1;
  if (value == o) return PyErr_SetString(PyExc_RuntimeError, "can't assign Variable as its own grad"), -1;
  if (!(unwrap(value).sizes() == t.sizes()))
    return PyErr_SetString(PyExc_RuntimeError, "assigned grad has data of a different size"), -1;
  if (unwrap(value).dtype() != t.dtype())
    return PyErr_SetString(PyExc_RuntimeError, "assigned grad has data of a different type"), -1;
  v.grad = unwrap(value);
  return 0;
}
// x.data = y: x shows y's memory from now on and keeps its place in autograd.
int set_data(PyObject* o, PyObject* value, void*) {
  if (!value) return PyErr_SetString(PyExc_RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!"), -1;
  if (!is_tensor(value)) return PyErr_SetString(PyExc_TypeError, "data must be a Tensor"), -1;
  const Tensor &t = unwrap(o), &v = unwrap(value);
  if (requires_grad(t) && !is_inexact(v.dtype()))
    return PyErr_SetString(PyExc_RuntimeError, "data set to a tensor that requires gradients must be floating point or complex dtype"), -1;
  t->dtype = v.dtype();
  t->storage = v->storage;
  t->flags = (t->flags & ~kMarks) | (v->flags & kMarks);
  set_geometry(t, v.sizes(), v.strides(), v->offset);
  return 0;
}

PyGetSetDef getset[] = {
    {"shape", get<get_shape>, nullptr, "Sizes, as a Size.", nullptr},
    {"dtype", get<get_dtype>, nullptr, nullptr, nullptr},
    {"device", get<get_device>, nullptr, nullptr, nullptr},
    {"ndim", get<get_ndim>, nullptr, nullptr, nullptr},
    {"requires_grad", get<get_requires_grad>, set_requires_grad_attr, nullptr, nullptr},
    {"is_leaf", get<get_is_leaf>, nullptr, nullptr, nullptr},
    {"_cdata", get<get_cdata>, nullptr, "Identity of the tensor, whatever Python object stands for it.", nullptr},
    {"retains_grad", get<get_retains_grad>, nullptr, nullptr, nullptr},
    {"grad", get<get_grad_of_leaf>, set_grad, nullptr, nullptr},
    {"_grad", get<get_grad>, set_grad, "grad, by the name that gives no warning.", nullptr},
    {"grad_dtype", get<get_grad_dtype>, set_grad_dtype, nullptr, nullptr},
    {"data", get<get_data>, set_data, nullptr, nullptr},
    {"grad_fn", get<get_grad_fn>, nullptr, nullptr, nullptr},
    {"output_nr", get<get_output_nr>, nullptr, nullptr, nullptr},
    {"_version", get<get_version>, nullptr, nullptr, nullptr},
    {"_base", get<get_base>, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {}};

// ---- methods that are not ops ----------------------------------------------------------------------------------
// The one argument of `name`, by position or by name; null when it is not given.
PyObject* dim_argument(const char* name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  check<TypeError>(n + named <= 1, name, "() takes at most 1 argument, got ", n + named);
  if (!named) return n ? args[0] : nullptr;
  PyObject* key = PyTuple_GET_ITEM(kwnames, 0);
  bool known = PyUnicode_CompareWithASCIIString(key, "dim") == 0 || PyUnicode_CompareWithASCIIString(key, "axis") == 0;
  check<TypeError>(known, name, "() got an unexpected keyword argument '", text_of(key), "'");
  return args[0];
}
PyObject* sizes_or_one(const char* name, PyObject* o, PyObject* dim, bool strides) {
  const Tensor& t = unwrap(o);
  if (dim && dim != Py_None) {
    int64_t d;
    check<TypeError>(!has_axes_beside(dim, Ty::i64, name, "dim") && store_argument(dim, Ty::i64, &d), name, "(): argument 'dim' must be int, not ",
                     Py_TYPE(dim)->tp_name);
    check<IndexError>(t.ndim() > 0, "Dimension specified as ", d, " but tensor has no dimensions");
    return PyLong_FromLongLong((strides ? t.strides() : t.sizes())[wrap_dim(d, t.ndim(), name)]);
  }
  return strides ? ints_object(t.strides()).release().ptr() : size_object(t.sizes());
}
PyObject* m_size(PyObject* o, PyObject* const* a, Py_ssize_t n, PyObject* names) {
  return guarded([&] { return sizes_or_one("size", o, dim_argument("size", a, n, names), false); });
}
PyObject* m_stride(PyObject* o, PyObject* const* a, Py_ssize_t n, PyObject* names) {
  return guarded([&] { return sizes_or_one("stride", o, dim_argument("stride", a, n, names), true); });
}
PyObject* m_dim(PyObject* o, PyObject*) { return PyLong_FromLong(unwrap(o).ndim()); }
PyObject* m_numel(PyObject* o, PyObject*) { return PyLong_FromLongLong(unwrap(o).numel()); }
PyObject* m_is_inference(PyObject* o, PyObject*) { return PyBool_FromLong(unwrap(o).has_flag(kInference)); }
PyObject* m_item(PyObject* o, PyObject*) {
  return guarded([&] { return item_object(unwrap(o)); });
}
PyObject* m_tolist(PyObject* o, PyObject*) {
  return guarded([&] { return lists_object(unwrap(o)); });
}
PyObject* m_storage_offset(PyObject* o, PyObject*) {
  return guarded([&] {
    graph::check_place_is_known(unwrap(o), "storage_offset() is asked of");
    return PyLong_FromLongLong(unwrap(o)->offset);
  });
}
PyObject* m_element_size(PyObject* o, PyObject*) { return PyLong_FromSize_t(size_of(unwrap(o).dtype())); }
PyObject* m_data_ptr(PyObject* o, PyObject*) {
  return guarded([&] { return PyLong_FromVoidPtr(unwrap(o).numel() ? unwrap(o).raw() : nullptr); });
}
MemoryFormat format_argument(const char* name, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  check<TypeError>(n == 0, name, "() takes 0 positional arguments but ", n, " ", n == 1 ? "was" : "were", " given");
  MemoryFormat format = MemoryFormat::contiguous;
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); i++) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    check<TypeError>(PyUnicode_CompareWithASCIIString(key, "memory_format") == 0, name, "() got an unexpected keyword argument '", text_of(key), "'");
    check<TypeError>(to_memory_format(args[i], &format), name, "(): argument 'memory_format' must be torch.memory_format, not ", Py_TYPE(args[i])->tp_name);
  }
  return format;
}
PyObject* m_is_contiguous(PyObject* o, PyObject* const* a, Py_ssize_t n, PyObject* names) {
  return guarded([&] { return PyBool_FromLong(is_dense_in(unwrap(o), format_argument("is_contiguous", a, n, names))); });
}
PyObject* m_contiguous(PyObject* o, PyObject* const* a, Py_ssize_t n, PyObject* names) {
  return guarded([&] {
    const Tensor& t = unwrap(o);
    const MemoryFormat format = format_argument("contiguous", a, n, names);
    if (is_dense_in(t, format)) return Py_NewRef(o);
    check(format != MemoryFormat::preserve, "preserve memory format is unsupported by the contiguous operator");
    return wrap(clone_of(t, format));
  });
}
PyObject* m_storage_ptr(PyObject* o, PyObject*) { return PyLong_FromVoidPtr(unwrap(o)->storage.get()); }
PyObject* m_storage_bytes(PyObject* o, PyObject*) { return PyLong_FromSize_t(unwrap(o)->storage->bytes); }
PyObject* m_is_floating_point(PyObject* o, PyObject*) { return PyBool_FromLong(is_floating(unwrap(o).dtype())); }
PyObject* m_is_complex(PyObject* o, PyObject*) { return PyBool_FromLong(is_complex(unwrap(o).dtype())); }
PyObject* m_is_conj(PyObject* o, PyObject*) { return PyBool_FromLong(unwrap(o).has_flag(kConj)); }
PyObject* m_is_neg(PyObject* o, PyObject*) { return PyBool_FromLong(unwrap(o).has_flag(kNeg)); }
PyObject* m_complex(PyObject* o, PyObject*) {
  return guarded([&] {
    std::complex<double> c = only_element(o).to_complex();
    return PyComplex_FromDoubles(c.real(), c.imag());
  });
}
PyObject* m_detach(PyObject* o, PyObject*) { return guarded([&] { return wrap(detach(unwrap(o))); }); }
PyObject* m_detach_inplace(PyObject* o, PyObject*) {
  return guarded([&] {
    const Tensor& t = unwrap(o);
    // An argument's stand-in in a trace is no view.
    if (t->storage->symbolic && t->storage->context && untraceable) untraceable(Obstacle::value, "detach_() is called on an argument that is a part of some memory");
    check(!t.is_view(), "Can't detach views in-place. Use detach() instead.");
    if (Variable* v = variable_or_null(t)) {
      v->grad_fn.reset();
      v->tangents.clear();
    }
    t->flags &= ~(kRequiresGrad | kDual);
    return Py_NewRef(o);
  });
}
PyObject* m_retain_grad(PyObject* o, PyObject*) {
  return guarded([&] {
    retain_grad(unwrap(o));
    return Py_NewRef(Py_None);
  });
}
PyMethodDef methods[] = {
    {"__radd__", add_in_order, METH_O | METH_COEXIST, "self + other."},  // by name, self stands first, which decides the layout
    {"__rmul__", multiply_in_order, METH_O | METH_COEXIST, "self * other."},
    {"__rtruediv__", divide_in_order, METH_O | METH_COEXIST, "other / self."},
    {"size", (PyCFunction)(void*)m_size, METH_FASTCALL | METH_KEYWORDS, "Sizes, or the size of one axis."},
    {"stride", (PyCFunction)(void*)m_stride, METH_FASTCALL | METH_KEYWORDS, "Strides in elements, or the stride of one axis."},
    {"dim", m_dim, METH_NOARGS, "Number of axes."},
    {"ndimension", m_dim, METH_NOARGS, "Number of axes."},
    {"is_inference", m_is_inference, METH_NOARGS, "Was it made under inference_mode?"},
    {"numel", m_numel, METH_NOARGS, "Number of elements."},
    {"nelement", m_numel, METH_NOARGS, "Number of elements."},
    {"item", m_item, METH_NOARGS, "The only element as a Python number."},
    {"tolist", m_tolist, METH_NOARGS, "Nested lists of Python numbers, or the number of a tensor without axes."},
    {"storage_offset", m_storage_offset, METH_NOARGS, "Offset of the first element, in elements."},
    {"element_size", m_element_size, METH_NOARGS, "Bytes of an element."},
    {"data_ptr", m_data_ptr, METH_NOARGS, "Address of the first element."},
    {"is_contiguous", (PyCFunction)(void*)m_is_contiguous, METH_FASTCALL | METH_KEYWORDS, "Are the elements dense in the given memory format?"},
    {"contiguous", (PyCFunction)(void*)m_contiguous, METH_FASTCALL | METH_KEYWORDS, "The tensor itself when dense in the memory format, else a copy."},
    {"to", (PyCFunction)(void*)to_method, METH_FASTCALL | METH_KEYWORDS,
     "self in another dtype, device or memory format; self itself when nothing changes and copy is False."},
    {"_storage_ptr", m_storage_ptr, METH_NOARGS, "Identity of the storage."},
    {"_storage_bytes", m_storage_bytes, METH_NOARGS, "Bytes of the storage."},
    {"is_floating_point", m_is_floating_point, METH_NOARGS, nullptr},
    {"is_complex", m_is_complex, METH_NOARGS, nullptr},
    {"is_conj", m_is_conj, METH_NOARGS, "Is it marked as the conjugate of its bytes?"},
    {"is_neg", m_is_neg, METH_NOARGS, "Is it marked as the negative of its bytes?"},
    {"__complex__", m_complex, METH_NOARGS, "The only element as a Python complex number."},
    {"detach", m_detach, METH_NOARGS, "The same memory without history."},
    {"_is_view", [](PyObject* o, PyObject*) { return PyBool_FromLong(unwrap(o).is_view()); }, METH_NOARGS, "Does it show memory of another tensor?"},
    {"detach_", m_detach_inplace, METH_NOARGS, "Drops the history in place."},
    {"retain_grad", m_retain_grad, METH_NOARGS, "Keeps .grad of a non-leaf."},
    {}};

PyMappingMethods mapping{};
PySequenceMethods sequence{};

PyObject* new_tensor(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    Tensor t = construct_legacy(args, kwargs, default_dtype(), true);
    return wrap_as(type, t);
  });
}

}  // namespace

PyObject* wrap_as(PyTypeObject* type, const Tensor& t) {
  PyObject* o;
  if (type == &TensorType && num_kept) {
    o = reinterpret_cast<PyObject*>(kept[--num_kept]);
    PyObject_Init(o, type);
  } else {
    o = type->tp_alloc(type, 0);
    if (!o) throw py::error_already_set();
  }
  attach(as(o), t);
  return o;
}

PyObject* wrap(const Tensor& t) {
  if (!t) return Py_NewRef(Py_None);
  if (t->py && t->owns_py) {
    t->owns_py = false;
    as(static_cast<PyObject*>(t->py))->tensor = t;
    return static_cast<PyObject*>(t->py);
  }
  if (t->py) return Py_NewRef(static_cast<PyObject*>(t->py));
  if (t.has_flag(kWrappedNumber)) t->flags &= ~kWrappedNumber;
  return wrap_as(&TensorType, t);
}

PyObject* linalg_error() {
  static PyObject* const type = PyErr_NewException("torch._C._LinAlgError", PyExc_RuntimeError, nullptr);
  return type;
}

PyObject* untraceable_error(bool shape) {
  static PyObject* const any = PyErr_NewException("weir.nn.graph.Untraceable", PyExc_RuntimeError, nullptr);
  static PyObject* const dynamic = PyErr_NewException("weir.nn.graph.DynamicShape", any, nullptr);
  return shape ? dynamic : any;
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const NotImplemented& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const AssertionError& e) {
    PyErr_SetString(PyExc_AssertionError, e.what());
  } catch (const LinAlgError& e) {
    PyErr_SetString(linalg_error(), e.what());
  } catch (const DynamicShape& e) {
    PyErr_SetString(untraceable_error(true), e.what());
  } catch (const Untraceable& e) {
    PyErr_SetString(untraceable_error(false), e.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void init_tensor_type(py::module_& m) {
  mapping.mp_length = length;
  mapping.mp_subscript = get_item;
  mapping.mp_ass_subscript = set_item;
  sequence.sq_length = length;

  TensorType.tp_name = "weir.Tensor";
  TensorType.tp_doc = "A strided array of one dtype on one device, with gradients.";
  TensorType.tp_basicsize = sizeof(PyTensor);
  TensorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  TensorType.tp_new = new_tensor;
  TensorType.tp_dealloc = dealloc;
  TensorType.tp_dictoffset = offsetof(PyTensor, dict);
  TensorType.tp_weaklistoffset = offsetof(PyTensor, weakrefs);
  TensorType.tp_as_mapping = &mapping;
  TensorType.tp_as_sequence = &sequence;
  set_operators(TensorType);
  TensorType.tp_hash = [](PyObject* o) { return Py_hash_t(reinterpret_cast<intptr_t>(o) >> 4); };  // the object's: its tensor may be swapped
  TensorType.tp_getset = getset;
  TensorType.tp_methods = methods;
  if (PyType_Ready(&TensorType) < 0) throw py::error_already_set();
  TensorType.tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;  // programs add methods to Tensor
  TensorImpl::release_py = release_kept;
  m.add_object("Tensor", reinterpret_cast<PyObject*>(&TensorType));

  m.def("_name_as_torch", [](bool torch) { TensorType.tp_name = torch ? "torch.Tensor" : "weir.Tensor"; });  // Tensor.__module__
  m.def("_make_subclass", [](py::type cls, const Tensor& data, bool grad) {
    auto* type = reinterpret_cast<PyTypeObject*>(cls.ptr());
    check<TypeError>(PyType_IsSubtype(type, &TensorType), "_make_subclass: ", type->tp_name, " is no subclass of Tensor");
    Tensor t = detach(data);
    if (grad) set_requires_grad(t, true);
    return py::reinterpret_steal<py::object>(wrap_as(type, t));
  }, py::arg("cls"), py::arg("data"), py::arg("requires_grad") = false);
  m.def("_as_subclass", [](py::type cls, const Tensor& data) {
    return py::reinterpret_steal<py::object>(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), fn::expand(data, data.sizes())));  // another tensor
  });
  m.def("_use_count", [](const Tensor& t) { return t->refs.load() - 1; }, "How many hold the tensor, this call left out.");
  m.def("_swap_tensors", [](py::handle a, py::handle b) {
    check<TypeError>(is_tensor(a.ptr()) && is_tensor(b.ptr()), "_swap_tensors: expected two Tensors");
    PyTensor *x = as(a.ptr()), *y = as(b.ptr());
    PyTypeObject *first = Py_TYPE(a.ptr()), *second = Py_TYPE(b.ptr());
    // Python puts a header before objects of classes made in Python, which objects of Tensor itself lack.
    check<NotImplemented>(first->tp_basicsize == second->tp_basicsize && PyType_IS_GC(first) == PyType_IS_GC(second), "swap_tensors: objects of ", first->tp_name,
                          " and ", second->tp_name, " are laid out differently");
    Py_SET_TYPE(a.ptr(), second), Py_SET_TYPE(b.ptr(), first);
    std::swap(x->dict, y->dict), std::swap(x->tensor, y->tensor);
    x->tensor->py = x, y->tensor->py = y;
  }, "Lets each of two objects have the other's class, attributes and tensor.");
  // Methods written in Python join the C type, so that no Python subclass slows its construction.
  m.def("_add_method", [](const std::string& name, py::object value) {
    PyDict_SetItemString(TensorType.tp_dict, name.c_str(), py::reinterpret_steal<py::object>(as_method(value.ptr())).ptr());
    PyType_Modified(&TensorType);
  });
  m.def("_add_slots", [](py::object repr, py::object str, py::object iter) {
    static PyObject *repr_fn, *iter_fn;
    repr_fn = repr.release().ptr();
    iter_fn = iter.release().ptr();
    TensorType.tp_repr = TensorType.tp_str = [](PyObject* o) { return PyObject_CallOneArg(repr_fn, o); };
    TensorType.tp_iter = [](PyObject* o) { return PyObject_CallOneArg(iter_fn, o); };
    // A slot that no name stands for is not handed on to subclasses.
    for (auto [name, fn] : {std::pair{"__repr__", repr_fn}, {"__iter__", iter_fn}}) PyDict_SetItemString(TensorType.tp_dict, name, fn);
    PyType_Modified(&TensorType);
  });
}

}  // namespace weir
