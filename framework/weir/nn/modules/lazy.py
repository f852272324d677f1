"""Lazily shaped modules: their parameters take their shapes from the first input, and the module becomes the plain one."""

from itertools import chain

import weir
from weir.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

from . import batchnorm, conv
from .linear import Linear

__all__ = []  # filled below
_KINDS = {name: getattr(module, name) for module, names in (
    (conv, [f"Conv{t}{n}d" for t in ("", "Transpose") for n in (1, 2, 3)]),
    (batchnorm, [f"{kind}Norm{n}d" for kind in ("Batch", "Instance") for n in (1, 2, 3)])) for name in names}


class LazyModuleMixin:
    """A base in front of a module class: `initialize_parameters(*input)` materializes parameters at the first call.

    After it the module's class becomes `cls_to_become`, if there is one.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, tensor in chain(self._parameters.items(), self._persistent_buffers().items()):
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(self, state_dict, prefix, *others):
        """Gives lazy parameters the shapes of those that are being loaded."""
        for name, tensor in chain(self._parameters.items(), self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and is_lazy(tensor) and not is_lazy(given):
                with weir.no_grad():
                    tensor.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Materializes the parameters for an input; subclasses write it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in chain(self._parameters.values(), self._buffers.values()))

    def reset_parameters(self):
        """Draws the parameters anew, once they have shapes."""
        if not self.has_uninitialized_params() and self._width() != 0:
            super().reset_parameters()

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """Linear whose in_features are the last axis of the first input."""

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _width(self):
        return self.in_features

    def initialize_parameters(self, input):
        """in_features is the input's last axis."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:  # its weight was loaded
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                                     f"self.weight: {self.weight.shape[-1]}")
            self.in_features = input.shape[-1]


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution whose in_channels are those of the first input."""

    def _setup(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype,
               output_padding=0):
        super()._setup(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype, output_padding)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _width(self):
        return self.in_channels

    def initialize_parameters(self, input, *args, **kwargs):
        """in_channels is the input's axis of channels."""
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self._rank + 1, self._rank + 2):
            raise RuntimeError(f"Expected {self._rank + 1}D (unbatched) or {self._rank + 2}D (batched) input to {type(self).__name__}, "
                               f"but got input of size: {input.shape}")
        self.in_channels = input.shape[input.dim() - self._rank - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        lead = (self.in_channels, self.out_channels) if self.transposed else (self.out_channels, self.in_channels)
        self.weight.materialize((lead[0], lead[1] // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyNormBase(LazyModuleMixin):
    """A norm whose num_features are the channels of the first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean, self.running_var = UninitializedBuffer(**options), UninitializedBuffer(**options)
            self.num_batches_tracked = weir.tensor(0, dtype=weir.int64, device=device)

    def _width(self):
        return self.num_features

    def initialize_parameters(self, input):
        """num_features is the input's axis 1."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
            if is_lazy(tensor):
                tensor.materialize((self.num_features,))
        self.reset_parameters()


def _lazy_conv(plain):
    transposed = plain.transposed

    if transposed:
        def __init__(self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
                     padding_mode="zeros", device=None, dtype=None):
            super(made, self).__init__(0, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation,
                                       padding_mode, device, dtype)
    else:
        def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
                     device=None, dtype=None):
            super(made, self).__init__(0, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                                       dtype)
    made = type(f"Lazy{plain.__name__}", (_LazyConvXdMixin, plain), {
        "__init__": __init__, "cls_to_become": plain, "__module__": __name__,
        "__doc__": f"{plain.__name__} whose in_channels are those of the first input."})
    return made


def _lazy_norm(plain):
    """Beside the plain class, as in PyTorch, not below it."""
    own = {name: value for name, value in vars(plain).items() if not name.startswith("__")}
    return type(f"Lazy{plain.__name__}", (_LazyNormBase, *plain.__bases__), {
        **own, "cls_to_become": plain, "__module__": __name__, "__doc__": f"{plain.__name__} whose num_features are the first input's."})


for _name, _plain in _KINDS.items():
    globals()[f"Lazy{_name}"] = _lazy_conv(_plain) if "Conv" in _name else _lazy_norm(_plain)
__all__ += ["LazyLinear", *(f"Lazy{_name}" for _name in _KINDS)]
