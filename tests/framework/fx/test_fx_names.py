"""fx: what programs that write their own tracers and code generators take from its modules, as PyTorch has it."""
import builtins
import math
import operator

import pytest
import torch
import torch.fx
import weir
import weir.fx

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


@pytest.mark.parametrize("expression", [
    "fx.graph.magic_methods", "fx.graph.reflectable_magic_methods", "fx.graph.inplace_methods", "fx.graph._origin_type_map",
    "list(fx.graph._custom_builtins)", "[made.import_str for made in fx.graph._custom_builtins.values()]",
    "{str(k): v for k, v in fx.graph.dtype_abbrs.items()}", "fx.graph._format_target('self', 'a.0.b')",
    "[fx.graph._is_from_torch(o) for o in (t.relu, t.nn.Linear, print, int, t)]",
    "[fx.node._type_repr(o) for o in (int, list[int], ..., t.nn.Linear, 3, t.Tensor)]",
    "[fx.node._get_qualified_name(f) for f in (t.relu, getattr, operator.add, t.nn.functional.relu, math.sqrt)]",
    "[fx.node._find_module_of_method(f).replace('weir', 'torch') for f in (print, t.manual_seed)]",
    "fx.graph_module._format_import_statement('inf', math.inf, None)"])
def test_answers_as_pytorch(expression):
    import math
    assert eval(expression, {"t": weir, "fx": weir.fx, "math": math, "operator": operator}) == eval(
        expression, {"t": torch, "fx": torch.fx, "math": math, "operator": operator})


@FRAMEWORKS
def test_names_are_given_once(F):
    names = F.fx.graph._Namespace()
    what = object()
    given = [names.create_name(c, None) for c in ("x", "x", "x_1", "x_5", "x_5", "if", "sum", "torch", "a-b", "1st", "")]
    assert given == ["x", "x_1", "x_2", "x_5", "x_6", "if_1", "sum_1", "torch_1", "a_b", "_1st", "_unnamed"]
    assert names.create_name("y", what) == names.create_name("z", what) == "y" and names.create_name("sum", builtins.sum) == "sum"
    with pytest.raises(AssertionError):
        names.associate_name_with_obj("other", what)
    names._rename_object(what, "w")
    assert names.create_name("y", what) == "w"


@FRAMEWORKS
def test_code_is_written_as_a_code_generator_says(F):
    class Checked(F.fx.graph.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation, **options):
            return super().gen_fn_def(free_vars, maybe_return_annotation, **options) + "\n    check()"

        def additional_globals(self):
            return [("check", lambda: calls.append(1))]
    calls = []
    traced = F.fx.symbolic_trace(lambda x, y: x + y)
    traced.graph.set_codegen(Checked())
    traced.recompile()
    assert traced(1, 2) == 3 and calls == [1] and "check()" in traced.code
    traced.graph.set_codegen(F.fx.graph._BoxedCodeGen())
    traced.recompile()
    given = [1, 2]
    assert traced(given) == 3 and not given
    assert [line.strip() for line in traced.code.strip().splitlines()][:5] == [
        "def forward(self, args_list):", "args_iter = iter(args_list)", "x = next(args_iter)", "y = next(args_iter)", "args_list.clear()"]


@FRAMEWORKS
def test_code_may_be_written_as_a_whole(F):
    class Own(F.fx.graph.CodeGen):
        def _gen_python_code(self, nodes, root_module, namespace, **options):
            globals_ = {}
            lines = []
            for node in nodes:
                if node.op == "call_function":
                    name = namespace.create_name(F.fx.node._get_qualified_name(node.target), node.target)
                    globals_[name] = node.target
                    lines.append(f"{node!r} = {name}({', '.join(map(repr, node.args))})")
            lines.append(self.generate_output(list(nodes)[-1].args[0]))
            head = self.gen_fn_def([repr(n) for n in nodes if n.op == "placeholder"], "")
            return F.fx.graph.PythonCode("\n    ".join([head, *lines]), globals_, *([] if F is weir else [None, None]))
    traced = F.fx.symbolic_trace(lambda _operator_mul, y: _operator_mul * y)
    traced.graph.set_codegen(Own())
    traced.recompile()
    assert traced(2, 3) == 6
    assert traced.code == "def forward(self, _operator_mul_1, y):\n    mul = _operator_mul(_operator_mul_1, y)\n    return mul"


