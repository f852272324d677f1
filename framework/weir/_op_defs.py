"""An op of `torch.library`: which of its implementations answers a call, its gradients and its batches.

Source: torch._library.autograd (gradients, lists of tensors), torch._library.custom_ops (what a result may share).
"""
import functools

import weir
from weir import Tensor
from _weir import _batch_axes, _bump_version, _same_storage

from ._core_names import _AutoDispatchBelowAutograd
from ._op_schema import Schema
from .autograd.function import by_vmap_rule
from .utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

early_fakes: dict = {}  # "ns::name" -> fake of an op that nobody defined yet


class OpDef:
    """What is known of one overload of an op: schema, implementations, fake, gradient and rule for batches."""

    def __init__(self, name, schema, overload="", tags=()):
        self.name, self.overload, self.schema, self.tags = name, overload, Schema(name, overload, schema), list(tags)
        self.kernels, self.fake, self.backward, self.setup_context = {}, early_fakes.pop(self.full_name, None), None, None
        self.vmap, self.function = None, None
        self.disabled = set()  # kinds of kernels that `set_kernel_enabled` switched off

    @property
    def full_name(self):
        """"ns::name" or "ns::name.overload" """
        return f"{self.name}.{self.overload}" if self.overload else self.name

    def kernel(self, kind):
        return None if kind in self.disabled else self.kernels.get(kind)

    def __call__(self, *args, **kwargs):
        args, kwargs = self.schema.bind(args, kwargs)
        tensors = _tensors(args) + _tensors(kwargs.values())
        kind = tensors[0].device.type if tensors else self._kind_of_factory(args, kwargs)
        if kind == "meta" and self.fake is not None:
            return self.schema.result(self.fake(*args, **kwargs))
        axes = [a for t in tensors for a in _batch_axes(t)]
        if axes and self.vmap is not None:
            return by_vmap_rule(self.vmap, f"rule of {self.name}", *max(axes), args, kwargs)
        # What computes with ops has gradients as it is: a kernel of the autograd key, before all others, and a composite, after them.
        kernel = self.kernel("autograd") if not _AutoDispatchBelowAutograd.is_in_force() else None
        if kernel is not None:
            return self.schema.result(kernel(*args, **kwargs))
        kernel = self.kernel(kind) or self.kernel(None)
        if kernel is None and "composite" in self.kernels:
            return self.schema.result(self.kernels["composite"](*args, **kwargs))
        if kernel is None:
            raise NotImplementedError(f"Could not run '{self.full_name}' with arguments from the '{kind.upper()}' backend: it does not have a kernel "
                                      f"registered for {kind}.")
        if axes and not self.schema.is_mutable:
            return by_vmap_rule(functools.partial(_by_examples, self), self.name, *max(axes), (args, kwargs), {})
        if weir.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return _with_gradient(self, kernel, args, kwargs)
        return self.run(kernel, args, kwargs)

    def _kind_of_factory(self, args, kwargs):
        """Of a call without tensors: the device that it names decides."""
        return next((v.type for v in (*args, *kwargs.values()) if isinstance(v, weir.device)), "cpu")

    def run(self, kernel, args, kwargs):
        """The kernel's answer. What it says it writes has a new version, though it may have written behind the framework's back."""
        result = self.schema.result(kernel(*args, **kwargs))
        if self.schema.is_mutable:
            named = dict(zip((a.name for a in self.schema.arguments), args)) | kwargs
            for t in _tensors(named.get(name) for name in self.schema.mutated):
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
                    named = {"keyword_only_inputs": call.kwargs} if any(a.kwarg_only for a in op.schema.arguments) else {}
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
