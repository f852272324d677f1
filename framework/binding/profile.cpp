#include "framework/binding/profile.h"

#include <map>
#include <mutex>

#include "framework/op/cost.h"
#include "framework/op/observe.h"

namespace py = pybind11;

namespace weir {
namespace {

class Recording : public Observer {
 public:
  void ended(const OpType& type, Inputs in, Inputs, int64_t begin, int64_t end) override {
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
class Counting : public Observer {
 public:
  void ended(const OpType& type, Inputs in, Inputs out, int64_t, int64_t) override {
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

/// Tells the recording and the count, where a program has both.
class Both : public Observer {
  void ended(const OpType& type, Inputs in, Inputs out, int64_t begin, int64_t end) override {
    recording().ended(type, in, out, begin, end);
    counting().ended(type, in, out, begin, end);
  }
};

bool records = false, counts = false;

void watch() {
  static auto* both = new Both;
  if (records && counts) return set_observer(both);
  set_observer(records ? static_cast<Observer*>(&recording()) : counts ? &counting() : nullptr);
}

}  // namespace

void init_profile(py::module_& m) {
  m.def("_record_ops", [](bool on, bool shapes) {
    recording().shapes = shapes;
    records = on;
    watch();
  });
  m.def("_count_work", [](bool on) {
    counts = on;
    watch();
  });
  m.def("_counted_work", [] { return counting().taken(); });
  m.def("_recorded_ops", [] { return recording().taken(); });
}

}  // namespace weir
