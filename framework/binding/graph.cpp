#include "framework/binding/graph.h"

#include <set>
#include <unordered_map>

#include "framework/binding/convert.h"
#include "framework/graph/cuda_source.h"
#include "framework/graph/passes.h"
#include "framework/graph/plan.h"
#include "framework/graph/spec.h"
#include "framework/graph/split.h"
#include "framework/graph/text.h"
#include "framework/graph/trace.h"
#include "framework/io/graph_file.h"
#include "framework/op/copy.h"
#include "framework/serve/model.h"

namespace py = pybind11;

namespace weir {
namespace {

using graph::Graph;
using graph::Place;
using graph::Plan;
using graph::Trace;

const std::string* interned(const std::string& s) {
  static std::set<std::string> all;
  return &*all.insert(s).first;
}

std::string package_folder = "/";       // frames of files below it are not the user's
thread_local const std::string* module_path = nullptr;

// The user's file that a code object comes from; null for the package's own.
const std::string* user_file(PyCodeObject* code) {
  static std::unordered_map<PyCodeObject*, const std::string*> known;  // holds a reference to each
  auto it = known.find(code);
  if (it != known.end()) return it->second;
  std::string file(text_of(code->co_filename));
  bool own = file.rfind(package_folder, 0) == 0 || file.rfind("<frozen", 0) == 0;
  Py_INCREF(code);
  return known[code] = own ? nullptr : interned(file);
}

// The innermost frame outside the package.
Place place_in_python() {
  py::gil_scoped_acquire gil;
  Place p;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    p.file = user_file(code);
    Py_DECREF(code);
    if (p.file) p.line = PyFrame_GetLineNumber(frame);
    PyFrameObject* outer = p.file ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  p.module = module_path;
  return p;
}

py::list listed(const Tensors& tensors) {
  py::list r;
  for (const Tensor& t : tensors) r.append(t ? py::reinterpret_steal<py::object>(must(wrap(t))) : py::none());
  return r;
}
Tensors tensors_of(py::handle sequence) {
  Tensors r;
  for (py::handle o : sequence) r.push_back(o.is_none() ? Tensor() : o.cast<Tensor>());
  return r;
}

py::dict node_of(const Graph& g, size_t i) {
  const graph::Node& n = g.nodes.at(i);
  auto shown = [&](const std::vector<graph::Use>& uses) {
    py::list r;
    for (const graph::Use& u : uses) {
      if (u.value < 0) r.append(py::none());
      else r.append(py::make_tuple(u.value, ints_object(u.meta.sizes), std::string(name_of(u.meta.dtype))));
    }
    return r;
  };
  py::dict d;
  d["op"] = std::string(n.type->signature->name);
  d["attributes"] = graph::attributes_of(*n.type, n.op.data());
  d["inputs"] = shown(n.in);
  d["outputs"] = shown(n.out);
  d["file"] = n.place.file ? py::object(py::str(*n.place.file)) : py::none();
  d["line"] = n.place.line;
  d["module"] = n.place.module ? *n.place.module : std::string();
  return d;
}

}  // namespace

void init_graph(py::module_& m) {
  init_watch(m);
  init_channel(m);
  graph::current_place = place_in_python;
  m.def("_traced_draws", [] { return graph::current() && !graph::current()->paused() ? graph::current()->draws() : 0; });
  m.attr("_Untraceable") = py::reinterpret_borrow<py::object>(untraceable_error(false));
  m.attr("_DynamicShape") = py::reinterpret_borrow<py::object>(untraceable_error(true));
  m.def("_is_tracing", [] { return mode.recorder != nullptr; });
  m.def("_set_package_folder", [](const std::string& folder) { package_folder = folder; });
  m.def("_set_module_path", [](const std::string& path) {
    std::string before = module_path ? *module_path : "";
    module_path = interned(path);
    return before;
  });
  // An argument gets the shape, and where it had to grow the values, that a program in which it was reshaped has for it.
  m.def("_reshape_as", [](const Tensor& argument, const Tensor& result) {
    if (argument->storage == result->storage) return set_geometry(argument, result.sizes(), result.strides(), result->offset);
    GradMode off(false);
    resize(argument, result.sizes());
    if (is_non_overlapping_and_dense(result.sizes(), result.strides())) set_geometry(argument, result.sizes(), result.strides(), argument->offset);
    copy_into(argument, result);
  });
  m.def("_is_symbolic", [](const Tensor& t) { return t->storage->symbolic; });
  // What a plan depends on beyond an argument's values: geometry, dtype, which arguments share memory and how, flags.
  m.def("_arguments_key", [](py::handle args) {
    Tensors t = tensors_of(args);
    std::string key;
    auto put = [&](int64_t x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
    std::vector<graph::Argument> memory = graph::memory_of(t);
    for (const Tensor& x : t) {
      size_t k = 0;
      while (!(t[memory[k].first]->storage == x->storage)) k++;
      put(int64_t(k));
      put((x->flags & (kRequiresGrad | kInference | kMarks)) | (x->base ? 1 << 20 : 0));
      put(int(x.dtype()));
      put(int(x.device().type));
      put(x->offset - memory[k].base / int64_t(size_of(x.dtype())));  // the place a trace gives it
      put(memory[k].base % int64_t(size_of(x.dtype())));
      put(x.ndim());
      for (int64_t s : x.sizes()) put(s);
      for (int64_t s : x.strides()) put(s);
    }
    return py::bytes(key);
  });

  py::class_<graph::Taken>(m, "_Taken").def("__lt__", [](const graph::Taken& a, const graph::Taken& b) { return a < b; })
      .def("__eq__", [](const graph::Taken& a, const graph::Taken& b) { return a == b; })
      .def("__hash__", [](const graph::Taken& t) { return t.argument * 1000003 + t.at * 31 + t.bytes; });
  m.def("_facts_of", [](const std::vector<graph::Taken>& taken, bool whole, py::handle args) { return py::bytes(graph::facts_of(taken, whole, tensors_of(args))); });
  m.def("_number_of", [](const Tensor& t) { return py::reinterpret_steal<py::object>(scalar_object(graph::number_of(t))); });

  py::class_<Trace>(m, "_Trace")
      .def(py::init<>())
      .def("arguments", [](Trace& t, py::handle args, bool numbers_can_be_taken, bool whole) { return listed(t.arguments(tensors_of(args), numbers_can_be_taken, whole)); },
           py::arg("args"), py::arg("numbers_can_be_taken") = false, py::arg("whole") = false)
      .def("taken", &Trace::taken)
      .def("asked_place", &Trace::asked_place)
      .def("late_argument", [](Trace& t, const Tensor& like) {
        Meta m(like.sizes(), like.dtype(), like.device());
        if (is_non_overlapping_and_dense(like.sizes(), like.strides())) m.strides = like.strides();
        return t.late_argument(m);
      })
      .def("forbid_accumulation", &Trace::forbid_accumulation)
      .def("pause", &Trace::pause)
      .def("resume", &Trace::resume)
      .def("reshaped", &Trace::reshaped)
      .def("finish", [](Trace& t, py::handle results, bool reshaped_are_shown) { return std::make_shared<Graph>(t.finish(tensors_of(results), reshaped_are_shown)); },
           py::arg("results"), py::arg("reshaped_are_shown") = false)
      .def("stop", &Trace::stop)
      .def("__len__", &Trace::size);

  py::class_<Graph, std::shared_ptr<Graph>>(m, "_Graph")
      .def("__len__", [](const Graph& g) { return g.nodes.size(); })
      .def("__str__", [](const Graph& g) { return graph::to_string(g); })
      .def("node", &node_of)
      .def("check", &graph::check_legal)
      .def("cuda_source", [](const Graph& g, size_t i, const std::string& name) {
        check<IndexError>(i < g.nodes.size(), "cuda_source: expected a node below ", g.nodes.size(), ", got ", i);
        graph::CudaKernel kernel = graph::cuda_source(g, i, name);
        return std::tuple(kernel.text, kernel.count, kernel.threads, kernel.per_block);
      })
      .def("mlir", [](const Graph& g) { return graph::to_mlir(g); })
      .def("from_mlir", [](const Graph& g, const std::string& text) {  // over this graph's memory
        return std::make_shared<Graph>(graph::from_mlir(text, [&](const std::string& name, size_t) {
          std::vector<int> numbers = graph::numbers_in_text(g);
          for (size_t b = 0; b < g.buffers.size(); b++)
            if (name == graph::name_in_text(numbers[b]) && g.buffers[b].storage) return g.buffers[b].storage;
          throw ValueError("no memory named " + name);
        }));
      })
      .def("save", [](const Graph& g, const std::string& path, const std::string& structure) { io::save_graph(path, {g, structure}); })
      .def("externals", [](const Graph& g) {  // tensors of bytes over what the program holds
        py::list r;
        for (const graph::Buffer& b : g.buffers)
          if (b.kind == graph::Kind::external) r.append(alias(b.storage, DType::uint8, Dims{int64_t(b.storage->bytes)}, Dims{1}, 0));
        return r;
      });

  m.def("_split_graph", [](const Graph& g, int at, int results, int arguments) {
    graph::Halves h = graph::split(g, at, results, arguments);
    py::list externals;
    for (const StorageRef& s : h.externals) externals.append(alias(s, DType::uint8, Dims{int64_t(s->bytes)}, Dims{1}, 0));
    return py::make_tuple(std::make_shared<Graph>(std::move(h.forward)), std::make_shared<Graph>(std::move(h.backward)), h.num_saved,
                          h.arguments, externals);
  });

  py::class_<serve::Model>(m, "_Model")
      .def(py::init<const std::string&>())
      .def_property_readonly("structure", &serve::Model::structure)
      .def_property_readonly("arguments", [](const serve::Model& model) {
        py::list r;
        for (const Meta& a : model.arguments()) r.append(py::make_tuple(ints_object(a.sizes), py::reinterpret_borrow<py::object>(dtype_object(a.dtype))));
        return r;
      })
      .def_property_readonly("graph", [](const serve::Model& model) { return model.plan().graph(); })
      .def_property_readonly("arena_bytes", [](const serve::Model& model) { return model.plan().arena_bytes(); })
      .def("run", [](serve::Model& model, py::handle args) {
        Tensors in = tensors_of(args), out;
        {
          py::gil_scoped_release nogil;
          out = model.run(in);
        }
        return listed(out);
      });

  py::class_<Plan>(m, "_Plan")
      .def(py::init([](const Graph& g, bool optimize, bool add_to_output, bool cast_scale, bool freeze_weights, std::optional<size_t> memory_budget,
                       bool saves_memory, std::optional<size_t> row_block) {
             graph::Options options{add_to_output, cast_scale, freeze_weights};
             options.saves_memory = saves_memory;
             if (memory_budget) options.memory_budget = *memory_budget;
             if (row_block) options.row_blocks = {0, *row_block};
             return new Plan(optimize ? graph::optimized(g, options) : g);
           }), py::arg("graph"), py::arg("optimize") = true, py::arg("add_to_output") = true, py::arg("cast_scale") = true,
           py::arg("freeze_weights") = false, py::arg("memory_budget") = py::none(), py::arg("saves_memory") = false, py::arg("row_block") = py::none())
      .def("run", [](Plan& p, py::handle args) {
        Tensors in = tensors_of(args), out;
        {
          py::gil_scoped_release nogil;
          out = p.run(in);
        }
        return listed(out);
      })
      .def("profile", [](Plan& p, py::handle args) {
        Tensors in = tensors_of(args);
        py::gil_scoped_release nogil;
        return p.profile(in);
      })
      .def("memory_report", &Plan::memory_report)
      .def_property_readonly("stale", &Plan::stale)
      .def_property_readonly("graph", &Plan::graph)
      .def_property_readonly("arena_bytes", &Plan::arena_bytes)
      .def_property_readonly("live_bytes", &Plan::live_bytes);
}

}  // namespace weir
