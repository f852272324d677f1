// The extension module `_weir`: types, ops, autograd, factories.
#ifdef __SSE__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "framework/binding/construct.h"
#include "framework/binding/graph.h"
#include "framework/binding/operators.h"
#include "framework/binding/profile.h"
#include "framework/binding/rules.h"
#include "framework/binding/saved.h"
#include "framework/binding/tensor_object.h"
#include "framework/core/generator.h"
#include "framework/core/parallel.h"
#include "framework/core/released.h"
#include "framework/core/unset.h"
#include "framework/core/warn.h"
#include "framework/graph/trace.h"
#include "framework/kernels/load.h"
#include "framework/op/copy.h"
#include "framework/op/out.h"
#include "framework/ops/conv.h"
#include "framework/ops/create.h"
#include "framework/ops/factory.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/resize.h"

namespace py = pybind11;

namespace weir {
namespace {

// Linux lists this one nowhere. Source: Intel AVX10.1 Architecture Specification, 3.1.
bool has_avx10() {
#ifdef __SSE__
  unsigned a, b, c, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (d >> 19 & 1);
#else
  return false;
#endif
}

void init_factories(py::module_& m) {
  auto none = py::none();
  m.def("_resize", [](py::object o, const Dims& sizes, std::optional<Dims> stride, std::optional<MemoryFormat> format) {
    check<TypeError>(is_tensor(o.ptr()), "resize_: expected a Tensor, got ", Py_TYPE(o.ptr())->tp_name);
    const Tensor& t = unwrap(o.ptr());
    resize_to(t, sizes, stride, format);
    return o;
  }, py::arg("tensor"), py::arg("size"), py::arg("stride") = none, py::arg("memory_format") = none);
  // The writes that filled a new tensor do not count: nobody can have saved it before.
  m.def("_as_new", [](const Tensor& t) {
    t->storage->version = 0;
    return t;
  });
  m.def("_resizable", [](const Tensor& t) { return resizable(*t->storage); });
  m.def("_resize_storage", [](const Tensor& t, int64_t bytes) {
    Storage& s = *t->storage;
    check(bytes >= 0, "resize_: a storage of ", bytes, " bytes");
    check(resizable(s), "Trying to resize storage that is not resizable");
    size_t(bytes) < s.bytes ? shrink(s, size_t(bytes)) : grow(s, size_t(bytes));
  }, "Gives the memory under a tensor so many bytes, and the tensors over it their old sizes. No write: no version rises.");
  m.def("_same_storage", [](const Tensor& a, const Tensor& b) { return a->storage == b->storage; });
  m.def("_write_out", [](const std::string& op, py::object out, py::handle value, const Tensors& in, int rule, bool recorded, bool quiet) {
    if (!is_tensor(value.ptr())) throw TypeError(op + "(): argument 'out' must be tuple of Tensors, not Tensor");
    if (!is_tensor(out.ptr())) throw TypeError(op + "(): argument 'out' must be Tensor, not " + Py_TYPE(out.ptr())->tp_name);
    const Tensor &target = unwrap(out.ptr()), &result = unwrap(value.ptr());
    if (!recorded) check_out_history(op.c_str(), target, result);
    check_out(op.c_str(), Out(rule), false, target, result.meta(), in);
    if (quiet && !(target.sizes() == result.sizes())) {
      resize(target, result.sizes());
      check_not_shifted(target, in);
    }
    write_out(op.c_str(), target, result);
    return out;
  }, py::arg("op"), py::arg("out"), py::arg("value"), py::arg("inputs"), py::arg("rule"), py::arg("recorded"), py::arg("quiet") = false,
     "Writes a result into an out=, whose shape it takes: without a warning where `quiet`.");
  m.def("result_type", [](py::args args, py::kwargs named) {
    std::vector<py::handle> all(args.begin(), args.end());
    for (auto [name, value] : named) {
      std::string key = py::str(name);
      check<TypeError>(key == "tensor" || key == "input" || key == "x1" || key == "other" || key == "x2", "result_type() got an unexpected keyword argument '", key, "'");
      all.push_back(value);
    }
    check<TypeError>(all.size() == 2, "result_type() takes 2 arguments, got ", all.size());
    Tensors in;
    for (py::handle o : all) {
      Tensor number;
      if (is_tensor(o.ptr())) in.push_back(unwrap(o.ptr()));
      else if ((number = number_operand(o.ptr()))) in.push_back(number);
      else throw TypeError("result_type(): arguments must be Tensors or Numbers");
    }
    return result_type(in);
  });
  m.def("promote_types", &promote_types);
  m.def("can_cast", &can_cast);
  m.def("get_default_dtype", &default_dtype);
  m.def("set_default_dtype", &set_default_dtype);
}

// pybind11 writes keyword names into its error message and ends the process where one is not UTF-8. Every function of the
// module goes through here first. Source: cpp_function::dispatcher in pybind11.h, which may not throw.
using FastCall = PyObject* (*)(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names);
FastCall dispatcher = nullptr;
PyObject* with_readable_keywords(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; i++)
    if (!PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i))) return nullptr;
  return dispatcher(self, args, nargs, names);
}

