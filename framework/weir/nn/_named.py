"""Names of torch.nn that few programs use."""
from weir.nn.modules.module import Module


class Container(Module):
    """A Module that holds modules. Deprecated in PyTorch."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, value in kwargs.items():
            self.add_module(name, value)


def factory_kwargs(kwargs):
    """`device`, `dtype` and `memory_format` of kwargs, and what `factory_kwargs` in it holds; TypeError for others."""
    if kwargs is None:
        return {}
    known = {"device", "dtype", "memory_format"}
    unexpected = set(kwargs) - known - {"factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    inner = kwargs.get("factory_kwargs", {})
    twice = set(inner) & set(kwargs)
    if twice:
        raise TypeError(f"{twice} specified twice, in **kwargs and in factory_kwargs")
    return {**inner, **{k: v for k, v in kwargs.items() if k in known}}
