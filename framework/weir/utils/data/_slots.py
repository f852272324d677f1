"""Memory in which the batches of workers lie, mapped by the worker and the loader's process: a tensor travels as the number of its slot.

A worker takes a slot for each large tensor. It comes back when the last tensor over it is gone from the loader's process, and is taken again
once the worker holds none either, so that the pages of a slot are made once. Slots are anonymous files: nothing is left behind, however a
process ends.
"""

import errno
import io
import mmap
import os
import pickle
import weakref
from collections import deque
from dataclasses import dataclass, field

import weir
from weir import Tensor
from weir._lazy import np

LEAST = 32 << 10  # bytes of a tensor that is worth a slot; what is smaller is pickled
_MOST_IDLE = 8    # slots that a worker keeps for later
_FULL = (errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.EFBIG)


def possible(pid) -> bool:
    """May this process map the anonymous files of process `pid`?"""
    try:
        return hasattr(os, "memfd_create") and bool(os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # no /proc, or one that hides processes from each other
        return False


def _mapped(fd, size):
    return mmap.mmap(fd, size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))


def _tensor(array, dtype, shape):
    dtype = getattr(weir, dtype)
    return weir._C._mark_truths(weir.from_numpy(array)[:weir.Size(shape).numel() * dtype.itemsize].view(dtype)).view(shape)


@dataclass
class _Slot:
    number: int
    fd: int | None  # None once the other process has mapped it
    size: int
    memory: mmap.mmap
    array: weakref.ref | None = None  # what the worker's tensors over it hold


class Slots:
    """A worker's. `empty` gives memory for a batch, `dumps` the batch as bytes."""

    def __init__(self):
        self._all, self._idle, self._made = {}, [], 0
        self._batch = {}  # of this batch, by where it begins
        self._gone = []

    def begin(self, mapped, freed):
        """Begins a batch: the loader's process has mapped the slots `mapped` and is done with `freed`."""
        for number in mapped:
            slot = self._all[number]
            os.close(slot.fd)
            slot.fd = None
        self._idle += [self._all[number] for number in freed]
        self._idle += self._batch.values()  # taken, and then sent by nobody
        self._batch = {}

    def empty(self, shape, dtype):
        """A tensor in a slot; None where it is small, or memory or files are used up."""
        nbytes = weir.Size(shape).numel() * dtype.itemsize
        slot = self._slot(nbytes) if nbytes >= LEAST else None
        if slot is None:
            return None
        array = np.frombuffer(slot.memory, np.uint8, slot.size)
        slot.array = weakref.ref(array)
        made = _tensor(array, dtype.name, shape)
        self._batch[made.data_ptr()] = slot
        return made

    def _slot(self, nbytes):
        fitting = [s for s in self._idle if nbytes <= s.size <= 2 * nbytes and (s.array is None or s.array() is None)]
        if fitting:
            slot = min(fitting, key=lambda s: s.size)
            self._idle.remove(slot)
            return slot
        for slot in sorted(self._idle, key=lambda s: s.size)[:max(0, len(self._idle) - _MOST_IDLE)]:
            self._idle.remove(slot)
            del self._all[slot.number]
            if slot.fd is not None:
                os.close(slot.fd)
            self._gone.append(slot.number)
        fd = None
        try:
            fd = os.memfd_create("weir_batch")
            os.posix_fallocate(fd, 0, nbytes)  # an error where memory is short, not a signal at the first write
            slot = _Slot(self._made, fd, nbytes, _mapped(fd, nbytes))
        except OSError as error:
            if fd is not None:
                os.close(fd)
            if error.errno not in _FULL:
                raise
            return None
        self._made += 1
        self._all[slot.number] = slot
        return slot

    def dumps(self, value):
        """(bytes, the numbers of the slots they name, numbers of slots that are no more)."""
        out = io.BytesIO()
        pickler = _Pickler(out, self)
        pickler.dump(value)
        self._batch = {place: slot for place, slot in self._batch.items() if slot.number not in pickler.sent}
        gone, self._gone = self._gone, []
        return out.getvalue(), list(pickler.sent), gone

    def place(self, tensor):
        """The slot of a large plain tensor, into which it is copied where it lies elsewhere; None where it has none."""
        slot = self._batch.get(tensor.data_ptr())
        if slot is None:
            copy = self.empty(tensor.shape, tensor.dtype)
            if copy is None:
                return None
            copy.copy_(tensor)
            slot = self._batch[copy.data_ptr()]
        return slot


class _Pickler(pickle.Pickler):
    def __init__(self, out, slots):
        super().__init__(out, pickle.HIGHEST_PROTOCOL)
        self._slots, self.sent = slots, set()

    def reducer_override(self, value):
        if type(value) is not Tensor or value.layout != weir.strided or not value.is_contiguous() or value.nbytes < LEAST \
                or value.requires_grad or value.is_conj() or value.is_neg() or vars(value):
            return NotImplemented
        slot = self._slots.place(value)
        if slot is None:
            return NotImplemented
        self.sent.add(slot.number)
        return placed, (os.getpid(), slot.number, slot.fd, slot.size, value.dtype.name, tuple(value.shape))


@dataclass
class Received:
    """What the loader's process knows of a worker's slots: their memory here, and what the worker is to be told of them."""

    maps: dict = field(default_factory=dict)
    arrays: dict = field(default_factory=dict)  # what tensors over a slot hold, as weak references
    mapped: list = field(default_factory=list)
    freed: deque = field(default_factory=deque)  # filled by whichever thread lets a tensor go

    def news(self):
        """What to tell the worker with its next task: slots that are mapped since, and slots that are free."""
        mapped, self.mapped = self.mapped, []
        return mapped, [self.freed.popleft() for _ in range(len(self.freed))]

    def drop(self, sent, gone):
        """A batch that nobody will load."""
        self.freed += sent
        self.forget(gone)

    def forget(self, gone):
        """Slots that the worker has no more."""
        for number in gone:
            self.maps.pop(number, None)
            self.arrays.pop(number, None)


received: dict = {}  # pid of a worker -> Received


def placed(pid, number, fd, size, dtype, shape):
    """A tensor over a worker's slot, which is free again when the last one over it is gone."""
    mine = received[pid]
    if number not in mine.maps:
        other = os.open(f"/proc/{pid}/fd/{fd}", os.O_RDWR)
        try:
            mine.maps[number] = _mapped(other, size)
        finally:
            os.close(other)
        mine.mapped.append(number)
    array = mine.arrays[number]() if number in mine.arrays else None
    if array is None:
        array = np.frombuffer(mine.maps[number], np.uint8, size)
        mine.arrays[number] = weakref.ref(array)
        weakref.finalize(array, lambda: mine.freed.append(number)).atexit = False
    return _tensor(array, dtype, shape)
