// weir.Size: the sizes of a tensor, a tuple of ints that stays one when sliced, added and repeated.
#include "framework/binding/convert.h"

namespace py = pybind11;

namespace weir {
namespace {

PyTypeObject* size_type = nullptr;

// A Size with room for n ints, not yet filled.
PyObject* allocate(Py_ssize_t n) { return must(size_type->tp_alloc(size_type, n)); }

PyObject* from_tuple(PyObject* tuple) {
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject* r = allocate(n);
  for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(r, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  return r;
}

// The outcome of one of tuple's own methods, which makes plain tuples, as a Size.
PyObject* as_size(PyObject* tuple) {
  py::object held = py::reinterpret_steal<py::object>(must(tuple));
  return from_tuple(held.ptr());
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    py::object plain = py::reinterpret_steal<py::object>(must(PyTuple_Type.tp_new(&PyTuple_Type, args, kwargs)));
    Py_ssize_t n = PyTuple_GET_SIZE(plain.ptr());
    py::object r = py::reinterpret_steal<py::object>(must(type->tp_alloc(type, n)));
    for (Py_ssize_t i = 0; i < n; i++) {
      PyObject* item = PyTuple_GET_ITEM(plain.ptr(), i);
      check<TypeError>(PyIndex_Check(item), "torch.Size() takes an iterable of 'int' (item ", i, " is '", Py_TYPE(item)->tp_name, "')");
      PyTuple_SET_ITEM(r.ptr(), i, must(PyNumber_Index(item)));
    }
    return r.release().ptr();
  });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  PyObject* r = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  if (!r || !PySlice_Check(key)) return r;
  return guarded([&] { return as_size(r); });
}

PyObject* add(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) {
    PyObject* other = PyTuple_Check(a) ? b : a;
    if (Py_TYPE(other)->tp_as_number && Py_TYPE(other)->tp_as_number->nb_add) return Py_NewRef(Py_NotImplemented);  // it may know how
    return PyErr_Format(PyExc_TypeError, "can only concatenate tuple (not %s) to torch.Size", Py_TYPE(other)->tp_name);
  }
  return guarded([&] { return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b)); });
}

PyObject* repeat(PyObject* self, Py_ssize_t n) {
  return guarded([&] { return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, n)); });
}

PyObject* text(PyObject* self) {
  return guarded([&]() -> PyObject* {
    auto items = py::reinterpret_steal<py::object>(must(PySequence_List(self)));
    return PyUnicode_FromFormat("torch.Size(%R)", items.ptr());
  });
}

PyObject* numel(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    py::int_ n(1);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++)
      n = py::reinterpret_steal<py::int_>(must(PyNumber_Multiply(n.ptr(), PyTuple_GET_ITEM(self, i))));
    return n.release().ptr();
  });
}

PyObject* reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto items = py::reinterpret_steal<py::object>(must(PySequence_List(self)));
    auto plain = py::reinterpret_steal<py::object>(must(PyList_AsTuple(items.ptr())));
    return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(Py_TYPE(self)), plain.ptr());
  });
}

PyMethodDef methods[] = {{"numel", numel, METH_NOARGS, "The product of the sizes."},
                         {"__reduce__", reduce, METH_NOARGS, nullptr},
                         {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_repr, reinterpret_cast<void*>(text)},
                       {Py_tp_methods, methods},
                       {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
                       {Py_nb_add, reinterpret_cast<void*>(add)},
                       {Py_sq_repeat, reinterpret_cast<void*>(repeat)},
                       {Py_tp_doc, const_cast<char*>("Sizes of a tensor: a tuple of ints with `numel()`.")},
                       {}};
PyType_Spec spec = {"weir.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

PyObject* size_object(const Dims& sizes) {
  PyObject* r = allocate(sizes.n);
  for (int i = 0; i < sizes.n; i++) PyTuple_SET_ITEM(r, i, must(PyLong_FromLongLong(sizes[i])));
  return r;
}

bool is_size(PyObject* o) { return PyObject_TypeCheck(o, size_type); }

void init_size(py::module_& m) {
  auto bases = py::make_tuple(py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyTuple_Type)));
  size_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpecWithBases(&spec, bases.ptr())));
  m.add_object("Size", reinterpret_cast<PyObject*>(size_type));
}

}  // namespace weir
