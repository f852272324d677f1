#include "framework/binding/profile.h"

#include <atomic>
#include <map>
#include <mutex>

#include "framework/op/cost.h"
#include "framework/op/observe.h"

namespace py = pybind11;

namespace weir {
namespace {

class Recording {
 public:
  void ended(const OpType& type, Inputs in, int64_t begin, int64_t end) {
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

/// Adds up what calls cost, by the op's name.
class Counting {
 public:
  void ended(const OpType& type, Inputs in, Inputs out) {
    if (type.compose || type.notation.kind == Notation::none || out.empty() || !out[0]) return;
    const Cost cost = cost_of(type, in, out);
    std::lock_guard lock(mutex_);
    Work& work = work_[type.signature->name];
    work.flops += cost.product ? cost.flops : 0;
    work.bytes += cost.bytes;
  }
  /// What was added since the last call: name to (operations of products, bytes).
  py::dict taken() {
    std::map<std::string_view, Work> taken;
    {
      std::lock_guard lock(mutex_);
      taken.swap(work_);
    }
    py::dict made;
    for (auto [name, work] : taken) made[py::str(name.data(), name.size())] = py::make_tuple(work.flops, work.bytes);
    return made;
  }

 private:
  struct Work { int64_t flops = 0, bytes = 0; };
  std::mutex mutex_;
  std::map<std::string_view, Work> work_;
};

Counting& counting() {
  static auto* one = new Counting;
  return *one;
}

/// Tells whichever of the two a program asked for.
class Watcher : public Observer {
 public:
  std::atomic<bool> records = false, counts = false;
  void ended(const OpType& type, Inputs in, Inputs out, int64_t begin, int64_t end) override {
    if (records) recording().ended(type, in, begin, end);
    if (counts) counting().ended(type, in, out);
  }
};

void watch(std::atomic<bool> Watcher::*what, bool on) {
  static auto* one = new Watcher;
  one->*what = on;
  set_observer(one->records || one->counts ? one : nullptr);
}

}  // namespace

void init_profile(py::module_& m) {
  m.def("_record_ops", [](bool on, bool shapes) {
    recording().shapes = shapes;
    watch(&Watcher::records, on);
  });
  m.def("_count_work", [](bool on) { watch(&Watcher::counts, on); });
  m.def("_counted_work", [] { return counting().taken(); });
  m.def("_recorded_ops", [] { return recording().taken(); });
}

}  // namespace weir