@FRAMEWORKS
def test_an_item_that_is_set_is_written_so_and_stays(F):
    graph = F.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(operator.setitem, (x, 0, 5))
    graph.call_function(print, (x,))
    graph.output(x)
    assert graph.eliminate_dead_code()
    made = F.fx.GraphModule({}, graph)
    assert "x[0] = 5;  setitem = x;  setitem = None" in made.code and "print" not in made.code
    assert made([1])[0] == 5 and operator.setitem in F.fx.node._side_effectful_functions


@FRAMEWORKS
def test_attributes_by_dotted_names(F):
    root = F.nn.Module()
    F.fx.graph_module._assign_attr(F.ones(2), root, "a.b")
    F.fx.graph_module._assign_attr(F.nn.Parameter(F.ones(1)), root, "a.p")
    assert list(root.state_dict()) == ["a.p", "a.b"] and F.fx.graph_module._get_attr(root, "a.b").shape == (2,)
    with pytest.raises(AssertionError, match="Attribute 'c' not found in model"):
        F.fx.graph_module._get_attr(root, "c.b")
    with pytest.raises(AttributeError):
        F.fx.graph_module._get_attr(root, "a.c")


@FRAMEWORKS
def test_source_text_runs_and_its_lines_are_shown(F, capsys):
    forward = F.fx.graph_module._forward_from_src("def forward(self, x):\n    return k / x\n", {"k": 6})
    assert forward(None, 3) == 2

    class Module(F.nn.Module):
        pass
    Module.forward = forward
    call = F.fx.graph_module._WrappedCall(Module, None)
    assert call(Module(), 3) == 2
    with pytest.raises(ZeroDivisionError):
        call(Module(), 0)
    assert "line 2 of the traced Module's generated forward function:\ndef forward(self, x):" in capsys.readouterr().err


@FRAMEWORKS
def test_a_parameters_shape_is_known(F):
    graph = F.fx.Graph()
    weight = F.nn.Parameter(F.ones(2, 3))
    proxy = F.fx.proxy.ParameterProxy(F.fx.proxy.GraphAppendingTracer(graph), graph.get_attr("weight"), "weight", weight)
    assert repr(proxy) == "ParameterProxy(weight)" and proxy.shape == proxy.size() == (2, 3)
    assert proxy.dim() == proxy.ndim == 2 and proxy.numel() == proxy.nelement() == 6
    with pytest.raises(AssertionError):
        F.fx.proxy.ParameterProxy(proxy.tracer, proxy.node, "weight", 1)


@FRAMEWORKS
def test_scopes(F):
    Scope = F.fx.proxy.Scope
    scope = Scope("", None)
    with F.fx.proxy.ScopeContextManager(scope, Scope("layer", F.nn.Linear)) as inner:
        assert inner is scope and scope.module_path == "layer" and scope.module_type is F.nn.Linear
    assert scope.module_path == "" and scope.module_type is None


@FRAMEWORKS
def test_making_an_object_is_a_step(F):
    class Pair(metaclass=F.fx.ProxyableClassMeta):
        def __init__(self, left, right):
            self.left, self.right = left, right

        def total(self):
            return self.left + self.right
    kept = Pair(1, 2)
    assert Pair in F.fx._symbolic_trace._proxyable_classes
    traced = F.fx.symbolic_trace(lambda x, y: Pair(x, y).total())
    assert [n.op for n in traced.graph.nodes] == ["placeholder"] * 2 + ["call_function", "call_method", "output"]
    assert traced(3, 4) == 7
    constant = F.fx.symbolic_trace(lambda x: x.is_as(kept))
    assert "_Pair_constant_0" in constant.code


@FRAMEWORKS
def test_patches_are_taken_back(F):
    class Thing:
        def method(self):
            return 1
    names = {"f": 1}
    with F.fx._symbolic_trace._Patcher() as patcher:
        patcher.patch(names, "f", lambda: 2)
        patcher.patch(names, "len", lambda x: 3)
        patcher.patch_method(Thing, "method", lambda self: 4)
        patcher.patch_method(Thing, "method", lambda self: 5)
        assert names["f"]() == 2 and names["len"](()) == 3 and Thing().method() == 5
        patcher.revert_all_patches()
        assert names == {"f": 1}
        patcher.reapply_all_patches()
        assert names["f"]() == 2
        assert patcher.visit_once(names) and not patcher.visit_once(names)
    assert names == {"f": 1} and Thing().method() == 1




