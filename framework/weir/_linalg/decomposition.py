"""How NumPy's LAPACK becomes functions of tensors: in float64, with a gradient written in ops.

They run in float64 whatever the input's dtype: differences of nearly equal numbers are what their gradients are made of.
NumPy was chosen over LAPACK itself since weir already needs it; a device of its own will need kernels.
All take batches: shape (*, m, n), and T below means the transpose of the last two axes.
"""
import functools

import weir
from weir._C import Tensor

from .._lazy import np


class LinAlgError(RuntimeError):
    """A matrix has no such decomposition: it is singular, not positive-definite, or the iteration did not converge."""


def decomposition(gradient):
    """Makes a function over arrays one over tensors, differentiable by `gradient(inputs, outputs, grads, **options)`.

    `gradient` is written in ops, so that it can be differentiated again; grads holds None for outputs without one.
    """
    def decorate(compute):
        @functools.cache
        def node():
            from ..autograd import Function

            class Decomposition(Function):
                @staticmethod
                def forward(ctx, options, *inputs):
                    arrays = [x.detach().numpy() for x in inputs]
                    outputs = _from_arrays(compute(*arrays, **options), arrays[0].ndim)
                    ctx.set_materialize_grads(False)
                    # Detached: an output that its own node keeps would never be freed.
                    ctx.save_for_backward(*inputs, *(y.detach() for y in outputs))
                    ctx.options, ctx.count = options, len(inputs)
                    return outputs

                @staticmethod
                def backward(ctx, *grads):
                    saved = ctx.saved_tensors
                    inputs, outputs = saved[:ctx.count], saved[ctx.count:]
                    if weir.is_grad_enabled():  # for second derivatives, as functions of the inputs
                        outputs = Decomposition.apply(ctx.options, *inputs)
                    return (None, *gradient(inputs, outputs, grads, **ctx.options))

            Decomposition.__name__ = compute.__name__.strip("_").title()
            return Decomposition

        @functools.wraps(compute)
        def run(*inputs, **options):
            try:
                outputs = node().apply(options, *(x.double() for x in inputs))
            except np.linalg.LinAlgError as error:
                raise LinAlgError(f"linalg.{compute.__name__}: {error}") from None
            except ValueError as error:  # NumPy's word for shapes that do not fit, which PyTorch calls a RuntimeError
                raise RuntimeError(f"linalg.{compute.__name__}: {error}") from None
            outputs = tuple(y.to(inputs[0].dtype) for y in outputs)
            return outputs if len(outputs) > 1 else outputs[0]

        return run
    return decorate


def _from_arrays(result, rank):
    """The arrays of `result` as tensors; those of `rank` axes are matrices, which lie column by column as in LAPACK."""
    parts = result if isinstance(result, tuple) else (result,)
    return tuple(by_columns(p) if p.ndim == rank else _by_rows(p) for p in parts)


def transposed(matrices):
    return np.swapaxes(matrices, -1, -2)


def _by_rows(numbers):
    return weir.from_numpy(np.array(numbers, dtype=np.float64, order="C"))


def by_columns(matrices):
    return weir.from_numpy(np.array(transposed(matrices), dtype=np.float64, order="C")).mT


def diagonal_set(matrix, values):
    """matrix with `values` (a number, or a tensor of its diagonal's shape) on the diagonal."""
    eye = weir.eye(matrix.shape[-1], dtype=weir.bool)
    return weir.where(eye, values.unsqueeze(-1) if isinstance(values, Tensor) else weir.full_like(matrix, values), matrix)


def differences(values):
    """values_j - values_i, 1 on the diagonal."""
    return diagonal_set(values.unsqueeze(-2) - values.unsqueeze(-1), 1.0)
