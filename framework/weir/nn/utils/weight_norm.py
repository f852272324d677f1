"""Weight normalisation by a hook before forward, PyTorch's older form. Source: Salimans & Kingma 2016."""

import warnings

import weir
from weir.nn.parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def weight_of(v, g, dim):
    """v g / |v|, the norm taken over all axes but dim."""
    return v * (g / weir.norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook: sets `name` from its `name_g` and `name_v`."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        """The weight of the present norm and direction."""
        return weight_of(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))

    def remove(self, module):
        """Makes the present weight a plain parameter."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        delattr(module, self.name + "_g")
        delattr(module, self.name + "_v")
        setattr(module, self.name, Parameter(weight.detach()))


def weight_norm(module, name="weight", dim=0):
    """Replaces the parameter by a norm per index of dim and a direction. Returns module. Deprecated: see parametrizations.weight_norm."""
    warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.", FutureWarning, stacklevel=2)
    if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._table("forward_pre").values()):
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook, weight = WeightNorm(name, dim), getattr(module, name)
    if is_lazy(weight):
        raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy forward "
                         "before applying weight normalization")
    delattr(module, name)
    module.register_parameter(name + "_g", Parameter(weir.norm_except_dim(weight.detach(), 2, hook.dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """Makes the weight a plain parameter again. ValueError when it has no weight_norm. Returns module."""
    for key, hook in list(module._table("forward_pre").items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._table("forward_pre")[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