@FRAMEWORKS
def test_patterns_are_replaced_where_filters_say(F):
    traced = F.fx.symbolic_trace(lambda x, y: F.relu(x + y) * 2 + F.relu(y + 1) * 3)
    done = F.fx.subgraph_rewriter.replace_pattern_with_filters(
        traced, lambda a, b: F.relu(a + b) * 2, lambda a, b: F.abs(a - b), ignore_literals=True,
        match_filters=[lambda match, graph, pattern: match.placeholder_nodes[1] != 1])
    assert len(done) == 1 and [n.name for n in done[0].replacements] == ["sub", "abs_1"] and done[0].anchor.name == "mul"
    assert traced(F.tensor(1.0), F.tensor(4.0)) == 3 + 15
    assert [n.name for n in traced.graph.nodes] == ["x", "y", "add_1", "relu_1", "mul_1", "sub", "abs_1", "add_2", "output"]


@FRAMEWORKS
def test_patterns_of_several_results(F):
    def program(x):
        a = x.cos()
        b = x.sin()
        return (a + 1) * b, a - b
    traced = F.fx.symbolic_trace(program)
    assert len(F.fx.replace_pattern(traced, lambda x: (x.cos() + 1, x.sin()), lambda x: (x.cosh(), x.sinh()))) == 0  # cos is used elsewhere
    assert len(F.fx.replace_pattern(traced, lambda x: (x.cos(), x.sin()), lambda x: (x.cosh(), x.sinh()))) == 1
    assert [n.name for n in traced.graph.nodes] == ["x", "cosh", "sinh", "add", "mul", "sub", "output"]


@FRAMEWORKS
def test_a_replacement_is_made_for_each_match(F):
    traced = F.fx.symbolic_trace(lambda x: F.relu(F.relu(x) + 1))

    def instead(match, graph, pattern):
        made.append(match.returning_nodes[0].name)
        return F.fx.symbolic_trace(lambda x: x.abs() if len(made) == 1 else x.neg()).graph
    made = []
    F.fx.subgraph_rewriter.replace_pattern_with_filters(traced, lambda x: F.relu(x), replacement_callback=instead)
    assert made == ["relu", "relu_1"] and [n.name for n in traced.graph.nodes] == ["x", "abs_1", "add", "neg", "output"]
    with pytest.raises(AssertionError, match="replacement"):
        F.fx.subgraph_rewriter.replace_pattern_with_filters(traced, lambda x: x.neg())


@FRAMEWORKS
def test_nodes_are_named_as_in_pytorch(F):
    graph = F.fx.Graph()
    assert [graph.placeholder(n).name for n in ("_x", "*args", "__y__", "x_", "CamelCase", "_Ab2C")] == ["_x", "_args", "y", "x_", "camel_case", "_ab2c"]
    assert [graph.call_method(n).name for n in ("__add__", "add_", "_foo")] == ["add", "add_", "_foo"]
    assert [graph.call_module(n).name for n in ("a.b.Conv2d", "_m", "0.1")] == ["a_b_conv2d", "_m", "_0_1"]
    assert graph.call_function(F._assert).name == "_assert" and graph.get_attr("_w.x").name == "_w_x"


def _variable(x, *args, k=1, **kw):
    return x + args[0] * kw["a"] + k


def test_any_number_of_arguments_is_one_value():
    ours, theirs = weir.fx.symbolic_trace(_variable), torch.fx.symbolic_trace(_variable)
    assert ours.code == theirs.code
    assert ours(1, 2, 3, a=4) == theirs(1, 2, 3, a=4)
    for F in (weir, torch):
        class Module(F.nn.Module):
            def forward(self, *args):
                return args[0] - args[1]
        assert F.fx.symbolic_trace(Module())(5, 3) == 2


