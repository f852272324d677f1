"""Pruning: a mask on a parameter, kept beside the original and applied before forward. Source: torch.nn.utils.prune."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

import weir

from .convert_parameters import parameters_to_vector


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if amount < 0 or (not whole and amount > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size` to prune; ValueError when there are not so many."""
    count = amount if isinstance(amount, numbers.Integral) else round(amount * size)
    if count > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return count


class BasePruningMethod(ABC):
    """The hook that sets a parameter to its original times the mask. Subclasses write compute_mask and say PRUNING_TYPE."""

    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of t: of its shape, 1 where an element stays, and 0 where default_mask is."""

    def apply_mask(self, module):
        """The original times the mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes module.name, after whatever pruned it before. Returns the method."""
        method = _combined(module, name, cls(*args, **kwargs))
        original = getattr(module, name)
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}, got {scores.shape} vs "
                                 f"{original.shape}")
        again = isinstance(method, PruningContainer)
        before = getattr(module, name + "_mask").detach().clone() if again else weir.ones_like(original)
        mask = method.compute_mask(scores.detach(), default_mask=before.detach())
        if not again:
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """t with the pruned elements zero."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}")
        return t * self.compute_mask(scores, default_mask=weir.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Makes the pruned tensor a plain parameter."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight, original = self.apply_mask(module), module._parameters[name + "_orig"]
        if hasattr(module, name):
            delattr(module, name)
        original.data = weight.detach()
        del module._parameters[name + "_orig"]
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _combined(module, name, method):
    """`method`, or a container of it and the method that pruned the tensor before, whose hook goes."""
    method._tensor_name = name
    hooks = module._table("forward_pre")
    found = [key for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer.")
    if not found:
        return method
    old = hooks[found[0]]
    container = old if isinstance(old, PruningContainer) else PruningContainer(old)
    container.add_pruning_method(method)
    del hooks[found[0]]
    return container


class PruningContainer(BasePruningMethod):
    """Methods applied one after the other, each to what those before left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if args and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
        for method in args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args:
            self._tensor_name = self._tensor_name or method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method that prunes the same tensor. TypeError or ValueError for another."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError("Can only add pruning methods acting on the parameter named "
                             f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, on the part that is not pruned yet."""
        method, mask = self._pruning_methods[-1], default_mask.to(dtype=t.dtype).clone()
        if method.PRUNING_TYPE == "unstructured":
            part = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
            dim = method.dim + t.dim() if method.dim < 0 else method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
            kept = default_mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
            part = tuple(kept if d == dim else slice(None) for d in range(t.dim()))
        elif method.PRUNING_TYPE == "global":
            part = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[part] = method.compute_mask(t[part], default_mask=default_mask[part]).to(dtype=mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class _Unstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count, mask = _count(self.amount, t.nelement()), default_mask.clone()
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _chosen(self, t, count):
        return weir.rand_like(t).view(-1).topk(count).indices


class L1Unstructured(_Unstructured):
    """Prunes the elements that are smallest."""

    def _chosen(self, t, count):
        return t.abs().reshape(-1).topk(count, largest=False).indices


class _Structured(BasePruningMethod):
    """Prunes whole slices of axis dim."""

    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError(f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with "
                             f"{t.dim()} dims")
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        count = _count(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        shape = [1] * t.dim()
        shape[self.dim] = -1
        kept = self._kept(t, count).to(t.dtype).reshape(shape)
        return weir.zeros_like(t).add(kept) * default_mask.to(dtype=t.dtype)


class RandomStructured(_Structured):
    """Prunes slices of axis dim at random."""

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t, count):
        chances = weir.rand(t.shape[self.dim])
        return chances > chances.kthvalue(count).values


class LnStructured(_Structured):
    """Prunes the slices of axis dim whose n-norms are smallest."""

    def __init__(self, amount, n, dim=-1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t, count):
        axis = self.dim % t.dim()
        norms = weir.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != axis])
        return weir.zeros_like(norms).index_fill(0, norms.topk(norms.numel() - count).indices, 1)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    """Makes the mask of module.name without pruning. Returns module, as all functions here."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes `amount` elements (a share, if a float) at random."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements smallest in size, or in importance."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes slices of axis dim at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the slices of axis dim smallest in n-norm."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prunes where mask is 0."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes (module, name) pairs together, by one unstructured method over all of their elements."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = parameters_to_vector([scores.get((m, n), getattr(m, n)) for m, n in parameters]).detach()
    masks = parameters_to_vector([getattr(m, n + "_mask", weir.ones_like(getattr(m, n))) for m, n in parameters]).detach()
    method, container = pruning_method(**kwargs), PruningContainer()
    method._tensor_name = container._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
                        f"{method.PRUNING_TYPE}")
    container.add_pruning_method(method)
    mask = container.compute_mask(values, masks)
    at = 0
    for module, name in parameters:
        tensor = getattr(module, name)
        custom_from_mask(module, name, mask=mask[at:at + tensor.numel()].view_as(tensor))
        at += tensor.numel()


def remove(module, name):
    """Makes the pruned tensor a plain parameter. ValueError when it is not pruned."""
    hooks = module._table("forward_pre")
    for key, hook in list(hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a tensor of the module, or of one within it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._table("forward_pre").values())
