// The extension module `_weir`: types, ops, autograd, factories.
#include <omp.h>

#include "framework/binding/convert.h"
#include "framework/binding/tensor_object.h"
#include "framework/core/generator.h"
#include "framework/kernels/load.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/create.h"
#include "framework/ops/pointwise.h"

namespace py = pybind11;

namespace weir {
namespace {

py::object object(const Tensor& t) { return py::reinterpret_steal<py::object>(wrap(t)); }

Dims dims(const py::handle& o) {
  Dims d;
  check<TypeError>(to_dims(o.ptr(), &d, true), "size: expected ints, got ", Py_TYPE(o.ptr())->tp_name);
  return d;
}
DType dtype(const py::handle& o) {
  DType t = default_dtype();
  if (!o.is_none()) check<TypeError>(to_dtype(o.ptr(), &t), "dtype: expected a weir dtype, got ", Py_TYPE(o.ptr())->tp_name);
  return t;
}
Device device(const py::handle& o) {
  Device d;
  if (!o.is_none()) check<TypeError>(to_device(o.ptr(), &d), "device: expected a device or str, got ", Py_TYPE(o.ptr())->tp_name);
  check(d.type != DeviceType::cuda, "Torch not compiled with CUDA enabled");
  return d;
}

Tensor finish(Tensor t, bool requires_grad) {
  if (mode.inference) t->flags |= kInference;
  if (requires_grad) {
    check(is_inexact(t.dtype()), "only Tensors of floating point and complex dtype can require gradients");
    t->flags |= kRequiresGrad;
  }
  return t;
}

void init_factories(py::module_& m) {
  m.def("_empty", [](py::handle size, py::handle t, py::handle d, bool grad) {
    return object(finish(empty(dims(size), dtype(t), device(d)), grad));
  }, py::arg("size"), py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def("_empty_strided", [](py::handle size, py::handle stride, py::handle t, py::handle d, bool grad) {
    Dims n = dims(size), s = dims(stride);
    check(n.n == s.n, "empty_strided: dimensionality of sizes (", n.n, ") must match dimensionality of strides (", s.n, ")");
    for (int i = 0; i < s.n; i++)  // a stride that is never taken may be anything
      check(s[i] >= 0 || n[i] <= 1 || n.product() == 0, "empty_strided: negative strides are not supported, got ", s);
    return object(finish(empty(Meta(n, s, dtype(t), device(d))), grad));
  }, py::arg("size"), py::arg("stride"), py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def("_zeros", [](py::handle size, py::handle t, py::handle d, bool grad) {
    return object(finish(zeros_of(Meta(dims(size), dtype(t), device(d))), grad));
  }, py::arg("size"), py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def("_full", [](py::handle size, py::handle value, py::handle t, py::handle d, bool grad) {
    Scalar s;
    check<TypeError>(to_scalar(value.ptr(), &s), "full(): argument 'fill_value' must be Number, not ", Py_TYPE(value.ptr())->tp_name);
    return object(finish(full_of(Meta(dims(size), t.is_none() ? s.dtype(default_dtype()) : dtype(t), device(d)), s), grad));
  }, py::arg("size"), py::arg("fill_value"), py::arg("dtype") = py::none(), py::arg("device") = py::none(), py::arg("requires_grad") = false);
  m.def("_view_dtype", [](py::handle o, py::handle t, py::handle size, py::handle stride, int64_t offset) {
    const Tensor& x = unwrap(o.ptr());
    return object(alias(x->storage, dtype(t), dims(size), dims(stride), offset));
  });
  m.def("_alias_storage", [](py::handle o, py::handle size, py::handle stride, int64_t offset) {
    return object(alias(unwrap(o.ptr()), dims(size), dims(stride), offset));
  });
  m.def("_resize", [](py::object o, py::handle size, py::handle stride) {
    const Tensor& t = unwrap(o.ptr());
    Dims sizes = dims(size);
    bool same = t.sizes() == sizes;
    if (same && stride.is_none()) return o;
    resize(t, sizes);
    if (!stride.is_none()) set_geometry(t, sizes, dims(stride), t->offset);  // dense, as a memory format has it
    if (!same) bump_version(t);
    return o;
  }, py::arg("tensor"), py::arg("size"), py::arg("stride") = py::none());
  // The writes that filled a new tensor do not count: nobody can have saved it before.
  m.def("_as_new", [](py::object o) {
    unwrap(o.ptr())->storage->version = 0;
    return o;
  });
  m.def("_write_out", [](const std::string& op, py::object out, py::handle value, py::list inputs, int rule,
                        bool recorded) {
    Tensors in;
    for (py::handle o : inputs) in.push_back(unwrap(o.ptr()));
    if (!is_tensor(value.ptr())) throw TypeError(op + "(): argument 'out' must be tuple of Tensors, not Tensor");
    if (!is_tensor(out.ptr())) throw TypeError(op + "(): argument 'out' must be Tensor, not " + Py_TYPE(out.ptr())->tp_name);
    const Tensor &target = unwrap(out.ptr()), &result = unwrap(value.ptr());
    if (!recorded) check_out_history(op.c_str(), target, result);
    check_out(op.c_str(), Out(rule), false, target, result.meta(), in);
    write_out(op.c_str(), target, result);
    return out;
  });
  m.def("result_type", [](py::args args) {
    Tensors in;
    for (py::handle o : args) {
      Scalar s;
      if (is_tensor(o.ptr())) in.push_back(unwrap(o.ptr()));
      else if (to_scalar(o.ptr(), &s)) in.push_back(wrapped_number(s));
      else throw TypeError("result_type(): arguments must be Tensors or Numbers");
    }
    return py::reinterpret_borrow<py::object>(dtype_object(result_type(in)));
  });
  m.def("promote_types", [](py::handle a, py::handle b) {
    return py::reinterpret_borrow<py::object>(dtype_object(promote_types(dtype(a), dtype(b))));
  });
  m.def("can_cast", [](py::handle a, py::handle b) { return can_cast(dtype(a), dtype(b)); });
  m.def("get_default_dtype", [] { return py::reinterpret_borrow<py::object>(dtype_object(default_dtype())); });
  m.def("set_default_dtype", [](py::handle t) { set_default_dtype(dtype(t)); });
}

}  // namespace
}  // namespace weir

PYBIND11_MODULE(_weir, m) {
  using namespace weir;
  m.doc() = "The C++ core of weir; use `import weir`.";
  py::register_exception_translator([](std::exception_ptr p) {
    if (!p) return;
    try {
      std::rethrow_exception(p);
    } catch (const Error&) {
      set_python_error();
    }
  });
  m.attr("cpu_capability") = std::string(load_cpu_kernels());
  init_types(m);
  init_tensor_type(m);
  init_ops(m);
  init_autograd(m);
  init_random(m);
  init_numpy(m);
  init_optimizer(m);
  init_factories(m);
  m.def("get_num_threads", [] { return omp_get_max_threads(); });
  m.def("set_num_threads", [](int n) {
    check(n > 0, "set_num_threads expects a positive integer");
    omp_set_num_threads(n);
  });
  m.def("_allocator_stats", [] {
    AllocatorStats s = allocator_stats();
    return py::make_tuple(s.in_use, s.peak, s.cached);
  });
  m.def("_empty_cache", [] { empty_cache(); });
}
