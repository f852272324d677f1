"""Where sparse tensors meet the engine: as roots and inputs of backward, and as gradients of dense tables.

The engine adds dense gradients only. A look-up with sparse=True therefore hands its gradient over beside the engine: into the
table's `.grad`, or to the call of `autograd.grad` that asked for it.
"""
import weakref

import weir
from weir import autograd
from weir._C import _add_hook, ops
from weir.autograd import Function, function

from ._tensor import CooTensor, is_sparse

_embedding, _bag = ops["torch"]["embedding"], ops["torch"]["embedding_bag"]
_asked: list = [None]  # for each backward that runs: id of table -> its gradient, where gradients are asked for; else None


def join():
    """Backward, gradients and optimizers see sparse tensors from now on."""
    autograd._backward = _seen_by(autograd._backward)
    function._function_node = _sparse_arguments(function._function_node)
    weir.optim.Optimizer._sparse_gradients = True


def _sparse_arguments(make_node):
    """Nodes of autograd.Function hang on the values of sparse inputs and outputs, and give and take sparse gradients."""
    def make(run, ctx, name, inputs, outputs, dirty):
        # Of dense tensors the leaves alone are known here: the node holds them anyway, and no others.
        roots = [t if is_sparse(t) or t is not None and t.is_leaf else None for t in inputs]
        results = [o if is_sparse(o) else None for o in outputs]

        def of_values(node, *grads):
            grads = run(node, *(o._with(g) if o is not None and g is not None else g for o, g in zip(results, grads)))
            grads = grads if isinstance(grads, (tuple, list)) else (grads,)
            return tuple(_to_root(g, t) for g, t in zip(grads, (*roots, *[None] * len(grads))))
        return make_node(of_values, ctx, name, *([t._v if is_sparse(t) else t for t in ts] for ts in (inputs, outputs, dirty)))
    return make


def _to_root(grad, root):
    if not is_sparse(grad) or is_sparse(root):
        return _like_root(grad, root)
    if root is None:
        return grad.to_dense()
    _watch(root)
    _hand_over(root, grad.clone())  # later ones are added into it
    return None


def _seen_by(engine):
    def run(outputs, grads, inputs, retain, create, accumulate):
        grads = [_like_root(g, o) for g, o in zip(grads, outputs)]
        outputs = [o._v if is_sparse(o) else o for o in outputs]
        _asked.append(None if accumulate else {id(t): None for t in inputs})
        try:
            results = engine(outputs, grads, [t._v if is_sparse(t) else t for t in inputs], retain, create, accumulate)
            given = _asked[-1]
        finally:
            _asked.pop()
        return tuple(_result(t, dense, given) for t, dense in zip(inputs, results))
    return run


def _like_root(grad, root):
    if grad is None or not is_sparse(root):
        return grad
    if _at_same_places(grad, root):
        return grad._v
    if is_sparse(grad) and isinstance(root, CooTensor) and not root._coalesced:
        grad = grad.to_dense()  # the mask of a sparse tensor is sorted, the root's places are not
    return grad.sparse_mask(root)._v


def _at_same_places(grad, root):
    if not is_sparse(grad) or grad.layout != root.layout or grad._v.shape != root._v.shape:
        return False
    pairs = [(grad._i, root._i)] if isinstance(root, CooTensor) else [(grad._starts, root._starts), (grad._places, root._places)]
    return all(a is b or a.equal(b) for a, b in pairs)


def _result(t, dense, given):
    if is_sparse(t):
        return None if dense is None else t._gradient(dense)
    rows = given and given[id(t)]
    return dense if rows is None else rows if dense is None else dense + rows


def _hand_over(table, grad):
    for kind, hook in list(vars(table).get("_leaf_hooks", {}).values()):
        changed = hook(grad) if kind == "gradient" else None
        grad = grad if changed is None else changed
    if _asked[-1] is not None:
        if id(table) in _asked[-1]:
            before = _asked[-1][id(table)]
            _asked[-1][id(table)] = grad if before is None else before + grad
        return
    if table.grad is None:
        table.grad = grad
    elif weir.is_grad_enabled():  # create_graph: the sum has a history
        table.grad = table.grad + grad
    else:
        table.grad.add_(grad)
    for kind, hook in list(vars(table).get("_leaf_hooks", {}).values()):
        if kind == "accumulated":
            hook(table)


