"""What optimizers written outside take from `torch.optim.optimizer`: private in PyTorch, and not used by weir's own."""
import functools
from collections.abc import Iterable
from typing import Any, TypeAlias

import weir
from weir import Tensor
from weir.nn.parameter import Parameter
from weir.utils._foreach_utils import _get_foreach_kernels_supported_devices, _get_fused_kernels_supported_devices

__all__ = ["_foreach_supported_types", "ParamsT", "StateDict", "DeviceDict", "DeviceDtypeDict", "_params_doc", "_foreach_doc", "_fused_doc", "_capturable_doc",
           "_differentiable_doc", "_maximize_doc", "_use_grad_for_differentiable", "_disable_dynamo_if_unsupported", "_get_value",
           "_stack_if_compiling", "_to_scalar", "_view_as_real", "_get_scalar_dtype", "_get_capturable_supported_devices",
           "_default_to_fused_or_foreach", "_device_dtype_check_for_fused"]

_foreach_supported_types = [Tensor, Parameter]
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
StateDict: TypeAlias = dict[str, Any]
DeviceDict: TypeAlias = dict[weir.device | None, Tensor]
DeviceDtypeDict: TypeAlias = dict[tuple[weir.device, weir.dtype] | None, Tensor]

_params_doc = "params (iterable): parameters, pairs of name and parameter, or dicts that define groups of them"
_foreach_doc = "foreach (bool, optional): update lists of tensors at once (default: None)"
_fused_doc = "fused (bool, optional): update by one kernel (default: None)"
_capturable_doc = "capturable (bool, optional): keep every number in tensors, so that steps can be captured (default: False)"
_differentiable_doc = "differentiable (bool, optional): record the step for autograd (default: False)"
_maximize_doc = "maximize (bool, optional): climb the objective (default: False)"


def _use_grad_for_differentiable(func):
    """A `step` that autograd records where its optimizer is differentiable, and nowhere else."""
    @functools.wraps(func)
    def step(*args, **kwargs):
        with weir.set_grad_enabled(args[0].defaults["differentiable"]):
            return func(*args, **kwargs)
    return step


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A decorator that changes nothing: weir's own trace takes every step."""
    return lambda func: func


def _get_value(x):
    """A tensor of one number as that number; what is none as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x):
    """x: no compiler of PyTorch's asks."""
    return x


def _to_scalar(x):
    """A tensor of one number without axes; what is none as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _view_as_real(params, *state_and_grads):
    """Puts real views in the place of complex parameters, and of what the other lists hold there."""
    for i, p in enumerate(params):
        if p.is_complex():
            for tensors in (params, *state_and_grads):
                tensors[i] = weir.view_as_real(tensors[i])


def _get_scalar_dtype(is_fused=None):
    """The dtype of `step`."""
    return weir.float64 if not is_fused and weir.get_default_dtype() == weir.float64 else weir.float32


def _get_capturable_supported_devices(supports_xla=True):
    """Types of devices whose steps can be captured."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach): what an optimizer uses that was not told."""
    if differentiable or weir.jit.is_scripting():
        return False, False

    def are_all(devices, fit=lambda p: True):
        return all(p is None or type(p) in _foreach_supported_types and p.device.type in devices and fit(p) for p in params)
    fused = use_fused and are_all(_get_fused_kernels_supported_devices(), weir.is_floating_point)
    return fused, not fused and are_all(_get_foreach_kernels_supported_devices())


def _device_dtype_check_for_fused(p, cuda_unsupported=False):
    """RuntimeError for a parameter that no fused kernel takes."""
    devices = [d for d in _get_fused_kernels_supported_devices() if not (cuda_unsupported and d == "cuda")]
    if p.device.type not in devices or not p.is_floating_point():
        raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of "
                           f"supported devices: {devices} but {p.dtype} and {p.device.type}")
