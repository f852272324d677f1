"""NVRTC through ctypes: CUDA text in, a program for a GPU out. Needs no GPU."""

import ctypes
import ctypes.util
import importlib.util
from pathlib import Path


class CompileError(Exception):
    """NVRTC's log."""


def library() -> ctypes.CDLL | None:
    """Returns libnvrtc of the PyPI wheel or of a CUDA toolkit, or None."""
    for path in _candidates():
        try:
            # NVRTC opens its builtins by name alone: they must be there before it asks.
            for builtins in sorted(Path(path).parent.glob("libnvrtc-builtins.so*")):
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(str(path))
        except OSError:
            continue
    return None


def _candidates():
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations if spec else []):
        yield from sorted(Path(folder).glob("*/lib/libnvrtc.so*"), reverse=True)
    yield from sorted(Path("/usr/local").glob("cuda*/lib64/libnvrtc.so*"), reverse=True)
    if found := ctypes.util.find_library("nvrtc"):
        yield found


def compile_cuda(lib: ctypes.CDLL, text: str, arch: str = "sm_90") -> bytes:
    """Returns the cubin of `text`. Raises CompileError with the log."""
    program = ctypes.c_void_p()
    _check(lib, lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"formulas.cu", 0, None, None))
    try:
        options = [f"-arch={arch}".encode(), b"--std=c++20", b"-default-device"]
        if lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)):
            raise CompileError(_text(lib, program, "ProgramLog").decode())
        return _text(lib, program, "CUBIN")
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))


def _text(lib, program, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(lib, getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(lib, getattr(lib, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def _check(lib, code: int) -> None:
    if code:
        lib.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise CompileError(lib.nvrtcGetErrorString(code).decode())
