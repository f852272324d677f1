"""Custom differentiable functions. Source: https://pytorch.org/docs/stable/notes/extending.html"""
import functools
import inspect
import warnings
from collections import namedtuple

from _weir import (Tensor, _batch_axes, _bump_version, _forward_level, _function_node, _into_batch, _out_of_batch, _output_of, _vmap_randomness,
                   _set_grad_enabled, is_grad_enabled, ops)

from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_map, tree_unflatten
from .grad_mode import no_grad
from .graph import hooks_in_force

_zeros = ops["torch"]["zeros"]
_RELEASED = ("Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved "
             "intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
             "backward through the graph a second time or if you need to access saved tensors after calling backward.")


class FunctionCtx:
    """What forward leaves for backward."""

    to_save = needs_input_grad = saved_for_forward = ()
    _kept = _non_differentiable = _dirty = ()
    _node, _pushing, _materialize = None, False, True

    def save_for_backward(self, *tensors):
        """Keeps inputs and results; `saved_tensors` raises when one was changed in place since."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keeps tensors that `saved_tensors` gives to `jvp`."""
        self.saved_for_forward = tensors

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def mark_dirty(self, *tensors):
        """Says which inputs forward changed in place; all of them must be results."""
        self._dirty = tensors

    def set_materialize_grads(self, value):
        """With False, backward gets None for results that no gradient reached, instead of zeros."""
        self._materialize = value

    def _keep(self, outputs):
        """Takes what was saved. A result is kept without its history, which would hold this object."""
        hooks = hooks_in_force()
        kept = []
        for i, t in enumerate(self.to_save):
            if t is None:
                kept.append((None, 0, None, None))
                continue
            if not isinstance(t, Tensor):
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}")
            number = _place(t, outputs)
            t = t.detach() if number is not None else t
            if hooks:
                with no_grad():
                    kept.append((hooks[0](t), None, number, hooks[1]))
            else:
                kept.append((t, t._version, number, None))
        self._kept, self.to_save = tuple(kept), ()

    def _unpacked(self, value, version, number, unpack):
        if unpack is not None:
            value = unpack(value)
        elif value is None:
            return None
        elif value._version != version:
            raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                               f"operation: a saved tensor of shape {tuple(value.shape)} is at version {value._version}; "
                               f"expected version {version} instead")
        return value if number is None or self._node is None or number in self._unrecorded else _output_of(self._node, value, number)

    @property
    def saved_tensors(self):
        """The saved tensors: in `jvp` those for forward, else those for backward. RuntimeError once a backward pass has freed them."""
        if self._pushing:
            return self.saved_for_forward
        if self._kept is None:
            raise RuntimeError(_RELEASED)
        return tuple(self._unpacked(*entry) for entry in self._kept)

    @property
    def saved_variables(self):
        """saved_tensors, by its name before PyTorch 0.4."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def _release(self):
        """The graph was freed: nothing saved is kept any longer."""
        self._kept = None if self._kept else ()


def _with_defaults(cls, args, kwargs):
    """The arguments with those that forward has a default for, as setup_context gets them."""
    code = getattr(cls.forward, "__code__", None)
    if code is None or len(args) >= code.co_argcount or kwargs:
        return args
    bound = inspect.signature(cls.forward).bind(*args)
    bound.apply_defaults()
    return bound.args


def _place(t, tensors):
    for i, x in enumerate(tensors):
        if t is x:
            return i
    return None


def _among(t, tensors):
    return _place(t, tensors) is not None


def _differentiable(ctx, t):
    return isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex()) and not _among(t, ctx._non_differentiable)


class Function(FunctionCtx):
    """Subclass with static `forward(ctx, *args)` (or `forward(*args)` and `setup_context`) and `backward(ctx, *grads)` (or `vjp`)."""

    generate_vmap_rule = False

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static "
                           "forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)")

    @classmethod
    def apply(cls, *args, **kwargs):
        return cls._applied(args, kwargs)[0]

    @classmethod
    def _applied(cls, args, kwargs):
        """(results, what forward left)"""
        if (level := _forward_level(args)) is not None:
            return _pushed(cls, level, args, kwargs)
        if cls.vmap is not Function.vmap and (axes := [a for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor) for a in _batch_axes(x)]):
            return by_vmap_rule(cls.vmap, f"vmap staticmethod of {cls.__name__}", *max(axes), args, kwargs), None
        separate = cls.setup_context is not Function.setup_context
        if separate:
            args = _with_defaults(cls, args, kwargs)
        ctx = FunctionCtx()
        ctx.needs_input_grad = needs = tuple([isinstance(a, Tensor) and a.requires_grad for a in args])
        recording = is_grad_enabled()
        _set_grad_enabled(False)
        try:
            result = cls.forward(*args, **kwargs) if separate else cls.forward(ctx, *args, **kwargs)
            if separate:
                cls.setup_context(ctx, args, result)
        finally:
            _set_grad_enabled(recording)
        many = isinstance(result, (tuple, list))
        returned = result if many else (result,)
        outputs = [_shown(ctx, t) if isinstance(t, Tensor) and _among(t, args) else t for t in returned]
        for t in ctx._dirty:
            _bump_version(t)  # as for any write, beside those that forward made itself
            if not _among(t, returned):
                raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
                                   "modified inplace must all be outputs of the Function.")
        if not (recording and True in needs):
            return type(result)(outputs) if type(result) in (tuple, list) else result if many else outputs[0], ctx
        backward = _backward_of(cls)
        ctx._keep(outputs)
        recorded = [t if _differentiable(ctx, r) else None for t, r in zip(outputs, returned)]
        ctx._unrecorded = {i for i, t in enumerate(recorded) if t is None}
        shapes = [(t.shape, t.dtype) if isinstance(t, Tensor) else None for t in outputs]

        def run(node, *grads):
            if ctx._materialize:
                grads = [_zeros(s[0], dtype=s[1]) if g is None and s is not None else g for g, s in zip(grads, shapes)]
            ctx._node = node
            try:
                return backward(ctx, *grads)
            finally:
                ctx._node = None

        inputs = [a if needed else None for a, needed in zip(args, needs)]
        _function_node(run, ctx, cls.__name__ + "Backward", inputs, recorded, [t for t in ctx._dirty if _among(t, recorded) and _among(t, args)])
        return tuple(outputs) if many else outputs[0], ctx

    @staticmethod
    def forward(*args, **kwargs):
        """The values: `forward(ctx, *args)`, or `forward(*args)` beside `setup_context`."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """What forward(*args) leaves on ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the arguments, one each, None for what has none."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """The tangents of the results, one for each: of the arguments' tangents, zeros for a tensor without one, None for what is no tensor."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with forward mode AD.")

    @staticmethod
    def vmap(info, in_dims, *args):
        """The function of a batch: (results, where the batch's dim is in each). Without one, forward runs on examples as any function does.

        info: its batch_size and randomness. in_dims: 0 for each of args that has the batch's dim, None for others.
        """
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
                                  "generate_vmap_rule=True.")


