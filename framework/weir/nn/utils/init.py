"""Building a module without drawing its start values."""

import inspect

import weir

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters have memory but no values: it is built on the meta device. RuntimeError for no module class, or one
    that takes no `device`."""
    if not issubclass(module_cls, weir.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
