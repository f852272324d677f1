// Fused optimizer steps as functions over lists of tensors.
#include "framework/ops/optimizer.h"

#include "framework/binding/convert.h"
#include "framework/op/autocast.h"

namespace py = pybind11;

namespace weir {
namespace {

std::vector<Tensor> list(const py::list& l) {
  std::vector<Tensor> out;
  for (py::handle o : l) out.push_back(o.is_none() ? Tensor() : unwrap(o.ptr()));
  return out;
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
  m.def("_adam_step", [](py::list params, py::list grads, py::list exp_avgs, py::list exp_avg_sqs, py::list steps, double lr, double beta1,
                         double beta2, double eps, double weight_decay, bool decoupled, bool maximize) {
    auto p = list(params), g = list(grads), a = list(exp_avgs), s = list(exp_avg_sqs);
    std::vector<double> step;
    for (py::handle o : steps) step.push_back(o.cast<double>());
    return run(p.size(), [&](size_t i) {
      if (!fusable({&p[i], &g[i], &a[i], &s[i]})) return false;
      optimizer_kernels.adam({lr, beta1, beta2, eps, weight_decay, step[i], decoupled, maximize}, p[i], g[i], a[i], s[i]);
      for (const Tensor& t : {p[i], a[i], s[i]}) bump_version(t);
      return true;
    });
  }, "One Adam or AdamW step in place; returns the positions whose tensors it does not take.");
  m.def("_sgd_step", [](py::list params, py::list grads, py::list momenta, py::list first, double lr, double momentum, double dampening,
                        double weight_decay, bool nesterov, bool maximize) {
    auto p = list(params), g = list(grads), b = list(momenta);
    std::vector<bool> fresh;
    for (py::handle o : first) fresh.push_back(o.cast<bool>());
    return run(p.size(), [&](size_t i) {
      if (!fusable({&p[i], &g[i], &b[i]})) return false;
      optimizer_kernels.sgd({lr, momentum, dampening, weight_decay, nesterov, maximize, fresh[i]}, p[i], g[i], b[i]);
      bump_version(p[i]);
      return true;
    });
  }, "One SGD step in place; momenta may hold None; returns the positions whose tensors it does not take.");
}

}  // namespace weir