def _pushed(cls, level, args, kwargs):
    """A call of which an argument has a tangent: its forward sees none, its jvp all."""
    plain = [level.outside(a) if isinstance(a, Tensor) else a for a in args]
    result, ctx = cls._applied(plain, kwargs)
    if cls.setup_context is not Function.setup_context:  # each derivative has its own
        ctx = FunctionCtx()
        cls.setup_context(ctx, tuple(plain), result)
    if ctx is None:
        raise NotImplementedError(f"{cls.__name__}: forward mode of a Function that has a vmap and no setup_context")
    tangents = [level.tangent(a) if isinstance(a, Tensor) else None for a in args]
    if ctx._materialize:
        tangents = [_zeros(a.shape, dtype=a.dtype) if t is None and isinstance(a, Tensor) and a.is_floating_point() else t for t, a in zip(tangents, args)]
    ctx._pushing = True
    try:
        pushed = cls.jvp(ctx, *tangents)
    finally:
        ctx._pushing = False
    many = isinstance(result, (tuple, list))
    results, pushed = (list(result) if many else [result]), (list(pushed) if isinstance(pushed, (tuple, list)) else [pushed])
    if len(pushed) != len(results):
        raise RuntimeError(f"{cls.__name__}.jvp returned an incorrect number of tangents (expected {len(results)}, got {len(pushed)})")
    for i, (y, t) in enumerate(zip(results, pushed)):
        written, mine = next(((a, tangent) for a, p, tangent in zip(args, plain, tangents) if p is y), (None, None)) if _among(y, ctx._dirty) else (None, None)
        if written is not None and mine is not None and t is not mine:
            raise RuntimeError("An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying an input "
                               "inplace, then the jvp function must modify the corresponding gradient inplace.")
        if t is not None and isinstance(y, Tensor) and not _differentiable(ctx, y):
            raise RuntimeError(f"{cls.__name__}.jvp returned a tangent for output {i}, which is not differentiable. You should return None at that "
                               "position instead.")
        if t is not None and _differentiable(ctx, y):
            results[i] = y = y.view_as(y) if _among(y, plain) else y
            level.give(y, t)
        if written is not None:  # the argument has the numbers already; it gets their history and tangent
            results[i] = written.copy_(y)
    return type(result)(results) if many else results[0], ctx