def _watch(table):
    """The engine would add a dense gradient into a sparse `.grad`: what it brings takes up the sparse one first."""
    if vars(table).get("_takes_sparse") == id(table):
        return
    table._takes_sparse = id(table)

    known = weakref.ref(table)

    def take_up(grad):
        before = known().grad  # the engine holds the table while it runs
        if not is_sparse(before) or _asked[-1] is not None:
            return None
        known().grad = None
        return grad + before
    _add_hook(table, take_up)


class Embedding(Function):
    """Rows of a table, whose gradient is a row for each look-up."""

    @staticmethod
    def forward(ctx, weight, input, padding_idx, scaled):
        ctx.weight, ctx.padding_idx, ctx.scaled = weight, padding_idx, scaled
        ctx.save_for_backward(input)
        return _embedding(weight, input, padding_idx, False, True)

    @staticmethod
    def backward(ctx, grad):
        _refuse_scaling(ctx.scaled)
        (input,) = ctx.saved_tensors
        return _to_table(ctx.weight, input.reshape(-1), grad.reshape(input.numel(), ctx.weight.shape[1]), ctx.padding_idx), None, None, None


def _to_table(weight, rows, values, padding_idx):
    """Hands the gradient over and returns None; for a table with a history, returns it dense."""
    rows = rows.to(weir.int64)
    if padding_idx is not None and padding_idx >= 0:
        kept = (rows != padding_idx).nonzero()[:, 0]
        rows, values = rows.index_select(0, kept), values.index_select(0, kept)
    grad = CooTensor._make(rows.unsqueeze(0), values.contiguous(), weight.shape)
    if not weight.is_leaf:
        return grad.to_dense()
    _hand_over(weight, grad)
    return None


def embedding(weight, input, padding_idx, scale_grad_by_freq):
    """Rows of weight at input, for a weight that requires grad; its gradient will be sparse. RuntimeError in backward with scale_grad_by_freq."""
    if weight.is_leaf:
        _watch(weight)
    return Embedding.apply(weight, input, padding_idx, scale_grad_by_freq)


def _refuse_scaling(scale_grad_by_freq):
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")


class EmbeddingBag(Function):
    """Sums or means of rows, whose gradient is a row for each look-up."""

    @staticmethod
    def forward(ctx, weight, input, offsets, mode, per_sample, include_last, padding_idx, scaled):
        ctx.weight, ctx.mode, ctx.include_last, ctx.padding_idx, ctx.scaled = weight, mode, include_last, padding_idx, scaled
        ctx.save_for_backward(input, offsets, per_sample)
        return _bag(weight, input, offsets, False, mode, True, per_sample, include_last, padding_idx)[0]

    @staticmethod
    def backward(ctx, grad):
        _refuse_scaling(ctx.scaled)
        input, offsets, per_sample = ctx.saved_tensors
        starts = offsets[:-1] if ctx.include_last else offsets
        bag = weir.searchsorted(starts.contiguous(), weir.arange(input.shape[0], dtype=starts.dtype), right=True) - 1
        rows = grad.index_select(0, bag)
        counted = weir.ones(input.shape[0]) if ctx.padding_idx is None else (input != ctx.padding_idx).to(weir.float32)
        values = rows
        if ctx.mode == 1:
            size = weir.zeros(starts.shape[0]).index_add(0, bag, counted)
            values = rows / size.index_select(0, bag).clamp(min=1).to(rows.dtype).unsqueeze(1)
        of_per_sample = None
        if per_sample is not None:
            values = rows * per_sample.unsqueeze(1)
            of_per_sample = (rows * ctx.weight.detach().index_select(0, input)).sum(1) * counted.to(rows.dtype)
        of_weight = _to_table(ctx.weight, input, values, ctx.padding_idx) if ctx.needs_input_grad[0] else None
        return of_weight, None, None, None, of_per_sample, None, None, None


def embedding_bag(weight, input, offsets, scale_grad_by_freq, mode, per_sample, include_last, padding_idx):
    """Bags of rows of a weight that requires grad; mode 0 is the sum, 1 the mean. RuntimeError in backward with scale_grad_by_freq."""
    if weight.is_leaf:
        _watch(weight)
    return EmbeddingBag.apply(weight, input, offsets, mode, per_sample, include_last, padding_idx, scale_grad_by_freq)
