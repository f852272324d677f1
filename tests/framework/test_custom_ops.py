"""Ops written in Python (`torch.library`): gradients, lists of tensors and batches, as PyTorch has them."""

import copy
import itertools
from collections.abc import Sequence
from typing import Optional, Union

import pytest
import torch
import weir

_numbers = itertools.count()  # an op's name may be taken once in a process


def _both(make):
    """[(framework, make(framework, a name of its own)) of PyTorch and weir]"""
    name = f"custom_ops_test::op{next(_numbers)}"
    return [(F, make(F, name)) for F in (torch, weir)]


def _same(told):
    theirs, ours = told
    assert ours == theirs


def _scaled(F, name):
    def scaled(x, by):
        return F.tensor(x.detach().numpy() * by.detach().numpy())
    scaled.__annotations__ = {"x": F.Tensor, "by": F.Tensor, "return": F.Tensor}
    return F.library.custom_op(name, scaled, mutates_args=())


def test_backward_is_told_which_arguments_need_a_gradient():
    told = []
    for F, op in _both(_scaled):
        seen = []

        def backward(ctx, g):
            seen.append(tuple(ctx.needs_input_grad))
            x, by = ctx.saved_tensors
            return g * by if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[1] else None
        op.register_autograd(backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
        x, by = F.tensor([1.0, 2.0], requires_grad=True), F.tensor([3.0, 4.0], requires_grad=True)
        op(x, by).sum().backward()
        op(x, by.detach()).sum().backward()
        told.append((seen, x.grad.tolist(), by.grad.tolist()))
    _same(told)


def _joined(F, name):
    def joined(xs, n):
        return F.cat([F.tensor(x.detach().numpy()) for x in xs]) * n
    joined.__annotations__ = {"xs": Sequence[F.Tensor], "n": int, "return": F.Tensor}
    return F.library.custom_op(name, joined, mutates_args=())


def test_a_list_of_tensors_has_gradients():
    told = []
    for F, op in _both(_joined):
        seen = []

        def keep(ctx, inputs, output):
            ctx.lengths, ctx.n = [len(x) for x in inputs[0]], inputs[1]

        def backward(ctx, g):
            seen.append(ctx.needs_input_grad[0])
            return [part * ctx.n for part in g.split(ctx.lengths)], None
        op.register_autograd(backward, setup_context=keep)
        xs = [F.ones(2, requires_grad=True), F.ones(1), F.ones(3, requires_grad=True)]
        y = op(xs, 2)
        (y * F.arange(6.0)).sum().backward()
        told.append((y.tolist(), seen, xs[0].grad.tolist(), xs[1].grad, xs[2].grad.tolist()))
    _same(told)


def _parts(F, name):
    def parts(x, n):
        return [p.clone() for p in x.detach().chunk(n)]
    parts.__annotations__ = {"x": F.Tensor, "n": int, "return": list[F.Tensor]}
    return F.library.custom_op(name, parts, mutates_args=())


def test_backward_gets_the_gradients_of_a_list_as_a_list():
    told = []
    for F, op in _both(_parts):
        op.register_autograd(lambda ctx, grads: (F.cat(grads), None))
        x = F.ones(4, requires_grad=True)
        a, b = made = op(x, 2)
        (a.sum() + 3 * b.sum()).backward()
        told.append((type(made), x.grad.tolist()))
    _same(told)


def test_without_a_formula_results_of_a_list_require_grad_and_refuse_backward():
    for F, op in _both(_joined):
        y = op([F.ones(2), F.ones(2, requires_grad=True)], 1)
        assert y.requires_grad
        with pytest.raises(RuntimeError, match="no autograd"):
            y.sum().backward()


def test_keyword_arguments_and_first_derivatives_of_derivatives():
    told = []

    def make(F, name):
        def power(x, *, n=3):
            return F.tensor(x.detach().numpy() ** n)
        power.__annotations__ = {"x": F.Tensor, "n": int, "return": F.Tensor}
        return F.library.custom_op(name, power, mutates_args=())
    for F, op in _both(make):
        def keep(ctx, inputs, keyword_only_inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.n = keyword_only_inputs["n"]

        def backward(ctx, g, op=op):
            return g * ctx.n * op(ctx.saved_tensors[0], n=ctx.n - 1)
        op.register_autograd(backward, setup_context=keep)
        x = F.tensor([2.0], requires_grad=True)
        first, = F.autograd.grad(op(x).sum(), x, create_graph=True)
        second, = F.autograd.grad(first.sum(), x)
        told.append((first.tolist(), second.tolist()))
    _same(told)


def _numpy_sorted(F, name):
    def numpy_sorted(x, dim):
        x = x.detach().numpy()
        return F.tensor(x.copy()).sort(dim).values, F.tensor(x.argsort(dim))
    numpy_sorted.__annotations__ = {"x": F.Tensor, "dim": int, "return": tuple[F.Tensor, F.Tensor]}
    return F.library.custom_op(name, numpy_sorted, mutates_args=())


@pytest.mark.parametrize("in_dims", [(0, None), (1, None), (2, None)])
def test_vmap_of_an_op_without_a_rule_takes_one_example_at_a_time(in_dims):
    told = []
    for F, op in _both(_numpy_sorted):
        x = F.tensor([[[3.0, 1.0], [2.0, 5.0]], [[0.0, 4.0], [9.0, 6.0]]])
        told.append([t.tolist() for t in (*F.vmap(op, in_dims)(x, -1), *F.vmap(F.vmap(op, (0, None)), in_dims)(x, 0))])
    _same(told)


def test_vmap_uses_the_rule_of_an_op():
    told = []
    for F, op in _both(_scaled):
        seen = []

        @op.register_vmap
        def rule(info, in_dims, x, by, op=op):
            seen.append((info.batch_size, [d is None for d in in_dims]))
            x, by = (t.unsqueeze(-1) if d is None else t.movedim(d, -1) for t, d in zip((x, by), in_dims))
            return op(x, by), -1
        x, by = F.arange(6.0).reshape(2, 3), F.tensor([1.0, 2.0, 3.0])
        told.append((F.vmap(op, (0, None))(x, by).tolist(), F.vmap(op, (1, 0))(x, by).tolist(), seen))
    _same(told)


def test_gradients_of_an_op_for_a_batch_of_cotangents():
    for F, op in _both(_scaled):
        op.register_autograd(lambda ctx, g, op=op: (op(g, ctx.saved_tensors[1]), op(g, ctx.saved_tensors[0])),
                             setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))
        inputs = [F.tensor([1.0, 2.0], dtype=F.float64, requires_grad=True), F.tensor([3.0, 4.0], dtype=F.float64, requires_grad=True)]
        assert F.autograd.gradcheck(op, inputs, check_batched_grad=True)


def test_a_result_may_not_be_an_input():
    def make(F, name):
        def same(x):
            return x
        same.__annotations__ = {"x": F.Tensor, "return": F.Tensor}
        return F.library.custom_op(name, same, mutates_args=())
    for F, op in _both(make):
        with pytest.raises(RuntimeError, match="must not"):
            op(F.ones(2))


def test_too_many_arguments_are_a_runtime_error():
    for F, op in _both(_scaled):
        with pytest.raises(RuntimeError):
            op(F.ones(2), F.ones(2), 3)
        with pytest.raises(RuntimeError):
            op(F.ones(2))


def test_what_an_op_writes_counts_as_a_version():
    told = []

    def make(F, name):
        def add_one(x):
            x.detach().numpy()[...] += 1
        add_one.__annotations__ = {"x": F.Tensor, "return": None}
        return F.library.custom_op(name, add_one, mutates_args=("x",))
    for F, op in _both(make):
        x, w = F.zeros(2), F.ones(2, requires_grad=True)
        y = x * w
        before = x._version
        op(x)
        told.append((x.tolist(), x._version - before))
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    _same(told)


def test_texts_of_an_op():
    told = []
    for F, op in _both(_scaled):
        packet = getattr(F.ops.custom_ops_test, op._qualname.split("::")[1])
        told.append((repr(op), str(packet), str(packet.default), packet.default.name(), str(packet.default._schema)))
    _same(told)


def test_two_results_of_nothing_share_no_memory():
    for F, op in _both(lambda F, name: F.library.custom_op(name, lambda x: (F.zeros(0), F.zeros(0)), mutates_args=(), schema="(Tensor x) -> (Tensor, Tensor)")):
        assert [len(t) for t in op(F.ones(2))] == [0, 0]


def test_sizes_reach_a_kernel_as_lists():
    told = []

    def make(F, name):
        def shaped(x, shape):
            kinds.append(type(shape))
            return F.tensor(x.numpy().reshape(shape))
        shaped.__annotations__ = {"x": F.Tensor, "shape": Sequence[int], "return": F.Tensor}
        return F.library.custom_op(name, shaped, mutates_args=())
    kinds = []
    for F, op in _both(make):
        kinds.clear()
        x = F.arange(12.0).reshape(2, 6)
        told.append((F.vmap(op, (0, None))(x, F.ones(2, 3).shape).tolist(), op(x, (3, 4)).tolist(), set(kinds)))
    _same(told)


def _outcome(F, call):
    """What a call gives, or the class of its error; both frameworks' dtypes and devices as text."""
    try:
        value = call(F)
    except Exception as error:
        return "NotImplementedError" if isinstance(error, NotImplementedError) else type(error).__name__
    return str(value).replace("weir", "torch")


def _annotated(F, **annotations):
    def seen(x, a=None, b=3.14, e="foo", f=F.float, i=F.device("cpu:0")):
        seen.told += [a, b, e, f, i]
        return x.clone()
    seen.told = []
    seen.__annotations__ = {"x": F.Tensor, "a": Optional[int], "b": float, "e": str, "f": F.dtype, "i": F.device, "return": F.Tensor, **annotations}
    return seen


def test_a_kernel_sees_defaults_as_they_are():
    told = []
    for F, seen in _both(lambda F, name: (_annotated(F), name)):
        kernel, name = seen
        op = F.library.custom_op(name, kernel, mutates_args=())
        op(F.ones(1))
        op(F.ones(1), True, 2, "bar", F.int32, "cpu")
        told.append(str(kernel.told).replace("weir", "torch"))
    _same(told)


@pytest.mark.parametrize("call", [
    lambda F, op: op(F.ones(1), 2.5), lambda F, op: op(F.ones(1), "a"), lambda F, op: op(3, 2), lambda F, op: op(F.ones(1), None),
    lambda F, op: op(F.ones(1), F.tensor(3)), lambda F, op: op(F.ones(1), True), lambda F, op: op(F.ones(1), [3]), lambda F, op: op()])
def test_arguments_are_held_to_the_declaration(call):
    def plus(F, name):
        def plus(x, n):
            return x + n
        plus.__annotations__ = {"x": F.Tensor, "n": int, "return": F.Tensor}
        return F.library.custom_op(name, plus, mutates_args=())
    _same([_outcome(F, lambda F, op=op: call(F, op)) for F, op in _both(plus)])


@pytest.mark.parametrize("annotation, result", [
    (int, lambda x: "abc"), (float, lambda x: 3), (None, lambda x: x.clone()), (None, lambda x: None), ("pair", lambda x: [x + 1, x + 2]),
    ("list", lambda x: (x + 1, x + 2)), ("tensor", lambda x: 3), ("tensor", lambda x: None)])
def test_results_are_held_to_the_declaration(annotation, result):
    def made(F, name):
        def made(x):
            return result(x)
        given = {"pair": tuple[F.Tensor, F.Tensor], "list": list[F.Tensor], "tensor": F.Tensor}.get(annotation, annotation)
        made.__annotations__ = {"x": F.Tensor, "return": given}
        return F.library.custom_op(name, made, mutates_args=())
    _same([_outcome(F, lambda F, op=op: op(F.ones(1))) for F, op in _both(made)])


@pytest.mark.parametrize("mutates", [(), ("x",), "unknown", "x", ("q",), ("k",)])
def test_what_a_function_is_said_to_write(mutates):
    told = []
    for F in (torch, weir):
        def f(x, y, z, w, k):
            return None
        f.__annotations__ = {"x": F.Tensor, "y": Optional[F.Tensor], "z": list[F.Tensor], "w": list[Optional[F.Tensor]], "k": int, "return": None}
        told.append(_outcome(F, lambda F, f=f: F.library.infer_schema(f, mutates_args=mutates)))
    _same(told)


@pytest.mark.parametrize("annotations", [
    {"x": "Tensor", "a": Optional[Sequence[int]], "return": "Tensor"}, {"x": "list[Tensor]", "return": "tuple[Tensor, int, list[Tensor]]"},
    {"x": "tuple[int, int]"}, {"x": dict}, {"return": "Optional[Tensor]"}, {"return": "dict"}, {"x": "Tensr"}, {"a": Union[int, float, bool]}])
def test_declarations_of_annotations(annotations):
    told = []
    for F in (torch, weir):
        space = {"Tensor": F.Tensor, "Optional": Optional}
        exec("def f(x, a=None): return x", space)
        space["f"].__annotations__ = {"x": F.Tensor, "a": Optional[int], "return": F.Tensor, **annotations}
        told.append(_outcome(F, lambda F, space=space: F.library.infer_schema(space["f"], mutates_args=(), op_name="my")))
    _same(told)


def test_an_annotation_of_a_result_is_asked_for():
    for F in (torch, weir):
        def f(x: F.Tensor):
            return x
        with pytest.raises(ValueError, match="No return type annotation"):
            F.library.infer_schema(f, mutates_args=())


def _library(F, kind="FRAGMENT"):
    return F.library.Library(f"custom_ops_test_{next(_numbers)}_{F.__name__}", kind)


def _overloaded(F):
    lib = _library(F)
    for schema in ("f(Tensor x) -> Tensor", "f.n(Tensor x, int n) -> Tensor", "f.s(Tensor x, Tensor y, *, str s) -> Tensor"):
        lib.define(schema)
    lib.impl("f", lambda x: x + 1, "CPU")
    lib.impl("f.n", lambda x, n: x * n, "CPU")
    lib.impl("f.s", lambda x, y, s: x - y, "CPU")
    return lib, getattr(F.ops, lib.ns).f


def test_overloads_of_one_name():
    told = []
    for F in (torch, weir):
        lib, f = _overloaded(F)
        x = F.ones(1)
        texts = f.overloads(), str(f.n), f.n.name(), f.default.name(), str(f.n._schema), repr(f.s), f.n._overloadname, f.n._opname
        told.append((f(x).item(), f(x, 5).item(), f(x, x, s="a").item(), f.default(x).item(), f.n(x, 3).item(), f.n.namespace == lib.ns,
                     f.n is getattr(F.ops, lib.ns).f.n, str(texts).replace(lib.ns, "ns"), _outcome(F, lambda F: f("s")), _outcome(F, lambda F: f.other),
                     [(a.name, a.kwarg_only, a.has_default_value()) for a in f.s._schema.arguments]))
    _same(told)


@pytest.mark.parametrize("use", [
    lambda F, lib: lib.define("g(Tensor x) -> Tensor"), lambda F, lib: lib.define("f(Tensor x) -> Tensor"), lambda F, lib: lib.define("g"),
    lambda F, lib: lib.define("g(Tensr x) -> Tensor"), lambda F, lib: F.library.define(f"{lib.ns}::g", "g(Tensor x) -> Tensor"),
    lambda F, lib: F.library.define(f"{lib.ns}.g", "(Tensor x) -> Tensor"), lambda F, lib: F.library.impl(f"{lib.ns}::f", "nothing", lambda x: x),
    lambda F, lib: getattr(F.ops, lib.ns).g, lambda F, lib: lib.impl("f", lambda x: x, "CPU", allow_override=False),
    lambda F, lib: F.library.Library("prim", "DEF"), lambda F, lib: F.library.Library("aten", "DEF")])
def test_what_a_library_refuses(use):
    told = []
    for F in (torch, weir):
        lib, _ = _overloaded(F)
        told.append(_outcome(F, lambda F, lib=lib: use(F, lib) is None))
    _same(told)


def test_one_library_defines_a_namespace():
    for F in (torch, weir):
        lib = _library(F, "DEF")
        with pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY"):
            F.library.Library(lib.ns, "DEF")


def test_kernels_may_come_before_what_they_implement():
    for F in (torch, weir):
        lib = _library(F)
        lib.impl("late", lambda x: x + 2, "CPU")
        lib.define("late(Tensor x) -> Tensor")
        assert getattr(F.ops, lib.ns).late(F.ones(1)).item() == 3


def test_decorators_of_old_define_and_implement():
    for F in (torch, weir):
        lib = _library(F)

        @F.library.define(lib, "f(Tensor x) -> Tensor")
        def f(x):
            return x + 1
        lib.define("g(Tensor x) -> Tensor")

        @F.library.impl(lib, "g", "CPU")
        def g(x):
            return x + 2
        ops = getattr(F.ops, lib.ns)
        assert (ops.f(F.ones(1)).item(), ops.g(F.ones(1)).item()) == (2, 3)


def test_ops_go_with_their_library():
    for F in (torch, weir):
        with F.library._scoped_library(f"custom_ops_test_scoped_{F.__name__}", "FRAGMENT") as lib:
            lib.define("f(Tensor x) -> Tensor")
            lib.impl("f", lambda x: x * 2, "CPU")
            assert getattr(F.ops, lib.ns).f(F.ones(1)).item() == 2
        assert not hasattr(getattr(F.ops, lib.ns), "f")


def test_a_kernel_can_be_switched_off_for_a_while():
    told = []
    for F, op in _both(_scaled):
        op.register_kernel("cpu", lambda x, by: x + 10)
        x = F.ones(1)
        seen = [op(x, x).item()]
        with op.set_kernel_enabled("cpu", False):
            seen.append(op(x, x).item())
        told.append((*seen, op(x, x).item()))
    _same(told)


def test_an_op_without_tensors_runs_where_its_device_says():
    def made(F, name):
        def made(device):
            return F.ones(3)
        made.__annotations__ = {"device": F.device, "return": F.Tensor}
        return F.library.custom_op(name, made, mutates_args=(), device_types="cpu")
    for F, op in _both(made):
        assert op(device="cpu").tolist() == [1, 1, 1]
        with pytest.raises(RuntimeError, match="does not have a kernel registered for cuda"):
            op("cuda")


def test_gradients_are_refused_where_they_have_no_place():
    for F, name in _both(lambda F, name: name):
        def writes(x):
            x.sin_()
        writes.__annotations__ = {"x": F.Tensor, "return": None}
        F.library.custom_op(name, writes, mutates_args=("x",))
        with pytest.raises(RuntimeError, match="non-functional operator"):
            F.library.register_autograd(name, lambda ctx, g: g)

        def by_keyword(x, *, y):
            return x + y
        by_keyword.__annotations__ = {"x": F.Tensor, "y": F.Tensor, "return": F.Tensor}
        with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
            F.library.custom_op(name + "_by_keyword", by_keyword, mutates_args=())


def test_copies_of_an_op_are_the_op():
    for F in (torch, weir):
        lib, f = _overloaded(F)
        assert copy.deepcopy(f) is f
        assert copy.deepcopy(f.n) is f.n
        assert not hasattr(f, "_nothing")
