"""Lists of tensors by device and dtype, as optimizers written for PyTorch group them. Source: torch.utils._foreach_utils."""
import weir
from weir import Tensor

_foreach_supported_types = [Tensor]


def _get_foreach_kernels_supported_devices():
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices():
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """(device, dtype) of the first list's tensors -> (the lists, each with its tensors of that kind, their places).

    The lists have one length and the others may hold None. RuntimeError for none, an empty one or different lengths.
    """
    if not tensorlistlist or not tensorlistlist[0]:
        raise RuntimeError("_group_tensors_by_device_and_dtype: expected lists of tensors, got none or an empty one")
    first = tensorlistlist[0]
    if any(len(others) not in (0, len(first)) for others in tensorlistlist):
        raise RuntimeError(f"_group_tensors_by_device_and_dtype: expected lists of one length, got {[len(t) for t in tensorlistlist]}")
    places = {}
    for i, tensor in enumerate(first):
        places.setdefault((tensor.device, tensor.dtype), []).append(i)
    return {kind: ([[t[i] for i in chosen] if t else [] for t in tensorlistlist], chosen if with_indices else [])
            for kind, chosen in places.items()}


def _device_has_foreach_support(device):
    return weir.device(device).type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device) and all(t is None or type(t) in _foreach_supported_types for t in tensors)
