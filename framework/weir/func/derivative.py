"""Gradients, products with Jacobians, Jacobians and Hessians of functions, by the backward pass and by forward mode.

A function's inputs enter it as fresh aliases, so that derivatives nest: an inner derivative is recorded, and an outer one
goes through it. Results keep a history only where something outside requires grad.
"""
import functools
import threading

import weir
from _weir import _ForwardLevel, _tangents, _without_history
from weir import Tensor
from weir._functorch.vmap import vmap
from weir.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten


def _alias(tensor, fresh):
    """`tensor` as a non-leaf to differentiate by; the leaves made for that are gathered in `fresh`."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"expected tensors to differentiate by, but got {type(tensor).__name__}")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError(f"expected input to be of a floating dtype, but got {tensor.dtype}")
    if not tensor.requires_grad:
        tensor = (tensor.clone() if tensor.is_inference() else _without_history(tensor)).requires_grad_()
        fresh.append(tensor)
    return tensor.view_as(tensor)


class _Running(threading.local):
    """How many derivatives run on this thread: within one, results keep what outer ones differentiate by."""
    count = 0


_running = _Running()


def _leaf_node(leaf):
    """The node of the graph at which gradients of a leaf end."""
    return leaf.view_as(leaf).grad_fn.next_functions[0][0]


def _outside(tensor, fresh):
    """Does tensor's history reach a leaf that requires grad, other than the fresh ones?"""
    if tensor.grad_fn is None:
        return tensor.requires_grad and all(tensor is not t for t in fresh)
    seen, nodes = {_leaf_node(t) for t in fresh}, [tensor.grad_fn]
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        if node.name() == "AccumulateGrad":
            return True
        seen.add(node)
        nodes += [n for n, _ in node.next_functions if n is not None]
    return False


def _released(tree, fresh):
    """Tensors of the tree without a history that ends in fresh leaves alone, or without any where recording is off."""
    recording = weir.is_grad_enabled()

    def release(t):
        if not isinstance(t, Tensor):
            return t
        with weir.enable_grad():
            keeps = not t.requires_grad or recording and (_running.count > 0 or _outside(t, fresh))
        released = t if keeps else _without_history(t)
        for level, tangent in _tangents(t):
            if tangent.requires_grad:
                level.give(released, release(tangent))
        return released
    return tree_map(release, tree)


class _Recording:
    """The scope of one derivative: recording is on, and its fresh leaves are known to be a derivative's."""

    def __init__(self):
        self.fresh = []

    def __enter__(self):
        _running.count += 1
        self._modes = weir.inference_mode(False), weir.enable_grad()
        for mode in self._modes:
            mode.__enter__()
        return self.fresh

    def __exit__(self, *exc):
        for mode in reversed(self._modes):
            mode.__exit__(*exc)
        _running.count -= 1


def _pullback(output, inputs, cotangent):
    """Gradients of one output by the inputs, zeros where it does not depend on them."""
    if not output.requires_grad:
        return [weir.zeros_like(x) for x in inputs]
    found = weir.autograd.grad(output, inputs, cotangent, retain_graph=True, create_graph=True, allow_unused=True)
    return [weir.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def _pullback_all(outputs, inputs, cotangents):
    """Sums over the outputs of gradients by the inputs."""
    pairs = [(o, c) for o, c in zip(outputs, cotangents) if o.requires_grad]
    if not pairs:
        return [weir.zeros_like(x) for x in inputs]
    found = weir.autograd.grad([o for o, _ in pairs], inputs, [c for _, c in pairs], retain_graph=True, create_graph=True,
                               allow_unused=True)
    return [weir.zeros_like(x) if g is None else g for g, x in zip(found, inputs)]


def _numbers(argnums, count):
    """argnums as a tuple of positions. RuntimeError for none, for one out of range or given twice."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnum must be int or Tuple[int, ...], got: {type(argnums)}")
    given = argnums if isinstance(argnums, tuple) else (argnums,)
    if not given:
        raise RuntimeError("argnums must be non-empty")
    for n in given:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -count <= n < count:
            raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    places = tuple(n % count for n in given)
    if len(set(places)) < len(places):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return places


def _with_aux(result, who):
    """(output, aux) as a function with has_aux gives them. RuntimeError for anything else."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{who}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for leaf in tree_leaves(result[1]):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{who}: Expected tensors, got unsupported type {type(leaf)}")
    return result


def _tensors_of(output, who):
    """(leaves, structure) of what a function gives. RuntimeError unless these are tensors, at least one."""
    outputs, spec = tree_flatten(output)
    if output is None or not outputs:
        raise RuntimeError(f"{who}: Expected f to be a function that has non-empty output (got output = {output})")
    for o in outputs:
        if not isinstance(o, Tensor):
            raise RuntimeError(f"{who}: expected f(*primals) to return only tensors, got {type(o)}")
    return outputs, spec


