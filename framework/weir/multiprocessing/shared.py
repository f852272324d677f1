"""Tensors in shared memory: files under /dev/shm that every process maps, removed when their maker ends."""
import atexit
import mmap
import os
import tempfile
from multiprocessing.reduction import ForkingPickler

import weir
from weir import Tensor, _C
from weir._lazy import np
from weir._tensor import of_class

_files: dict = {}   # start of the mapped memory -> (file, bytes)
_owned: list = []   # files that this process made
_maker = None
_maps: dict = {}    # file -> the memory mapped here, while a tensor shows it


def _folder():
    return "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()


def _remove():
    if os.getpid() != _maker:
        return  # a forked child's copy of the list
    for name in _owned:
        try:
            os.unlink(name)
        except FileNotFoundError:
            pass


def _map(name, nbytes):
    """The file's memory as a flat uint8 tensor."""
    flat = _maps.get(name)
    if flat is not None:
        return flat
    with open(name, "r+b") as file:
        memory = mmap.mmap(file.fileno(), nbytes)
    flat = weir.from_numpy(np.frombuffer(memory, np.uint8))
    _files[flat.data_ptr()] = (name, nbytes)
    _maps[name] = flat
    return flat


def _storage_start(t):
    return t.data_ptr() - t.storage_offset() * t.itemsize


def is_shared(self):
    """Does the tensor's memory lie in a shared file?"""
    return self.numel() > 0 and _storage_start(self) in _files


def share_memory_(self):
    """Moves the memory into a shared file, in place. Returns self. Other views of the old memory keep the old one."""
    global _maker
    if self.numel() == 0 or is_shared(self):
        return self
    if self.device.type != "cpu":
        raise NotImplementedError(f"share_memory_: only for tensors on the CPU, got {self.device}")
    source = self.detach().contiguous()
    if _maker != os.getpid():
        _maker = os.getpid()
        _owned.clear()
        atexit.register(_remove)
    handle, name = tempfile.mkstemp(prefix="weir_", dir=_folder())
    os.truncate(handle, source.nbytes)
    os.close(handle)
    _owned.append(name)
    flat = _map(name, source.nbytes)
    shared = flat.view(self.dtype).view(source.shape)
    shared.copy_(source)
    with weir.no_grad():
        self.data = shared
        if self.grad is not None and self.is_leaf:
            self.grad.share_memory_()
    return self


def reduce_tensor(tensor):
    """How a tensor travels: as the name of its file, its geometry and class."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                           "crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor "
                           "before serializing (e.g., putting it on the queue).")
    if tensor.numel() == 0:
        return _rebuild_empty, (type(tensor), tuple(tensor.shape), tensor.dtype.name, tensor.requires_grad)
    share_memory_(tensor)
    name, nbytes = _files[_storage_start(tensor)]
    return rebuild_tensor, (type(tensor), name, nbytes, tensor.dtype.name, tuple(tensor.shape), tensor.stride(),
                            tensor.storage_offset(), tensor.requires_grad)


def _rebuild_empty(kind, shape, dtype, requires_grad):
    return of_class(kind, weir.empty(shape, dtype=getattr(weir, dtype)), requires_grad)


def rebuild_tensor(kind, name, nbytes, dtype, shape, stride, offset, requires_grad):
    """The tensor of another process over the same memory."""
    flat = _map(name, nbytes).view(getattr(weir, dtype))
    return of_class(kind, flat.as_strided(shape, stride, offset).detach(), requires_grad)


def init_reductions():
    """From now on processes exchange tensors by their memory."""
    _C._add_method("share_memory_", share_memory_)
    _C._add_method("is_shared", is_shared)
    for kind in (Tensor, weir.nn.Parameter, weir.nn.Buffer):
        ForkingPickler.register(kind, reduce_tensor)
