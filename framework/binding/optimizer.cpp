// Optimizer steps as one function over lists of tensors.
#include "framework/ops/optimizer.h"

#include "framework/binding/convert.h"
#include "framework/op/autocast.h"
#include "framework/op/changes.h"

namespace py = pybind11;

namespace weir {
namespace {

std::vector<std::byte> filled(const OpType& type, const py::dict& options) {
  std::vector<std::byte> op = type.defaults;
  const Signature& s = *type.signature;
  for (int i = 1; i < s.n; i++) {
    py::str name(s.params[i].name.data(), s.params[i].name.size());
    check<ValueError>(options.contains(name), s.name, ": ", s.params[i].name, " is missing");
    check<TypeError>(store_argument(py::object(options[name]).ptr(), s.params[i].ty, op.data() + type.fields[i].offset), s.name, ": ", s.params[i].name, " is no number");
  }
  return op;
}

// One step of the op `name` for all `runs` of tensors that it takes, those of a dtype in one call; the positions of the others.
py::list update(const std::string& name, const std::vector<Tensors>& runs, const Tensor& rate, const py::dict& options) {
  const OpType* type = find_op(name);
  check<ValueError>(type, name, " is no op");
  std::vector<std::byte> op = filled(*type, options);
  std::optional<UpdateLayout> layout = layout_of_update(*type, op.data());
  check<ValueError>(layout.has_value(), name, " updates no parameters");
  py::list left;
  Tensors taken[2];  // float32, float64
  for (size_t i = 0; i < runs.size(); i++) {
    check<ValueError>(int(runs[i].size()) == layout->width(), name, ": expected ", layout->width(), " tensors per parameter, got ", runs[i].size());
    if (!takes_update(*layout, runs[i])) {
      left.append(i);
      continue;
    }
    Tensors& list = taken[runs[i][0].dtype() == DType::float64];
    list.insert(list.end(), runs[i].begin(), runs[i].end());
  }
  py::gil_scoped_release nogil;
  GradMode off(false);
  for (Tensors& list : taken) {
    if (list.empty()) continue;
    list.push_back(rate);
    Tensor out[kMaxOutputs] = {list[0]};
    call(*type, op.data(), list, out);
    for (int k : changed_inputs(*type, op.data(), list))
      if (k) bump_version(list[size_t(k)]);
  }
  clear_autocast_cache();
  return left;
}

}  // namespace

void init_optimizer(py::module_& m) {
  m.def("_optimizer_update", [](const std::string& name, const std::vector<Tensors>& runs, const Tensor& rate, const py::dict& options) { return update(name, runs, rate, options); },
        "One step of an update op in place, with parameter, gradient, numbers and state in each run; returns the positions of runs it does not take.");
}

}  // namespace weir
