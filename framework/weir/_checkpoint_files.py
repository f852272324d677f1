"""What libraries ask of `torch.serialization` about files and storages beside saving and loading."""
import contextlib
import os
import pickletools
import zipfile

import weir

from ._absent import absent_names
from ._pickle_reader import LoadError


def get_unsafe_globals_in_checkpoint(f):
    """The classes and functions, as "module.name", that a file of `save` names and `load` refuses. Nothing of it is loaded.

    f: a path or a binary file. ValueError of what is no such file.
    """
    from .serialization import _find
    with _open_file_like(f, "rb") as file:
        if not _is_zipfile(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if any(name.endswith("constants.pkl") for name in names):
                raise ValueError("Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint")
            found = _globals(archive.read(next(name for name in names if name.endswith("data.pkl"))))
    unsafe = []
    for module, name in found:
        try:
            _find(module, name)
        except LoadError:
            unsafe.append(f"{module}.{name}")
    return unsafe


def _globals(text):
    """(module, name) of all that a pickle names, each once: by GLOBAL as torch.save writes it, or by two strings before STACK_GLOBAL."""
    found, strings = {}, []
    for op, value, _ in pickletools.genops(text):
        if op.name == "GLOBAL":
            found[tuple(value.split(" ", 1))] = None
        elif op.name == "STACK_GLOBAL":
            found[tuple(strings[-2:])] = None
        elif isinstance(value, str):
            strings.append(value)
    return list(found)


def _is_zipfile(f):
    """Whether a binary file begins as PyTorch's archives do. It stays where it is."""
    start = f.tell()
    magic = f.read(4)
    f.seek(start)
    return magic == b"PK\x03\x04"


def _open_file_like(name_or_buffer, mode):
    """A scope of the file: of a path one that is opened and closed, of an open file that one."""
    if isinstance(name_or_buffer, (str, os.PathLike)):
        return open(name_or_buffer, mode)
    if not set(mode) & {"r", "w"}:
        raise RuntimeError(f"Expected 'r' or 'w' in mode but got {mode}")
    return contextlib.nullcontext(name_or_buffer)


def _check_dill_version(pickle_module):
    """ValueError of a dill before 0.3.1."""
    if pickle_module is not None and pickle_module.__name__ == "dill" and tuple(map(int, pickle_module.__version__.split(".")[:3])) < (0, 3, 1):
        raise ValueError(f"'torch' supports dill >= 0.3.1, but you have dill {pickle_module.__version__}. Please upgrade dill or switch to 'pickle'")


def location_tag(storage):
    """The name of a storage's device as files have it."""
    return storage.device.type


def normalize_storage_type(storage_type):
    """The package's class of that name."""
    return getattr(weir, storage_type.__name__)


def default_restore_location(storage, location):
    """storage on the device that a file names. RuntimeError of one that is not here."""
    if location not in ("cpu", "meta"):
        raise RuntimeError(f"don't know how to restore data location of {weir.typename(storage)} (tagged with {location})")
    return storage if location == "cpu" else storage.to("meta")


__getattr__ = absent_names("weir.serialization", """_legacy_load _load _legacy_save _save _open_zipfile_reader _open_zipfile_writer _is_torchscript_zip
    skip_data set_default_mmap_options get_default_mmap_options register_package""", "weir reads and writes files by load and save alone")
