"""Parametrizations: a parameter or buffer that is computed from another at each access. Source: torch.nn.utils.parametrize."""

import copy
from contextlib import contextmanager

import weir
from weir import Tensor
from weir.nn.modules.container import ModuleDict, ModuleList
from weir.nn.parameter import Parameter

_cache, _cache_enabled = {}, 0


@contextmanager
def cached():
    """Within it each parametrized tensor is computed once."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register(module, name, tensor):
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)


def _check_like(what, tensor, like):
    if not isinstance(tensor, Tensor):
        raise ValueError(f"{what} must return a tensor. Got {type(tensor).__name__}.")
    for fact in ("dtype", "shape"):
        if getattr(tensor, fact) != getattr(like, fact):
            raise ValueError(f"{what} may not change the {fact} of the tensor, unless the `unsafe` flag is enabled: "
                             f"{getattr(like, fact)} became {getattr(tensor, fact)}")


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied in order to `original`, or to `original0`, `original1`, ... of the first."""

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = weir.empty_like(original, device="meta")
        new = original
        with weir.no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, (Tensor, list, tuple)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                             f"Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if new.dtype != original.dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                                 f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}")
            if new.device != original.device:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the device.\n"
                                 f"original.device: {original.device}\nright_inverse(original).device: {new.device}")
            original.data = new.detach()
            _register(self, "original", original)
        else:
            self._register_several(new, original)
        if not unsafe:
            _check_like("Registering a parametrization: it", self(), before)

    def _register_several(self, new, original):
        for i, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                                 f"Got element {i} of the sequence with type {type(tensor).__name__}.")
            tensor = Parameter(tensor.detach(), original.requires_grad) if isinstance(original, Parameter) else tensor.detach()
            _register(self, f"original{i}", tensor.requires_grad_(original.requires_grad))

    def originals(self):
        """The tensors that are learned or kept."""
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Sets the originals so that the parametrized tensor is `value`, through each right_inverse."""
        with weir.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        values = [value] if self.is_tensor else value
        if not isinstance(values, (list, tuple)) or len(values) != self.ntensors:
            raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got {type(value).__name__}.")
        for i, (tensor, target) in enumerate(zip(values, self.originals())):
            if not isinstance(tensor, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(tensor).__name__}")
            if tensor.dtype != target.dtype:
                raise ValueError(f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while `original` has dtype "
                                 f"{target.dtype}")
            target.data = tensor.detach()

    def forward(self):
        first, *others = self._modules.values()
        result = first(*self.originals())
        for module in others:
            result = module(result)
        return result


def _inject(module):
    """Gives the module a class of its own, on which properties can stand."""
    kind = type(module)

    def __getstate__(self):
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = replica = self.__new__(type(self))
            replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return memo[id(self)]
    body = {"__getstate__": __getstate__, "__module__": kind.__module__}
    if not hasattr(kind, "__deepcopy__"):
        body["__deepcopy__"] = __deepcopy__
    module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), body)
    module.parametrizations = ModuleDict()


def _inject_property(kind, name):
    def get(self):
        if not _cache_enabled:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self, value):
        self.parametrizations[name].right_inverse(value)
    setattr(kind, name, property(get, put))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Makes module.tensor_name the result of `parametrization`, after those that are there. Returns module.

    The parametrization must keep dtype and shape unless `unsafe`: ValueError; so must its `right_inverse`, which sets the original.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        chain = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            result = parametrization(value)
            _check_like("Registering a parametrization: it", result, value)
            if hasattr(parametrization, "right_inverse"):
                try:
                    _check_like("parametrization.right_inverse: it", parametrization.right_inverse(result), value)
                except NotImplementedError:
                    pass
        chain.append(parametrization)
        chain.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        chain = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject(module)
        _inject_property(type(module), tensor_name)
        module.parametrizations[tensor_name] = chain
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    return module


def is_parametrized(module, tensor_name=None):
    """Whether the module, or its tensor of that name, has a parametrization."""
    table = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(table, ModuleDict):
        return False
    return len(table) > 0 if tensor_name is None else tensor_name in table


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor a plain one again: with its present value, or with its original's. Returns module."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if not chain.is_tensor and not leave_parametrized:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
                         "sequence of tensors.")
    value = getattr(module, tensor_name)
    if chain.is_tensor:
        original = chain.original
        if leave_parametrized:
            original.data = value.detach()
    else:
        original = Parameter(value.detach()) if value.requires_grad else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    _register(module, tensor_name, original)
    return module


def type_before_parametrizations(module):
    """The module's class before its first parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives to_module the parametrizations of from_module and their originals. Returns to_module."""
    if is_parametrized(from_module):
        for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            source = from_module.parametrizations[name]
            for parametrization in source._modules.values():
                register_parametrization(to_module, name, parametrization, unsafe=source.unsafe)
            for key in [key for key in source._parameters] + [key for key in source._buffers]:
                setattr(to_module.parametrizations[name], key, getattr(source, key))
    return to_module
