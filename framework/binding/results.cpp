#include "framework/binding/results.h"

#include <structmember.h>

#include <unordered_map>

#include "framework/binding/convert.h"

namespace py = pybind11;

namespace weir {
namespace {

// A field a line, as PyTorch prints named results.
PyObject* results_repr(PyObject* o) {
  return guarded([&] {
    std::string text = std::string(Py_TYPE(o)->tp_name) + "(\n";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); i++) {
      auto shown = py::reinterpret_steal<py::object>(must(PyObject_Repr(PyTuple_GET_ITEM(o, i))));
      text += std::string(i ? ",\n" : "") + Py_TYPE(o)->tp_members[i].name + "=" + std::string(py::str(shown));
    }
    return must(PyUnicode_FromString((text + ")").c_str()));
  });
}

PyTypeObject* return_type(const OpType& type) {
  static std::unordered_map<const OpType*, PyTypeObject*> all;
  PyTypeObject*& t = all[&type];
  if (t) return t;
  static std::vector<std::string> keep;
  keep.reserve(1024);
  auto* fields = new PyStructSequence_Field[kMaxOutputs + 1]{};
  for (int i = 0; i < type.signature->num_outputs; i++)
    fields[i].name = (keep.emplace_back(type.signature->outputs[i]), keep.back().c_str());
  keep.emplace_back("torch.return_types." + std::string(type.signature->name));
  auto* desc = new PyStructSequence_Desc{keep.back().c_str(), nullptr, fields, type.signature->num_outputs};
  t = reinterpret_cast<PyTypeObject*>(must(reinterpret_cast<PyObject*>(PyStructSequence_NewType(desc))));
  t->tp_repr = results_repr;
  PyType_Modified(t);
  return t;
}

}  // namespace

PyObject* results(const OpType& type, Tensor* out, int n) {
  if (n == 1) return wrap(out[0]);
  auto r = py::reinterpret_steal<py::object>(must(PyStructSequence_New(return_type(type))));
  for (int i = 0; i < n; i++) PyStructSequence_SET_ITEM(r.ptr(), i, wrap(out[i]));
  return r.release().ptr();
}

PyObject* list_of(const Tensors& ts) {
  auto r = py::reinterpret_steal<py::object>(must(PyTuple_New(ts.size())));
  for (size_t i = 0; i < ts.size(); i++) PyTuple_SET_ITEM(r.ptr(), i, wrap(ts[i]));
  return r.release().ptr();
}

}  // namespace weir