@FRAMEWORKS
def test_a_subclass_traces_by_itself(F):
    """As torch_geometric's does, whose modules are called by a `__call__` of their own."""
    st = __import__(f"{F.__name__}.fx._symbolic_trace", fromlist=["fx"])
    nn = F.nn

    class Odd(nn.Module):
        def __call__(self, *args):
            return super().__call__(*args)

        def forward(self, x):
            return F.relu(x)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.odd, self.lin, self.scale = Odd(), nn.Linear(2, 2), nn.Parameter(F.ones(2))

        def forward(self, x, *, shift=1, **rest):
            return F.nn.functional.gelu(self.lin(self.odd(x))) * self.scale + shift

    class Tracer(F.fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

        def trace(self, root, concrete_args=None):
            self.root, function = root, type(root).forward
            self.submodule_paths = {module: name for name, module in root.named_modules()}
            self.tensor_attrs = {}
            self.graph = F.fx.Graph(tracer_cls=type(self))
            table = function.__globals__
            function, args = self.create_args_for_root(function, True, concrete_args)
            cache = {}

            def module_getattr(module, name):
                return self.getattr(name, st._orig_module_getattr(module, name), cache)

            def module_call(module, *args, **kwargs):
                return self.call_module(module, lambda *a, **k: st._orig_module_call(module, *a, **k), args, kwargs)
            with st._Patcher() as patcher:
                patcher.patch_method(nn.Module, "__getattr__", module_getattr, deduplicate=False)
                patcher.patch_method(nn.Module, "__call__", module_call, deduplicate=False)
                patcher.patch_method(Odd, "__call__", module_call, deduplicate=False)
                st._patch_wrapped_functions(patcher)
                st._autowrap_check(patcher, table, self._autowrap_function_ids)
                for module in self._autowrap_search:
                    st._autowrap_check(patcher, vars(module), self._autowrap_function_ids)
                self.create_node("output", "output", (self.create_arg(function(*args)),), {}, type_expr=None)
            return self.graph
    graph = Tracer().trace(Net())
    assert [(n.op, n.name) for n in graph.nodes] == [
        ("placeholder", "x"), ("placeholder", "shift"), ("placeholder", "_rest"), ("call_module", "odd"), ("call_module", "lin"), ("call_function", "gelu"),
        ("get_attr", "scale"), ("call_function", "mul"), ("call_function", "add"), ("output", "output")]


@FRAMEWORKS
def test_new_nodes_go_where_they_were_told_from_then_on(F):
    graph = F.fx.Graph()
    x = graph.placeholder("x")
    graph.output(x)
    graph.inserting_after(x)  # without `with`
    first = graph.call_function(F.relu, (x,))
    with graph.inserting_before(first):
        graph.call_function(F.neg, (x,))
    graph.call_function(F.abs, (x,))
    with graph.inserting_before():
        graph.placeholder("y")
    assert [n.target for n in graph.nodes if n.op == "call_function"] == [F.abs, F.neg, F.relu] and next(iter(graph.nodes)).name == "y"
    with graph.inserting_after():
        graph.call_function(F.exp, (x,))
    assert list(graph.nodes)[-1].target is F.exp


@FRAMEWORKS
def test_functions_of_other_modules_become_nodes(F):
    graph = F.fx.symbolic_trace(lambda x: math.ceil(math.sqrt(x.shape[0]))).graph  # of math without being asked
    assert [n.name for n in graph.nodes if n.op == "call_function"] == ["getattr_1", "getitem", "sqrt", "ceil"]
    graph = F.fx.Tracer(autowrap_modules=(operator,), autowrap_functions=(hex,)).trace(lambda x: (operator.index(x), operator.truth(x)))
    assert [n.name for n in graph.nodes if n.op == "call_function"] == ["index", "truth"]
    with pytest.raises(TypeError):
        F.fx.symbolic_trace(lambda x: int(x))


@FRAMEWORKS
def test_conditions_and_counters_in_a_trace(F):
    class Net(F.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = F.nn.Linear(2, 2)
            self.register_buffer("seen", F.zeros(2))
            self.register_buffer("count", F.tensor(0))

        def forward(self, x):
            F._assert(x.ndim == 2, f"expected two axes, got {x.ndim}")
            self.count.add_(1)
            assert F.overrides.has_torch_function((x,))
            return self.lin(x) + self.seen
    net = Net()
    graph = F.fx.symbolic_trace(net).graph
    assert [n.name for n in graph.nodes] == ["x", "getattr_1", "eq", "getattr_2", "_assert", "lin", "seen", "add", "output"]
    assert net.count == 1 and not F.overrides.has_torch_function((F.ones(1),))
    F._assert(F.tensor(True), "fine")
    with pytest.raises(AssertionError, match="wrong"):
        F._assert(False, "wrong")

    class Every(F.fx.Tracer):
        proxy_buffer_attributes = True
    assert "count" in [n.name for n in Every().trace(Net()).nodes]
