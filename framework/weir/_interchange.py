"""DLPack: tensors of other frameworks over the same memory. Source: https://data-apis.org/array-api/latest/"""

import enum

from _weir import Tensor, _from_capsule, _to_dlpack


class DLDeviceType(enum.IntEnum):
    """Kinds of devices that the protocol knows."""

    (kDLCPU, kDLCUDA, kDLCUDAHost) = (1, 2, 3)
    (kDLOpenCL, kDLVulkan, kDLMetal, kDLVPI, kDLROCM, kDLROCMHost, kDLExtDev) = (4, 7, 8, 9, 10, 11, 12)
    (kDLCUDAManaged, kDLOneAPI, kDLWebGPU, kDLHexagon, kDLMAIA) = (13, 14, 15, 16, 17)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor over the memory of an object with `__dlpack__`, or of a capsule, which it consumes.

    RuntimeError for memory of another device, unknown element types, negative strides and read-only memory.
    Source: https://pytorch.org/docs/stable/generated/torch.from_dlpack.html
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        t = _from_capsule(ext_tensor)
    else:
        kind = ext_tensor.__dlpack_device__()[0]
        if kind != DLDeviceType.kDLCPU:
            raise RuntimeError(f"from_dlpack: expected memory of the CPU, got device type {int(kind)}")
        t = _from_capsule(_capsule(ext_tensor))
    t = t if device is None else t.to(device)
    return t.clone() if copy else t


def _capsule(exporter):
    try:
        return exporter.__dlpack__(max_version=(1, 0))
    except TypeError:  # from before versions were part of the protocol
        return exporter.__dlpack__()


def to_dlpack(tensor):
    """A capsule of the protocol's first version."""
    return _to_dlpack(tensor, False)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule over self's memory, for `from_dlpack` of another framework."""
    if not isinstance(self, Tensor):
        raise TypeError(f"__dlpack__: expected a Tensor, got {type(self).__name__}")
    if dl_device is not None and tuple(dl_device)[0] != DLDeviceType.kDLCPU:
        raise BufferError(f"__dlpack__: expected the CPU, got device {dl_device}")
    versioned = max_version is not None and max_version[0] >= 1
    return _to_dlpack(self.clone() if copy else self, versioned)


def __dlpack_device__(self):
    """(kDLCPU, 0)."""
    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0
