#include "framework/binding/autograd.h"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/autograd/batch.h"
#include "framework/autograd/engine.h"
#include "framework/autograd/forward.h"
#include "framework/autograd/nodes.h"
#include "framework/binding/convert.h"
#include "framework/binding/saved.h"
#include "framework/op/autocast.h"
#include "framework/op/call.h"

namespace py = pybind11;

namespace weir {
namespace {

py::object object(const Tensor& t) { return py::cast(t); }

Tensors tensors(const py::handle& seq) {
  Tensors out;
  for (py::handle o : seq) {
    if (o.is_none()) out.emplace_back();
    else if (is_tensor(o.ptr())) out.push_back(unwrap(o.ptr()));
    else throw TypeError(str("expected Tensor or None, got ", Py_TYPE(o.ptr())->tp_name));
  }
  return out;
}

// A Python callable that C++ owns: released and called with the interpreter lock held.
std::shared_ptr<py::object> shared(py::object fn) {
  return {new py::object(std::move(fn)), [](py::object* o) {
            py::gil_scoped_acquire gil;
            delete o;
          }};
}

Hook python_hook(py::object fn) {
  return [f = shared(std::move(fn))](const Tensor& g) {
    py::gil_scoped_acquire gil;
    py::object r = (*f)(object(g));
    if (r.is_none()) return Tensor();
    if (!is_tensor(r.ptr())) throw TypeError("hook: expected Tensor or None");
    return unwrap(r.ptr());
  };
}

// The node of a custom autograd.Function: `backward` is a Python callable from the node and gradients to gradients, `context` the
// object that forward left for it.
struct FunctionNode : Node {
  std::shared_ptr<py::object> backward_fn, context;
  std::string label;
  FunctionNode(py::object fn, py::object ctx, std::string name)
      : backward_fn(shared(std::move(fn))), context(shared(std::move(ctx))), label(std::move(name)) {}
  void release() override {
    py::gil_scoped_acquire gil;
    context->attr("_release")();
  }
  std::string name() const override { return label; }
  Tensors apply(Tensors&& grads) override {
    py::gil_scoped_acquire gil;
    py::tuple args(grads.size() + 1);
    args[0] = node_object(NodeRef::share(this));
    for (size_t i = 0; i < grads.size(); i++) args[i + 1] = object(grads[i]);
    py::object r = (*backward_fn)(*args);
    Tensors out = tensors(PyTuple_Check(r.ptr()) || PyList_Check(r.ptr()) ? r : py::object(py::make_tuple(r)));
    check(out.size() <= next.size() || [&] {
      for (size_t i = next.size(); i < out.size(); i++) if (out[i]) return false;
      return true;
    }(), label, ": returned an incorrect number of gradients (expected ", next.size(), ", got ", out.size(), ")");
    check(out.size() >= next.size(), label, ": returned an incorrect number of gradients (expected ", next.size(), ", got ", out.size(), ")");
    out.resize(next.size());
    for (size_t i = 0; i < out.size(); i++)  // what ops give the engine casts; a function is told of what it would lose
      if (const auto& [to, index] = next[i]; out[i] && to && index < to->metas.size())
        check(!is_complex(out[i].dtype()) || is_complex(to->metas[index].meta().dtype), label, ": returned a complex gradient for input ", i, ", which is real");
    return out;
  }
};

// Places in the graph of tensors, and of pairs of a node and the number of one of its outputs.
std::vector<Edge> edges(const py::handle& seq, std::vector<Edge> (*of)(const Tensors&)) {
  std::vector<Edge> out;
  Tensors run;
  auto flush = [&] {
    for (Edge& e : of(run)) out.push_back(std::move(e));
    run.clear();
  };
  for (py::handle o : seq) {
    if (is_tensor(o.ptr())) {
      run.push_back(unwrap(o.ptr()));
      continue;
    }
    check<TypeError>(PyTuple_Check(o.ptr()) && PyTuple_GET_SIZE(o.ptr()) == 2, "expected Tensor or GradientEdge, got ", Py_TYPE(o.ptr())->tp_name);
    flush();
    auto [node, index] = o.cast<std::pair<PyNode, uint32_t>>();
    check(index < node.node->metas.size(), "GradientEdge: ", node.node->name(), " has no output ", index);
    out.push_back({node.node, index});
  }
  flush();
  return out;
}

py::object run_backward(py::handle roots, py::handle grads, py::handle inputs, bool retain, bool create, bool accumulate) {
  std::vector<Edge> r = edges(roots, root_edges), in = edges(inputs, input_edges);
  for (py::handle o : inputs)
    if (accumulate && is_tensor(o.ptr())) retain_grad(unwrap(o.ptr()));
  Tensors g = tensors(grads), out;
  {
    py::gil_scoped_release nogil;
    out = backward(r, g, in, {retain, create, accumulate});
  }
  py::tuple t(out.size());
  for (size_t i = 0; i < out.size(); i++) t[i] = object(out[i]);
  return t;
}

// Hooks of nodes get and give tuples of tensors or None; nothing, or None, leaves the gradients as they are.
Node::NodeHook node_hook(py::function fn, bool both) {
  return [f = shared(std::move(fn)), both](const Tensors& first, const Tensors& second) {
    py::gil_scoped_acquire gil;
    auto tuple = [](const Tensors& ts) {
      py::tuple t(ts.size());
      for (size_t i = 0; i < ts.size(); i++) t[i] = object(ts[i]);
      return t;
    };
    py::object r = both ? (*f)(tuple(first), tuple(second)) : (*f)(tuple(first));
    if (r.is_none()) return Tensors();
    Tensors changed = tensors(py::isinstance<py::tuple>(r) || py::isinstance<py::list>(r) ? r : py::object(py::make_tuple(r)));
    check(changed.size() == first.size(), "hook has returned an incorrect number of values (got ", changed.size(), ", but expected ", first.size(), ")");
    return changed;
  };
}

std::atomic<uint64_t> next_listener{1};
uint64_t listen(std::vector<Node::Listener>& to, py::function fn, bool both) {
  to.push_back({next_listener++, node_hook(std::move(fn), both)});
  return to.back().id;
}

py::object metadata_of(const PyNode& n) {
  if (!n.node->metadata) n.node->metadata = shared(py::dict());
  return *static_cast<py::object*>(n.node->metadata.get());
}

std::string python_location() {
  py::gil_scoped_acquire gil;
  py::object lines = py::module_::import("traceback").attr("format_stack")();
  return py::str("").attr("join")(lines).cast<std::string>();
}

}  // namespace

std::shared_ptr<SavedHooks> saved_hooks_of(py::function pack, py::function unpack) {
  auto hooks = std::make_shared<SavedHooks>();
  hooks->pack = [f = shared(pack)](const Tensor& t) -> std::shared_ptr<void> {
    py::gil_scoped_acquire gil;
    return shared((*f)(object(t)));
  };
  hooks->unpack = [f = shared(unpack)](const std::shared_ptr<void>& packed) {
    py::gil_scoped_acquire gil;
    py::object t = (*f)(*static_cast<py::object*>(packed.get()));
    check<TypeError>(is_tensor(t.ptr()), "Output of saved tensor unpack_hook expected to be a Tensor but got ", Py_TYPE(t.ptr())->tp_name);
    return unwrap(t.ptr());
  };
  return hooks;
}

// A class per kind of node, as in PyTorch: programs that walk the graph look at the class's name.
py::object node_object(const NodeRef& node) {
  static auto& kinds = *new std::map<std::string, py::object>;  // kept to the end: Python may be gone before
  py::object& kind = kinds[node->name()];
  if (!kind) {
    py::dict body;
    body["__module__"] = "builtins";
    body["__slots__"] = py::tuple();
    kind = py::type::of(py::type::of<PyNode>())(node->name(), py::make_tuple(py::type::of<PyNode>()), body);
  }
  return kind(PyNode{node});
}

void init_autograd(py::module_& m) {
  user_location = python_location;
  py::class_<PyNode>(m, "Node")
      .def(py::init<const PyNode&>())
      .def("name", [](const PyNode& n) { return n.node->name(); })
      .def("__repr__", [](const PyNode& n) { return "<" + n.node->name() + " object>"; })
      .def("__eq__", [](const PyNode& a, const PyNode& b) { return a.node == b.node; })
      .def("__hash__", [](const PyNode& n) { return reinterpret_cast<intptr_t>(n.node.get()); })
      .def_property_readonly("metadata", &metadata_of)
      .def_property_readonly("variable", [](const PyNode& n) {
        auto* leaf = dynamic_cast<AccumulateGrad*>(n.node.get());
        if (!leaf) throw py::attribute_error(n.node->name() + " has no variable: only AccumulateGrad has");
        return leaf->leaf;
      })
      .def("__getattr__", [](const PyNode& n, const std::string& attribute) {
        if (auto* function = dynamic_cast<FunctionNode*>(n.node.get())) return py::object(function->context->attr(attribute.c_str()));
        if (py::object saved = saved_attribute(n.node, attribute)) return saved;
        throw py::attribute_error("'" + n.node->name() + "' object has no attribute '" + attribute + "'");
      }, "Of a custom function's node: what its forward left on ctx; of an op's: what it saved for backward.")
      .def("__dir__", [](py::handle self) {
        py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(self);
        for (const std::string& name : saved_names(self.cast<const PyNode&>().node)) names.append(name);
        return names;
      })
      .def("_sequence_nr", [](const PyNode& n) { return n.node->sequence; })
      .def("_listen_after", [](const PyNode& n, py::function fn) { return listen(n.node->after, std::move(fn), true); })
      .def("_listen_before", [](const PyNode& n, py::function fn) { return listen(n.node->before, std::move(fn), false); })
      .def("_forget", [](const PyNode& n, uint64_t id) {
        for (auto* listeners : {&n.node->before, &n.node->after}) std::erase_if(*listeners, [id](auto& l) { return l.id == id; });
      })
      .def_property_readonly("next_functions", [](const PyNode& n) {
        py::list out;
        for (const Edge& e : n.node->next)
          out.append(py::make_tuple(e.node ? node_object(e.node) : py::object(py::none()), e.index));
        return py::tuple(out);
      });
  m.def("_set_saved_hooks", [](py::object pack, py::object unpack) {
    mode.packs = !pack.is_none();
    if (pack.is_none()) saved_hooks.reset();
    else saved_hooks = saved_hooks_of(py::function(pack), py::function(unpack));
  });
  m.def("_set_anomaly", [](bool on) { mode.anomaly = on; });
  m.def("_anomaly_enabled", [] { return mode.anomaly; });
  m.def("_backward", run_backward);
  m.def("_add_hook", [](const Tensor& t, py::function fn) { return add_hook(t, python_hook(fn)); });
  m.def("_remove_hook", [](const Tensor& t, uint64_t id) { remove_hook(t, id); });
  m.def("_add_post_accumulate_hook", [](const Tensor& x, py::function fn) {
    TensorImpl* raw = x.get();  // owned, the hook would keep its own tensor alive
    return add_after_accumulate(x, [raw, f = shared(fn)] {
      py::gil_scoped_acquire gil;
      const py::object x = object(Tensor(Ref<TensorImpl>::share(raw))), result = (*f)(x);
      check(result.is_none() || result.is(x), "Tensor post accumulate grad hooks should return None.");
    });
  });
  // Records tensors as the results of a custom function. `dirty` are those of its inputs that it changed and gives back.
  m.def("_function_node", [](py::object fn, py::object ctx, const std::string& name, py::handle inputs, py::handle outputs, py::handle dirty) {
    Tensors results = tensors(outputs), changed = tensors(dirty);
    auto was_changed = [&](const Tensor& t) { return std::find(changed.begin(), changed.end(), t) != changed.end(); };
    for (const Tensor& t : changed) check_inplace_allowed(name, t);
    auto* node = new FunctionNode(std::move(fn), std::move(ctx), name);
    NodeRef ref(node);
    const Tensors given = tensors(inputs);
    for (const Tensor& t : given) node->next.push_back(t ? gradient_edge(t) : Edge{});
    lift_edges(*node, given, results);
    node->metas.resize(results.size());
    for (uint32_t i = 0; i < results.size(); i++) {
      if (!results[i]) continue;
      if (was_changed(results[i]) && results[i].is_view()) {
        check(results.size() == 1, name, ": a Function that changes a view in place must have it as its only result");
        rebase_history(results[i], ref);
      } else {
        set_history(results[i], ref, i);
      }
    }
  });
  m.def("_output_of", [](const PyNode& n, const Tensor& t, uint32_t i) {
    Tensor shown = without_history(t);
    put_at(shown, {n.node, i});
    return shown;
  }, "The result number i of a node, kept without its history: with it again.");
  m.def("_queue_callback", [](py::function fn) {
    at_end_of_backward([f = shared(fn)] {
      py::gil_scoped_acquire gil;
      (*f)();
    });
  });
  m.def("_current_graph_task_id", current_pass);
  m.def("_will_engine_execute_node", [](const PyNode& n) { return pass_runs(n.node->sequence); });
  m.def("_pass_runs", pass_runs);
  m.def("_bump_version", [](const Tensor& t) { bump_version(t); });
  m.def("_rebase", [](const Tensor& t) { grad_fn(t); });

  m.def("is_grad_enabled", [] { return mode.grad; });
  m.def("_set_grad_enabled", [](bool on) { mode.grad = on; });
  m.def("_set_keeps_grad_layout", [](bool on) { return std::exchange(keeps_grad_layout, on); });
  m.def("is_inference_mode_enabled", [] { return mode.inference; });
  m.def("_set_inference", [](bool on) { mode.inference = on; });
  m.def("_set_autocast", [](bool on, DType dtype) {
    mode.autocast = on;
    mode.autocast_dtype = dtype;
  });
  m.def("_clear_autocast_cache", clear_autocast_cache);
  m.def("_autocast_enabled", [] { return mode.autocast; });
  m.def("_autocast_dtype", [] { return mode.autocast_dtype; });
}

}  // namespace weir
