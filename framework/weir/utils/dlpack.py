"""Tensors of other libraries. Source: torch.utils.dlpack."""
import enum

from weir._absent import absent as _absent


class DLDeviceType(enum.IntEnum):
    """Kinds of devices in DLPack."""

    kDLCPU, kDLCUDA, kDLCUDAHost, kDLOpenCL = 1, 2, 3, 4


to_dlpack = _absent("utils.dlpack.to_dlpack", "weir hands out no DLPack capsules yet; NumPy arrays share memory")


def from_dlpack(ext_tensor):
    """A tensor over the memory of an object with `__dlpack__`, by way of NumPy."""
    import weir
    from weir._lazy import np
    return weir.from_numpy(np.from_dlpack(ext_tensor))
