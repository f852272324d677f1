#include "framework/binding/profile.h"

#include <mutex>

#include "framework/op/observe.h"

namespace py = pybind11;

namespace weir {
namespace {

class Recording : public Observer {
 public:
  void ended(const OpType& type, Inputs in, int64_t begin, int64_t end) override {
    Entry e{type.signature->name, begin, end - begin, PyThread_get_thread_ident(), {}};
    if (shapes)
      for (const Tensor& x : in) e.shapes.push_back(x ? x.sizes() : Dims());
    std::lock_guard lock(mutex_);
    entries_.push_back(std::move(e));
  }
  /// What ended since the last call, in the order of ending: (name, begin, length, thread, shapes).
  py::list taken() {
    std::vector<Entry> entries;
    {
      std::lock_guard lock(mutex_);
      entries.swap(entries_);
    }
    py::list made;
    for (const Entry& e : entries) {
      py::list sizes;
      for (const Dims& s : e.shapes) {
        py::list one;
        for (int64_t n : s) one.append(n);
        sizes.append(one);
      }
      made.append(py::make_tuple(py::str(e.name.data(), e.name.size()), e.begin, e.length, e.thread, sizes));
    }
    return made;
  }
  bool shapes = false;

 private:
  struct Entry {
    std::string_view name;
    int64_t begin, length;
    unsigned long thread;
    std::vector<Dims> shapes;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

Recording& recording() {
  static auto* one = new Recording;  // calls on other threads may end after everything else
  return *one;
}

}  // namespace

void init_profile(py::module_& m) {
  m.def("_record_ops", [](bool on, bool shapes) {
    recording().shapes = shapes;
    set_observer(on ? &recording() : nullptr);
  });
  m.def("_recorded_ops", [] { return recording().taken(); });
}

}  // namespace weir
