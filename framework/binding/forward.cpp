// Levels of forward mode and tensors with tangents, for `weir.autograd.forward_ad` and `weir.func`.
#include "framework/autograd/forward.h"

#include "framework/binding/convert.h"

namespace py = pybind11;

namespace weir {
namespace {

struct Level {
  LevelRef level;
};

Tensors tensors_among(const py::handle& values) {
  Tensors found;
  for (py::handle o : values)
    if (is_tensor(o.ptr())) found.push_back(unwrap(o.ptr()));
  return found;
}

void give_tangent(const Tensor& x, const Level& l, const Tensor& t) {
  check(t.sizes() == x.sizes(), "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
        "Tensor is of size ", x.sizes(), " while the given forward gradient is of size ", t.sizes(), ".");
  check(is_inexact(x.dtype()), "a tangent needs a tensor of a floating or complex dtype, got ", name_of(x.dtype()));
  check(!tangent(t, l.level), "Setting a forward gradient that itself has a forward gradient at the same level is not supported.");
  set_tangent(x, l.level, with_layout_of(x, grad_ops.cast(t, x.dtype())));
}

}  // namespace

void init_forward(py::module_& m) {
  py::class_<Level>(m, "_ForwardLevel", "A derivative in forward mode, in force until `end`.")
      .def(py::init([] { return Level{begin_forward_level()}; }))
      .def("end", [](const Level& l) { end_forward_level(l.level); }, "Tangents of the level are none from now on.")
      .def("give", [](const Level& l, const Tensor& x, const Tensor& t) { give_tangent(x, l, t); }, "Gives x a tangent. It is cast to the dtype of x. RuntimeError where its shape is another.")
      .def("tangent", [](const Level& l, const Tensor& x) { return tangent(x, l.level); }, "The tangent of x, or None.")
      .def("outside", [](const Level& l, const Tensor& x) { return outside(x, l.level); }, "x without tangents of this level and of inner ones.")
      .def("__eq__", [](const Level& a, const Level& b) { return a.level == b.level; });
  m.def("_forward_level", [](py::handle values) -> std::optional<Level> {
    const std::vector<LevelRef> levels = forward_levels(tensors_among(values));
    if (levels.empty()) return {};
    return Level{levels.back()};
  }, "The innermost level that a tensor among the values has a tangent of, or None.");
  m.def("_forward_enabled", [] { return forward_enabled; });
  m.def("_set_forward_enabled", [](bool on) { forward_enabled = on; });
  m.def("_tangents", [](const Tensor& t) {
    std::vector<std::pair<Level, Tensor>> all;
    for (const LevelRef& level : forward_levels(Inputs(&t, 1))) all.emplace_back(Level{level}, tangent(t, level));
    return all;
  }, "(level, tangent) of each level in force, from the outermost inwards.");
  m.def("_without_history", without_history, "The same memory and tangents without history.");
}

}  // namespace weir
