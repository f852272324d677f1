// Fused optimizer steps as functions over lists of tensors.
#include "framework/ops/optimizer.h"

#include "framework/binding/convert.h"
#include "framework/op/autocast.h"

namespace py = pybind11;

namespace weir {
namespace {

using Doubles = std::vector<double>;

void check_lists(const char* step, size_t count, std::initializer_list<size_t> others) {
  for (size_t n : others) check<ValueError>(n == count, step, ": expected lists of one length, got ", count, " and ", n);
}

template <class Run> py::list run(size_t count, Run&& each) {
  py::list left;  // positions the fused step does not take; the caller does those
  std::vector<size_t> refused;
  {
    py::gil_scoped_release nogil;
    for (size_t i = 0; i < count; i++)
      if (!each(i)) refused.push_back(i);
    clear_autocast_cache();
  }
  for (size_t i : refused) left.append(i);
  return left;
}

}  // namespace

void init_optimizer(py::module_& m) {
  m.def("_adam_step", [](const Tensors& p, const Tensors& g, const Tensors& a, const Tensors& s, const Doubles& step, double lr, double beta1,
                         double beta2, double eps, double weight_decay, bool decoupled, bool maximize) {
    check_lists("_adam_step", p.size(), {g.size(), a.size(), s.size(), step.size()});
    return run(p.size(), [&](size_t i) {
      if (!fusable({&p[i], &g[i], &a[i], &s[i]})) return false;
      optimizer_kernels.adam({lr, beta1, beta2, eps, weight_decay, step[i], decoupled, maximize}, p[i], g[i], a[i], s[i]);
      for (const Tensor& t : {p[i], a[i], s[i]}) bump_version(t);
      return true;
    });
  }, "One Adam or AdamW step in place; returns the positions whose tensors it does not take.");
  m.def("_sgd_step", [](const Tensors& p, const Tensors& g, const std::vector<std::optional<Tensor>>& momenta, const std::vector<bool>& first,
                        double lr, double momentum, double dampening, double weight_decay, bool nesterov, bool maximize) {
    check_lists("_sgd_step", p.size(), {g.size(), momenta.size(), first.size()});
    return run(p.size(), [&](size_t i) {
      Tensor b = momenta[i].value_or(Tensor());
      if (!fusable({&p[i], &g[i], &b})) return false;
      optimizer_kernels.sgd({lr, momentum, dampening, weight_decay, nesterov, maximize, first[i]}, p[i], g[i], b);
      bump_version(p[i]);
      if (b) bump_version(b);
      return true;
    });
  }, "One SGD step in place; momenta may hold None; returns the positions whose tensors it does not take.");
}

}  // namespace weir
