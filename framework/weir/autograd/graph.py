"""The graph of derivatives. Source: torch.autograd.graph."""
from weir._absent import absent
from weir._C import Node  # noqa: F401

saved_tensors_hooks = absent("autograd.graph.saved_tensors_hooks", "weir has no hooks for saved tensors yet")
save_on_cpu = absent("autograd.graph.save_on_cpu", "weir has no hooks for saved tensors yet")
disable_saved_tensors_hooks = absent("autograd.graph.disable_saved_tensors_hooks", "weir has no hooks for saved tensors yet")
register_multi_grad_hook = absent("autograd.graph.register_multi_grad_hook")
allow_mutation_on_saved_tensors = absent("autograd.graph.allow_mutation_on_saved_tensors")


class GradientEdge(tuple):
    """(node, output number): the place of a tensor in the graph."""

    def __new__(cls, node, output_nr, ownership_token=None):
        return super().__new__(cls, (node, output_nr))

    node, output_nr = property(lambda self: self[0]), property(lambda self: self[1])


def get_gradient_edge(tensor):
    """Where gradients of the tensor arrive."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor.grad_fn is None:
        return GradientEdge(*tensor.view_as(tensor).grad_fn.next_functions[0])
    return GradientEdge(tensor.grad_fn, 0)