void guard_keywords(PyObject* dict) {
  PyObject *name, *o;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &o);) {
    if (PyInstanceMethod_Check(o)) o = PyInstanceMethod_GET_FUNCTION(o);
    if (PyType_Check(o) && reinterpret_cast<PyTypeObject*>(o) != &TensorType) guard_keywords(reinterpret_cast<PyTypeObject*>(o)->tp_dict);
    if (!PyCFunction_Check(o) || PyCFunction_GET_FLAGS(o) != (METH_FASTCALL | METH_KEYWORDS)) continue;
    PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(o)->m_ml;
    auto entry = reinterpret_cast<FastCall>(reinterpret_cast<void*>(method->ml_meth));
    if (!dispatcher) dispatcher = entry;
    if (entry == dispatcher) method->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(with_readable_keywords));
  }
}

}  // namespace
}  // namespace weir

// The first two protocols of pickle make an object by calling the first base class that Python has not made, which for classes of pybind11
// is one that ends the process. The third makes it by the class itself.
void pickle_by_class() {
  py::handle base(py::detail::get_internals().instance_base);
  base.attr("__reduce_ex__") = py::cpp_function([](py::handle self, int protocol) {
    return py::module_::import("builtins").attr("object").attr("__reduce_ex__")(self, std::max(protocol, 2));
  }, py::is_method(base));
}

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
  m.attr("_has_avx10") = has_avx10();
  m.attr("_LinAlgError") = py::reinterpret_borrow<py::object>(linalg_error());
  set_warner([](const std::string& text) {
    py::gil_scoped_acquire gil;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw py::error_already_set();
  });
  m.def("_warn_once", &warn_once);
  m.def("_keep_operators", [](const py::type& made) { keep_operators(*reinterpret_cast<PyTypeObject*>(made.ptr())); });
  m.def("_watch_tensors_of", [](const py::type& type) { watch_tensors_of(reinterpret_cast<PyTypeObject*>(type.ptr())); });
  m.def("_fill_unset_memory", [](bool on) { fill_unset_memory = on; });
  m.def("_warn_always", [](bool on) { WarnOnce::always = on; });
  pickle_by_class();
  init_types(m);
  init_size(m);
  init_tensor_type(m);
  init_ops(m);
  init_schema(m);
  init_arguments(m);
  init_autograd(m);
  init_saved(m);
  init_random(m);
  init_numpy(m);
  init_construct(m);
  init_dlpack(m);
  init_optimizer(m);
  init_batch(m);
  init_forward(m);
  init_graph(m);
  init_profile(m);
  init_factories(m);
  m.def("get_num_threads", &num_threads);
  m.def("set_num_threads", [](py::handle given) {
    const bool whole = (PyLong_Check(given.ptr()) && !PyBool_Check(given.ptr())) || (is_numpy_scalar(given.ptr()) && PyIndex_Check(given.ptr()));
    check(whole, "set_num_threads expects an int, but got ", Py_TYPE(given.ptr())->tp_name);
    int overflow;
    const long long n = PyLong_AsLongLongAndOverflow(given.ptr(), &overflow);
    check<ValueError>(!overflow, "Overflow when unpacking long long");
    check(int(n) > 0, "set_num_threads expects a positive integer");
    set_num_threads(int(n));
  });
  m.def("_set_flush_denormal", [](bool on) {
#ifdef __SSE__
    constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
    auto set = [on] { _mm_setcsr((_mm_getcsr() & ~(kFlushToZero | kDenormalsAreZero)) | (on ? kFlushToZero | kDenormalsAreZero : 0)); };
    on_every_thread(set);
    return true;
#else
    return !on;
#endif
  });
  m.def("_minimal_filtering", &minimal_filtering);
  m.def("_set_minimal_filtering", &set_minimal_filtering);
  m.def("_allocator_stats", [] {
    AllocatorStats s = allocator_stats();
    return py::make_tuple(s.in_use, s.peak, s.cached);
  });
  m.def("_empty_cache", [] { empty_cache(); });
  guard_keywords(PyModule_GetDict(m.ptr()));
}
