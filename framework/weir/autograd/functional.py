"""Jacobians and products with them, from the backward pass. Source: torch.autograd.functional."""


def _grad(outputs, inputs, cotangent, create_graph):
    from . import grad
    return grad(outputs, inputs, cotangent, create_graph=create_graph, allow_unused=True, materialize_grads=True)


def vjp(func, inputs, v=None, create_graph=False):
    """(func(inputs), vector-Jacobian product); single tensors in, single tensors out."""
    single = not isinstance(inputs, (tuple, list))
    leaves = [x.detach().requires_grad_() for x in ((inputs,) if single else inputs)]
    out = func(*leaves)
    grads = _grad((out,), leaves, None if v is None else (v,), create_graph)
    return out, grads[0] if single else grads


def jacobian(func, inputs, create_graph=False):
    """d func / d inputs. Shape: output's shape + input's shape, per input."""
    from .. import stack
    single = not isinstance(inputs, (tuple, list))
    leaves = [x.detach().requires_grad_() for x in ((inputs,) if single else inputs)]
    out = func(*leaves)
    rows = []
    for i in range(out.numel()):
        from . import grad
        one = grad(out.reshape(-1)[i], leaves, retain_graph=True, create_graph=create_graph, allow_unused=True,
                   materialize_grads=True)
        rows.append(one)
    result = tuple(stack([r[k] for r in rows]).reshape(tuple(out.shape) + tuple(x.shape)) for k, x in enumerate(leaves))
    return result[0] if single else result
