// Watch: whether what a traced program took from Python is still the very same objects. It answers in nanoseconds per object;
// where it says no, the caller looks closer.
//
// A step of a large model leaves nothing of these objects in a cache, and following dictionaries to their entries one after the other took
// 6 ms of ResNet50's. So it asks for all of them at once, and a dictionary first whether it was written since.
#include "framework/binding/graph.h"

#include "framework/binding/convert.h"
#include "framework/core/scratch.h"

namespace py = pybind11;

namespace weir {
namespace {

class Watch {
 public:
  /// A dictionary with all its entries, or those named.
  void dict(py::dict d) {
    Dict seen{d, version_of(d), PyDict_GET_SIZE(d.ptr()), {}};
    for (auto [key, value] : d) seen.entries.push_back({py::reinterpret_borrow<py::object>(key), py::reinterpret_borrow<py::object>(value)});
    dicts_.push_back(std::move(seen));
  }
  void entry(py::dict d, py::object key) {
    Entry entry{key, py::reinterpret_borrow<py::object>(PyDict_GetItemWithError(d.ptr(), key.ptr()))};  // null: it is not there
    dicts_.push_back({d, version_of(d), -1, {std::move(entry)}});
  }
  /// A class's own attributes.
  void type(py::type t) { dict(py::reinterpret_borrow<py::dict>(reinterpret_cast<PyTypeObject*>(t.ptr())->tp_dict)); }
  void list(py::list l) {
    std::vector<py::object> items;
    for (py::handle x : l) items.push_back(py::reinterpret_borrow<py::object>(x));
    lists_.push_back({l, std::move(items)});
  }
  void cell(py::object c) { cells_.push_back({c, py::reinterpret_steal<py::object>(PyCell_Get(c.ptr()))}); }
  void attribute(py::object o, py::str name) { attributes_.push_back({o, name, o.attr(name)}); }
  void tensor(const Tensor& t) { tensors_.push_back({t, t->storage, t.meta(), t->flags & kRequiresGrad}); }

  bool same() {
    for (const Dict& d : dicts_) __builtin_prefetch(d.dict.ptr());
    for (const Seen& s : tensors_) __builtin_prefetch(s.tensor.operator->());
    for (Dict& d : dicts_)
      if ((version_of(d.dict) != d.version || !d.version) && !is_same(d)) return PyErr_Clear(), false;
    for (const auto& [l, items] : lists_) {
      if (size_t(PyList_GET_SIZE(l.ptr())) != items.size()) return false;
      for (size_t i = 0; i < items.size(); i++)
        if (PyList_GET_ITEM(l.ptr(), Py_ssize_t(i)) != items[i].ptr()) return false;
    }
    for (const auto& [c, value] : cells_)
      if (PyCell_GET(c.ptr()) != value.ptr()) return false;
    for (const auto& [o, name, value] : attributes_)
      if (!py::getattr(o, name, py::none()).is(value)) return false;
    for (const Seen& s : tensors_)
      if (!(s.tensor->storage == s.storage) || s.tensor->offset != s.meta.offset || s.tensor.dtype() != s.meta.dtype || !(s.tensor.sizes() == s.meta.sizes) ||
          !(s.tensor.strides() == s.meta.strides) || (s.tensor->flags & kRequiresGrad) != s.grad)
        return false;
    return true;
  }

 private:
  struct Entry { py::object key, value; };
  struct Dict {
    py::dict dict;
    uint64_t version;
    Py_ssize_t size;  // -1: whatever it is
    std::vector<Entry> entries;
  };
  struct Listed { py::list l; std::vector<py::object> items; };
  struct Attribute { py::object o; py::str name; py::object value; };
  struct Seen { Tensor tensor; StorageRef storage; Meta meta; uint32_t grad; };
  // A number that no dictionary has had before, new with each change; 0 where Python keeps none.
  static uint64_t version_of(const py::dict& d) {
#if PY_VERSION_HEX < 0x030C0000
    return reinterpret_cast<PyDictObject*>(d.ptr())->ma_version_tag;
#else
    return 0;
#endif
  }
  static bool is_same(Dict& d) {  // entry by entry
    if (d.size >= 0 && PyDict_GET_SIZE(d.dict.ptr()) != d.size) return false;
    for (const auto& [key, value] : d.entries)
      if (PyDict_GetItemWithError(d.dict.ptr(), key.ptr()) != value.ptr()) return false;
    d.version = version_of(d.dict);
    return true;
  }

  std::vector<Dict> dicts_;
  std::vector<Listed> lists_;
  std::vector<std::pair<py::object, py::object>> cells_;
  std::vector<Attribute> attributes_;
  std::vector<Seen, ScratchAllocator<Seen>> tensors_;  // a page or more for every four
};

}  // namespace

void init_watch(py::module_& m) {
  py::class_<Watch>(m, "_Watch")
      .def(py::init<>())
      .def("dict", &Watch::dict)
      .def("entry", &Watch::entry)
      .def("type", &Watch::type)
      .def("list", &Watch::list)
      .def("cell", &Watch::cell)
      .def("attribute", &Watch::attribute)
      .def("tensor", &Watch::tensor)
      .def("same", &Watch::same);
}

}  // namespace weir