def _check_real(tensors, who, what):
    for t in tensors:
        if isinstance(t, Tensor) and t.is_complex():
            raise RuntimeError(f"{who}: Expected all {what} to be real but received complex tensor")


def _with_aliases(args, argnums, fresh):
    """(args with aliases in the chosen places, the chosen trees, their leaves)."""
    chosen = [tree_map(lambda t: _alias(t, fresh), args[n]) for n in _numbers(argnums, len(args))]
    new = list(args)
    for n, tree in zip(_numbers(argnums, len(args)), chosen):
        new[n] = tree
    return new, chosen, tree_leaves(chosen)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function of (gradient, value) of func, which gives one number; with has_aux (gradient, (value, aux))."""
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Recording() as fresh:
            new, chosen, leaves = _with_aliases(args, argnums, fresh)
            output = func(*new, **kwargs)
            aux = None
            if has_aux:
                output, aux = _with_aux(output, "grad_and_value(f)(*args)")
            if not isinstance(output, Tensor):
                raise RuntimeError(f"Expected f(*args) to return a Tensor, got {type(output)}")
            if output.dim() != 0:
                raise RuntimeError("Expected f(*args) to return a scalar tensor, got tensor with "
                                   f"{output.dim()} dims. Did you forget to sum?")
            found = tree_unflatten(_pullback(output, leaves, None), tree_flatten(chosen)[1])
        gradient = tuple(found) if isinstance(argnums, tuple) else found[0]
        result = (gradient, (output, aux)) if has_aux else (gradient, output)
        return _released(result, fresh)
    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function of the gradient of func, which gives one number, by the arguments at argnums; with has_aux (gradient, aux)."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient
    return wrapper


def vjp(func, *primals, has_aux=False):
    """(func(*primals), function of a cotangent that gives the products with the Jacobian; aux when asked)."""
    recording = _Recording()
    with recording as fresh:
        new = [tree_map(lambda t: _alias(t, fresh), p) for p in primals]
        output = func(*new)
        aux = None
        if has_aux:
            output, aux = _with_aux(output, "vjp(f, *primals)")
    outputs, spec = _tensors_of(output, "vjp(f, *primals)")
    inputs, input_spec = tree_flatten(new)

    def wrapper(*cotangents, retain_graph=True, create_graph=None):
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        flat, given_spec = tree_flatten(given)
        if given_spec != spec:
            raise RuntimeError(f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                               f"function. cotangents: {given_spec}, primal output: {spec}")
        with _Recording():
            flat = [c.clone() if c.is_inference() else c for c in flat]
            found = tree_unflatten(_pullback_all(outputs, inputs, flat), input_spec)
        result = tuple(found) if len(primals) > 1 else found[0]
        return _released(result if len(primals) > 1 else (result,), fresh)
    result = _released(output, fresh)
    return (result, wrapper, _released(aux, fresh)) if has_aux else (result, wrapper)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), the derivative in the direction of tangents; aux when asked), by forward mode.

    strict: RuntimeError for an output that does not depend on the primals, which otherwise has a tangent of zeros.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(f"jvp: expected primals and tangents to be tuples, got {type(primals)} and {type(tangents)}")
    (points, spec), (directions, direction_spec) = tree_flatten(primals), tree_flatten(tangents)
    if spec != direction_spec:
        raise RuntimeError("jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is "
                           "a tuple of 3 tensors, tangents also must be. Got primals with structure " f"{spec} and tangents with structure {direction_spec}")
    for what, leaves in (("primals", points), ("tangents", directions)):
        if not leaves or not all(isinstance(t, Tensor) for t in leaves):
            raise RuntimeError(f"jvp(f, primals, tangents): Expected {what} to be a non-empty tree of tensors, got {[type(t).__name__ for t in leaves]}")
    level = _ForwardLevel()
    try:
        output = func(*tree_unflatten([_dual(level, p, t) for p, t in zip(points, directions)], spec))
        aux = ()
        if has_aux:
            output, seen = _with_aux(output, "jvp(f, primals, tangents)")
            aux = (tree_map(level.outside, seen),)
        outputs, out_spec = _tensors_of(output, "jvp(f, primals, tangents)")
        pushed = [_pushed(level, o, strict) for o in outputs]
        return (tree_unflatten([level.outside(o) for o in outputs], out_spec), tree_unflatten(pushed, out_spec), *aux)
    finally:
        level.end()


def _dual(level, tensor, tangent):
    dual = tensor.view_as(tensor)
    level.give(dual, tangent)
    return dual


def _pushed(level, output, strict):
    tangent = level.tangent(output)
    if tangent is None and strict:
        raise RuntimeError("jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with strict=True.")
    return weir.zeros_like(level.outside(output)) if tangent is None else tangent


def _linearized(func, primals, has_aux=False):
    """(func(*primals), function of tangents that gives the derivative in their direction, with has_aux what else func gave)."""
    with _Recording() as fresh:
        new = [tree_map(lambda t: _alias(t, fresh), p) for p in primals]
        output = func(*new)
        aux = None
        if has_aux:
            output, aux = output
        outputs, spec = tree_flatten(output)
        cotangents = [weir.zeros_like(o).requires_grad_() for o in outputs]
        fresh += cotangents
        pulled = _pullback_all(outputs, tree_leaves(new), cotangents)

    def pushed(*tangents):
        with _Recording():
            found = _pullback_all(pulled, cotangents, tree_leaves(list(tangents)))
        return _released(tree_unflatten(found, spec), fresh)
    result = (_released(output, fresh), pushed)
    return (*result, _released(aux, fresh)) if has_aux else result


def linearize(func, *primals):
    """(func(*primals), function of tangents that gives the derivative in their direction, without calling func again)."""
    return _linearized(func, primals)


def _basis(tensor):
    """A tensor for each element of `tensor`, of its shape: one there and zeros elsewhere."""
    return weir.eye(tensor.numel(), dtype=tensor.dtype, device=tensor.device).reshape((tensor.numel(), *tensor.shape))


def _common_basis(tensors):
    """For each of the tensors its part of the basis of all of them together: an element of one of them is one, all others are zero."""
    total, begin, parts = sum(t.numel() for t in tensors), 0, []
    for t in tensors:
        part = weir.zeros((total, *t.shape), dtype=t.dtype, device=t.device)
        part[begin:begin + t.numel()] = _basis(t)
        parts.append(part)
        begin += t.numel()
    return parts


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function of the Jacobian, by one backward pass for all rows, or for chunk_size at a time.

    Gives for each output a tree of tensors of shape output's + input's. Source: torch.func.jacrev.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with _Recording() as fresh:
            new, chosen, leaves = _with_aliases(args, argnums, fresh)
            _check_real(leaves, "jacrev", "inputs")
            output = func(*new, **kwargs)
            aux = None
            if has_aux:
                output, aux = _with_aux(output, "vjp(f, *primals)")
            outputs, out_spec = _tensors_of(output, "vjp(f, *primals)")
            _check_real(outputs, "jacrev", "outputs")
            chosen_spec = tree_flatten(chosen)[1]

            def of(o):
                if o.numel() and o.requires_grad and chunk_size == 1:  # without vmap, so whatever it refuses is allowed
                    rows = [weir.stack(row) for row in zip(*(_pullback(o, leaves, c) for c in _basis(o)))]
                elif o.numel() and o.requires_grad:
                    rows = vmap(lambda c: _pullback(o, leaves, c), chunk_size=chunk_size)(_basis(o))
                else:
                    rows = [weir.zeros((o.numel(), *x.shape), dtype=o.dtype) for x in leaves]
                columns = [r.reshape(tuple(o.shape) + tuple(x.shape)) for r, x in zip(rows, leaves)]
                trees = tree_unflatten(columns, chosen_spec)
                return tuple(trees) if isinstance(argnums, tuple) else trees[0]
            jacobian = tree_unflatten([of(o) for o in outputs], out_spec)
        jacobian = _released(jacobian, fresh)
        return (jacobian, _released(aux, fresh)) if has_aux else jacobian
    return wrapper


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None, randomness="error"):
    """As jacrev, column by column: by derivatives in the direction of each element of the inputs, all at once. Source: torch.func.jacfwd."""
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        chosen = _numbers(argnums, len(args))
        leaves, spec = tree_flatten([args[n] for n in chosen])
        _check_real(leaves, "jacfwd", "inputs")
        found = {}  # what does not differ between directions

        def at(*inputs):
            new = list(args)
            for n, tree in zip(chosen, tree_unflatten(list(inputs), spec)):
                new[n] = tree
            return func(*new, **kwargs)

        def push(*directions):
            output, tangents, *found["aux"] = jvp(at, tuple(leaves), directions, has_aux=has_aux)
            found["outputs"], found["spec"] = tree_flatten(output)
            return tuple(tree_leaves(tangents))
        columns = vmap(push, randomness=randomness, chunk_size=chunk_size)(*_common_basis(leaves))
        _check_real(found["outputs"], "jacfwd", "outputs")
        by_output = []
        for o, c in zip(found["outputs"], columns):
            blocks = c.split([x.numel() for x in leaves])
            tree = tree_unflatten([b.movedim(0, -1).reshape(tuple(o.shape) + tuple(x.shape)) for b, x in zip(blocks, leaves)], spec)
            by_output.append(tuple(tree) if isinstance(argnums, tuple) else tree[0])
        jacobian = tree_unflatten(by_output, found["spec"])
        return (jacobian, *found["aux"]) if has_aux else jacobian
    return wrapper


def hessian(func, argnums=0):
    """A function of the matrix of second derivatives: the Jacobian of the Jacobian."""
    return jacfwd(jacrev(func, argnums), argnums)
