"""An op of `torch.library`: which of its implementations answers a call, its gradients and its batches.

Source: torch._library.autograd (gradients, lists of tensors), torch._library.custom_ops (what a result may share).
"""
import ast
import functools
import inspect
import re

import weir
from weir import Tensor
from _weir import _batch_axes, _bump_version, _same_storage

from ._core_names import _AutoDispatchBelowAutograd
from .autograd.function import by_vmap_rule
from .utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

early_fakes: dict = {}  # "ns::name" -> fake of an op that nobody defined yet


class OpDef:
    """What is known of one op: schema, implementations, fake, gradient and rule for batches."""

    def __init__(self, name, schema):
        self.name, self.schema = name, schema
        self.kernels, self.fake, self.backward, self.setup_context = {}, early_fakes.pop(name, None), None, None
        self.vmap, self.function = None, None
        self.mutates = re.findall(r"Tensor\(\w+!\)\S*\s+(\w+)", schema)
        self.parameters = _parameters(schema)

    def bind(self, args, kwargs):
        """(all arguments in order, those by keyword only), defaults filled in, tuples as lists. RuntimeError where they do not fit the schema."""
        if self.parameters is None:
            return args, kwargs
        try:
            bound = inspect.Signature(self.parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self.name}() {error}. Declaration: {self.name}{self.schema}") from None
        bound.apply_defaults()
        return tuple(list(a) if isinstance(a, tuple) else a for a in bound.args), bound.kwargs

    def __call__(self, *args, **kwargs):
        args, kwargs = self.bind(args, kwargs)
        tensors = _tensors(args) + _tensors(kwargs.values())
        kind = tensors[0].device.type if tensors else "cpu"
        if kind == "meta" and self.fake is not None:
            return self.fake(*args, **kwargs)
        axes = [a for t in tensors for a in _batch_axes(t)]
        if axes and self.vmap is not None:
            return by_vmap_rule(self.vmap, f"rule of {self.name}", *max(axes), args, kwargs)
        # What computes with ops has gradients as it is: a kernel of the autograd key, before all others, and a composite, after them.
        kernel = self.kernels.get("autograd") if not _AutoDispatchBelowAutograd.is_in_force() else None
        if kernel is not None:
            return kernel(*args, **kwargs)
        kernel = self.kernels.get(kind) or self.kernels.get(None)
        if kernel is None and "composite" in self.kernels:
            return self.kernels["composite"](*args, **kwargs)
        if kernel is None:
            raise NotImplementedError(f"{self.name}: no implementation for device {kind}")
        if axes and not self.mutates:
            return by_vmap_rule(functools.partial(_by_examples, self), self.name, *max(axes), (args, kwargs), {})
        if weir.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return _with_gradient(self, kernel, args, kwargs)
        return self.run(kernel, args, kwargs)

    def run(self, kernel, args, kwargs):
        """The kernel's answer. What it says it writes has a new version, though it may have written behind the framework's back."""
        result = kernel(*args, **kwargs)
        if self.mutates:
            named = dict(zip((p.name for p in self.parameters), args)) | kwargs
            for t in _tensors(named.get(name) for name in self.mutates):
                _bump_version(t)
        return result


def _tensors(values):
    """The tensors among values and in lists among them, which is as deep as a schema can say."""
    found = []
    for x in values:
        if isinstance(x, Tensor):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            found += [y for y in x if isinstance(y, Tensor)]
    return found


class _Call:
    """A call of an op, and the structure of its results once they are there."""

    def __init__(self, kernel, args, kwargs, structure):
        self.kernel, self.args, self.kwargs, self.structure, self.results = kernel, args, kwargs, structure, None


def _with_gradient(op, kernel, args, kwargs):
    """The op as an autograd.Function, whose arguments and results are those within the op's, in order."""
    leaves, structure = tree_flatten(args)
    call = _Call(kernel, args, kwargs, structure)
    op.function = op.function or _function_of(op)
    return tree_unflatten(op.function.apply(call, *leaves), call.results)