class InplaceFunction(Function):
    """A Function that may be told to work in place. Kept for programs that derive from it."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def _shown(ctx, t):
    """An input handed back, or a tensor with a history of its own, which must not be relabelled, as a view. Source of those that have no
    derivative though they were written to: PyTorch's set_history, which detaches them too."""
    dirty = _among(t, ctx._dirty)
    if dirty and not (t.requires_grad and _among(t, ctx._non_differentiable)):
        return t
    return t.detach() if t.is_sparse or dirty else t.detach().view(t.shape)  # whose strides follow its shape where one element is


VmapInfo = namedtuple("VmapInfo", ["batch_size", "randomness"])


def by_vmap_rule(rule, name, level, size, args, kwargs):
    """What rule(info, in_dims, *args, **kwargs) says of a batch. RuntimeError where that is no pair of results and their batch's dims."""
    def in_batch(x):
        return isinstance(x, Tensor) and any(own == level for own, _ in _batch_axes(x))

    def whole(x):
        return _out_of_batch(x, 0, level, size) if in_batch(x) else x
    dims = tree_map(lambda x: 0 if in_batch(x) else None, args)
    answer = rule(VmapInfo(size, _vmap_randomness(level)), dims, *tree_map(whole, args), **tree_map(whole, kwargs))
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise RuntimeError(f"Expected the {name} to have two returns, the output and out_dims; got {type(answer)}")
    results, spec = tree_flatten(answer[0])
    places = _broadcast_to_and_flatten(answer[1], spec, is_leaf=lambda d: d is None)
    if places is None:
        raise RuntimeError(f"The {name} returned an incompatible (output, out_dims) pair: {answer[1]} does not fit the output")
    return tree_unflatten([x if d is None else _into_batch(x, d, level) for x, d in zip(results, places)], spec)


def _backward_of(cls):
    """Its backward, or the vjp that stands for it."""
    own, other = cls.backward is not Function.backward, cls.vjp is not Function.vjp
    if own and other:
        def refuse(ctx, *grads):
            raise RuntimeError("Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them.")
        return refuse
    return cls.vjp if other else cls.backward


def _refuse_twice(node, *grads):
    raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(fn):
    """Marks a backward that is not itself differentiable: to differentiate its results raises RuntimeError."""
    @functools.wraps(fn)
    def wrapped(ctx, *args):
        with no_grad():
            result = fn(ctx, *args)
        if not is_grad_enabled():
            return result
        roots = [a if isinstance(a, Tensor) and a.requires_grad else None for a in args]
        if not any(r is not None for r in roots):
            return result
        many = isinstance(result, tuple)
        shown = [t.detach() if isinstance(t, Tensor) else t for t in (result if many else (result,))]
        _function_node(_refuse_twice, FunctionCtx(), "DelayedError", roots, [t if isinstance(t, Tensor) else None for t in shown], [])
        return tuple(shown) if many else shown[0]
    return wrapped
