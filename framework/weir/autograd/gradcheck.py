"""Compares gradients with differences of values. Source: torch.autograd.gradcheck."""
import weir
from weir._C import Tensor


class GradcheckError(RuntimeError):
    """The gradients differ."""


def _tuple(x):
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _differentiable(outputs):
    return [o for o in _tuple(outputs) if isinstance(o, Tensor) and o.requires_grad]


def _numerical(func, inputs, x, eps):
    """For each output, d output / d x by central differences. Shape: (x.numel(), output.numel())."""
    flat = x.data.reshape(-1) if x.is_contiguous() else None
    if flat is None:
        raise ValueError("gradcheck: expects all inputs to be contiguous")
    rows = []
    for i in range(flat.numel()):
        before = flat[i].item()
        values = []
        for step in (eps, -eps):
            flat[i] = before + step
            with weir.enable_grad():
                values.append([o.detach().clone() for o in _differentiable(func(*inputs))])
        flat[i] = before
        rows.append([(a - b).reshape(-1) / (2 * eps) for a, b in zip(*values)])
    return [weir.stack(column) for column in zip(*rows)] if rows else []


def _analytical(output, inputs):
    """For each input, d output / d input by backward. Shape: (input.numel(), output.numel())."""
    columns = [[] for _ in inputs]
    for i in range(output.numel()):
        cotangent = weir.zeros_like(output).reshape(-1)
        cotangent[i] = 1
        grads = weir.autograd.grad(output, inputs, cotangent.reshape(output.shape), retain_graph=True, allow_unused=True)
        for column, g, x in zip(columns, grads, inputs):
            column.append((weir.zeros_like(x) if g is None else g).reshape(-1))
    return [weir.stack(c, 1) if c else weir.zeros(x.numel(), 0) for c, x in zip(columns, inputs)]


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False,
              check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    """Do the gradients of func at inputs, of float64, agree with differences? GradcheckError, or False, when not.

    NotImplementedError for forward mode and batched gradients, which weir has not.
    """
    if check_forward_ad or check_batched_grad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck: weir has no forward mode and no batched gradients")
    inputs = _tuple(inputs)
    chosen = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not chosen:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
    outputs = _differentiable(func(*inputs))
    try:
        if not outputs:
            raise GradcheckError("gradcheck: no output requires grad")
        for o, output in enumerate(outputs):
            for k, (a, x) in enumerate(zip(_analytical(output, chosen), chosen)):
                n = _numerical(func, inputs, x, eps)[o]
                if not weir.allclose(a, n.to(a.dtype), rtol, atol):
                    raise GradcheckError(f"Jacobian mismatch for output {o} with respect to input {k},\nnumerical:{n}\n"
                                         f"analytical:{a}\n")
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
                  check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """Do the gradients of the gradients agree with differences? As gradcheck."""
    inputs = _tuple(inputs)
    outputs = _differentiable(func(*inputs))
    given = _tuple(grad_outputs) if grad_outputs is not None else tuple(
        weir.randn(o.shape, dtype=o.dtype).requires_grad_() for o in outputs)
    chosen = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def gradient(*args):
        xs, cotangents = args[:len(inputs)], args[len(inputs):]
        out = _differentiable(func(*xs))
        return weir.autograd.grad(out, [xs[i] for i in chosen], cotangents, create_graph=True, allow_unused=True,
                                  materialize_grads=True)
    return gradcheck(gradient, (*inputs, *given), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
