"""Files that torch.save wrote before its zip format: five pickles, then the storages one after another.

Source: _legacy_save in torch/serialization.py.
"""

import struct

from ._pickle_reader import LoadError, Reader

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_HEADER = b"\x80\x02\x8a\x0a" + _MAGIC.to_bytes(10, "little")


def is_legacy(file) -> bool:
    """Does the file begin as such files do? Leaves the position where it was."""
    start = file.tell()
    head = file.read(len(_HEADER))
    file.seek(start)
    return head == _HEADER


def read_legacy(file, find, make, storages):
    """The object of such a file. Raises LoadError."""
    def plain():
        return Reader(file, _nothing, _nothing).read()

    if plain() != _MAGIC or plain() != _PROTOCOL:
        raise LoadError("not a file of torch.save")
    if not isinstance(info := plain(), dict) or info.get("little_endian") is not True:
        raise LoadError("the file was written in another byte order")
    memory = {}  # key -> the storage's bytes, which follow after the pickles

    def reserve(key, size):
        return memory.setdefault(key, bytearray(_affordable(file, size)))

    known = storages(reserve)

    def persistent(description):
        if isinstance(description, tuple) and len(description) == 6:
            if description[5] is not None:
                raise LoadError("views between storages of old files are not supported")
            description = description[:5]
        return known(description)

    result = Reader(file, find, persistent, make).read()
    keys = plain()
    if not isinstance(keys, list) or set(keys) != set(memory) or len(keys) != len(memory):
        raise LoadError("the file lists other storages than it refers to")
    for key in keys:
        (count,) = struct.unpack("<q", _exactly(file, 8))
        if count < 0:
            raise LoadError(f"storage {key!r} has {count} elements")
        memory[key][:] = _exactly(file, len(memory[key]))
    return result


def _nothing(*_):
    raise LoadError("a name or reference where the format has none")


def _affordable(file, size):
    here = file.tell()
    left = file.seek(0, 2) - here
    file.seek(here)
    if size > left:
        raise LoadError(f"a storage of {size} bytes, the file has {left} left")
    return size


def _exactly(file, size):
    data = file.read(size)
    if len(data) != size:
        raise LoadError("the file ends early")
    return data
