"""Parameters as one vector and back."""

import weir
from weir import Tensor


def parameters_to_vector(parameters):
    """All elements of the parameters in order. Shape: (sum of numel)."""
    return weir.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters) -> None:
    """Writes the slices of `vec` into the parameters. Raises TypeError when vec is no tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {weir._composites.typename(vec)}")
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start:start + count].view_as(parameter).data
        start += count
