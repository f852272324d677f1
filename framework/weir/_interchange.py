"""DLPack: tensors of other frameworks over the same memory. Source: https://data-apis.org/array-api/latest/"""

import enum

from _weir import Tensor, _from_capsule, _from_exporter, _to_dlpack


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
    t = _from_exporter(ext_tensor) if hasattr(ext_tensor, "__dlpack__") else _from_capsule(ext_tensor)
    t = t if device is None else t.to(device)
    return t.clone() if copy else t


def to_dlpack(tensor):
    """A capsule of the protocol's first version."""
    return _to_dlpack(tensor, False)


def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule over self's memory, for `from_dlpack` of another framework.

    BufferError for what the protocol cannot tell: a history, numbers that are not their bytes, a layout, memory beside the CPU's.
    """
    if not isinstance(self, Tensor):
        raise TypeError(f"__dlpack__: expected a Tensor, got {type(self).__name__}")
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj() or self.is_neg():
        raise BufferError(f"Can't export tensors with the {'conjugate' if self.is_conj() else 'negative'} bit set")
    if self.device.type != "cpu":
        raise BufferError(f"Cannot pack tensors on {self.device}")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if stream not in (None, -1):
        raise AssertionError(f"stream should be None on cpu, got {stream}")
    if dl_device is not None and tuple(dl_device)[0] != DLDeviceType.kDLCPU:
        raise BufferError(f"__dlpack__: expected the CPU, got device {dl_device}")
    versioned = max_version is not None and max_version[0] >= 1
    return _to_dlpack(self.clone() if copy else self, versioned)


def __dlpack_device__(self):
    """(kDLCPU, 0)."""
    if self.device.type != "cpu":
        raise ValueError(f"Unknown device type {self.device.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0