def _function_of(op):
    class Generated(weir.autograd.Function):
        @staticmethod
        def forward(ctx, call, *leaves):
            args = tree_unflatten(leaves, call.structure)
            ctx.needs_input_grad = tree_unflatten(ctx.needs_input_grad[1:], call.structure)
            with _AutoDispatchBelowAutograd():
                output = op.run(call.kernel, args, call.kwargs)
                if op.setup_context is not None:
                    named = {"keyword_only_inputs": call.kwargs} if any(p.kind is p.KEYWORD_ONLY for p in op.parameters or ()) else {}
                    op.setup_context(ctx=ctx, inputs=args, output=output, **named)
            results, call.results = tree_flatten(output)
            ctx._structures = [len(tree_leaves(a)) for a in args], call.results
            return tuple(results)

        @staticmethod
        def backward(ctx, *grads):
            if op.backward is None:
                raise RuntimeError(f"Trying to backward through {op.name} but no autograd formula was registered. Please use "
                                   "register_autograd to add one.")
            counts, results = ctx._structures
            grads = tree_unflatten(grads, results)
            found = op.backward(ctx, *(grads if isinstance(grads, tuple) else (grads,)))
            return None, *_flat_gradients(op, counts, found if isinstance(found, tuple) else (found,))

    Generated.__name__ = f"GeneratedBackwardFor_{op.name.replace('::', '_')}_default"
    return Generated


def _flat_gradients(op, counts, grads):
    """One gradient for each leaf of the arguments, of which the i-th has counts[i]; None stands for all of an argument."""
    if len(grads) < len(counts) or any(g is not None for g in grads[len(counts):]):
        raise RuntimeError(f"{op.name}: backward returned an incorrect number of gradients (expected {len(counts)}, got {len(grads)})")
    flat = []
    for i, (count, grad) in enumerate(zip(counts, grads)):
        found = [None] * count if grad is None else tree_leaves(grad)
        if len(found) != count:
            raise RuntimeError(f"{op.name}: Expected the return from backward to be of the same structure as the inputs; argument {i} holds "
                               f"{count}, its gradient {len(found)}")
        flat += found
    return tuple(flat)


def _by_examples(op, info, in_dims, args, kwargs):
    """A batch's answer, one example after the other: a kernel may look at memory, where a tensor inside a vmap has no numbers of its own."""
    if info.batch_size == 0:
        raise RuntimeError(f"vmap: {op.name} has no rule for batches (register_vmap), and without one a batch may not be empty")
    leaves, structure = tree_flatten((args, kwargs))
    dims = tree_leaves(in_dims)
    answers = []
    for i in range(info.batch_size):
        example = [x if d is None else x.select(d, i) for x, d in zip(leaves, dims)]
        args, kwargs = tree_unflatten(example, structure)
        answers.append(op(*args, **kwargs))
    columns, specs = zip(*map(tree_flatten, answers))
    return tree_unflatten([weir.stack(column) for column in zip(*columns)], specs[0]), tree_map(lambda x: 0, answers[0])


def unaliased(op, kernel):
    """The kernel of a function decorated as an op. RuntimeError where a result has the memory of an argument or of another result."""
    @functools.wraps(kernel)
    def checked(*args, **kwargs):
        result = kernel(*args, **kwargs)
        seen = [t for t in _tensors(args) + _tensors(kwargs.values()) if t.layout is weir.strided]
        for t in _tensors(result if isinstance(result, tuple) else (result,)):
            if t.layout is not weir.strided:
                continue
            if any(_same_storage(t, other) for other in seen):
                raise RuntimeError(f"{op.name}: the output of this custom operator must not also be an input to this custom operator and may not alias any "
                                   "inputs to this custom operator or other returns. Return a clone of it (e.g. return x.clone()).")
            seen.append(t)
        return result
    return checked


_WORDS = {"True": True, "False": False, "None": None, "inf": float("inf")}


def _parameters(schema):
    """The parameters of "name(Tensor x, int n=1, *, float f=2.0) -> Tensor"; None for a text without parentheses."""
    match = re.search(r"\((.*)\)\s*->", schema, re.S)
    if match is None:
        return None
    inside = re.sub(r"\(\w+!?(?:\s*->\s*\w+)?\)", "", match[1])
    parameters, kind, depth, part = [], inspect.Parameter.POSITIONAL_OR_KEYWORD, 0, ""
    for c in inside + ",":
        depth += c in "[(" and 1 or -(c in "])")
        if c != "," or depth:
            part += c
            continue
        part, word = "", part.strip()
        if word == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif word:
            declared, _, default = word.partition("=")
            name = declared.split()[-1]
            default = default.strip()
            parameters.append(inspect.Parameter(name, kind, default=inspect.Parameter.empty if not default else _value(default)))
    return parameters


def _value(text):
    if text in _WORDS:
        return _WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
