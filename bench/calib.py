"""The calibration worker: bandwidth of each cache level and of memory (copies, reads, updates in place), and peak multiply-add rate."""

import ctypes
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from weir_reports.provenance import machine

from .inputs import aligned
from .worker import serve

SOURCE = Path(__file__).with_name("calib.c")
FLAGS = ("-O3", "-march=native", "-ffp-contract=fast", "-fopenmp", "-shared", "-fPIC")
DRAM = 256 << 20  # bytes moved by one copy that no cache holds
DEFAULT_CACHES = {"L1": 32 << 10, "L2": 1 << 20, "L3": 16 << 20}


def tiers(caches: dict) -> dict[str, int]:
    """Returns bytes moved per pass at each level: half of what the level holds, so that all of it stays there."""
    sizes = {level: size // 2 for level, size in (caches or DEFAULT_CACHES).items()}
    return {**sizes, "dram": max(DRAM, 4 * max(sizes.values()))}


def kernels_for(case: dict, caches: dict) -> list[str]:
    """Returns the kernels that bound `case`: a copy, a read where little is written, or an update where a step writes
    over what it read, at the level that holds its bytes; and the multiply-adds.

    Returns none for a product of other dtypes than float32, whose units have a different peak.
    """
    if case["flops"] and any(t["dtype"] != "float32" for t in case["inputs"]):
        return []
    fitting = [level for level, size in tiers(caches).items() if case["bytes"] <= 2 * size]
    kind = "update" if case["mode"] == "step" else "read" if case["reads"] else "copy"
    memory = f"{kind}_{(fitting or ['dram'])[0]}"
    return ([memory] if case["bytes"] else []) + (["flops"] if case["flops"] else [])


def compile_kernels(folder: Path) -> str:
    """Compiles calib.c into `folder` and returns the library's path, or "" without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    library = folder / "calib.so"
    if compiler is None:
        return ""
    done = subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(library)], capture_output=True)
    return str(library) if done.returncode == 0 else ""


class CalibrationWorker:
    """Runs calibration kernels from the compiled library, or through NumPy where there is none."""

    def __init__(self, library: str, threads: int):
        self.threads = threads
        self.sizes = tiers(machine()["caches"])
        self.buffers: dict[str, list] = {}
        self.iters: dict[str, int] = {}
        self.library = ctypes.CDLL(library) if library else None

    def hello(self) -> dict:
        """Returns which kernels are in use."""
        return {"name": "calibration", "version": "c" if self.library else "numpy"}

    def kernel(self, name: str, block_ms: float) -> dict:
        """Runs kernel `name` for about `block_ms`; returns iters, wall_ns and the work (bytes or flops) of one."""
        if name not in self.iters:
            self.iters[name] = self._calibrate(name, block_ms)
        iters = self.iters[name]
        return {"iters": iters, "wall_ns": self._timed(name, iters), "work": self._work(name)}

    def _calibrate(self, name: str, block_ms: float) -> int:
        self._timed(name, 1)  # the first call pays for the buffers' pages
        iters = 1
        while (wall := self._timed(name, iters)) < block_ms * 2e5:
            iters *= 4
        return max(1, round(iters * block_ms * 1e6 / wall))

    def _timed(self, name: str, iters: int) -> int:
        kind, _, level = name.partition("_")
        start = time.monotonic_ns()
        getattr(self, "_" + kind)(level, iters)
        return max(1, time.monotonic_ns() - start)

    def _work(self, name: str) -> int:
        kind, _, level = name.partition("_")
        if level:
            return self.sizes[level] // 2 * {"copy": 2, "read": 2, "update": 3}[kind]
        return 2 * 512**3 if self.library is None else self.library.flops_per_iter() * self.threads

    def _buffers(self, level: str) -> list:
        """Returns target and source of a copy; together they are as large as the bytes it moves."""
        if level not in self.buffers:
            self.buffers[level] = [aligned(np.ones(self.sizes[level] // 2, np.uint8), slot) for slot in (0, 4)]
        return self.buffers[level]

    def _copy(self, level: str, iters: int) -> None:
        target, source = self._buffers(level)
        if self.library is not None:
            self.library.copy(_pointer(target), _pointer(source), ctypes.c_size_t(target.nbytes),
                              ctypes.c_long(iters), self.threads)
            return
        for _ in range(iters):
            np.copyto(target, source)

    def _read(self, level: str, iters: int) -> None:
        """Reads the source twice, so that one pass moves the same bytes as a copy."""
        source = self._buffers(level)[1]
        if self.library is not None:
            self.library.read_all(_pointer(source), ctypes.c_size_t(source.nbytes), ctypes.c_long(2 * iters),
                                  self.threads)
            return
        for _ in range(2 * iters):
            source.view(np.uint64).max()

    def _update(self, level: str, iters: int) -> None:
        """Writes over what it reads, which no copy does: lines come into the cache once, for both."""
        target, source = self._buffers(level)
        if self.library is not None:
            self.library.update(_pointer(target), _pointer(source), ctypes.c_size_t(target.nbytes), ctypes.c_long(iters), self.threads)
            return
        for _ in range(iters):
            np.maximum(target, source, out=target)

    def _flops(self, level: str, iters: int) -> None:
        if self.library is not None:
            self.library.flops(ctypes.c_long(iters), self.threads)
            return
        a = self.buffers.setdefault("flops", [np.ones((512, 512), np.float32)])[0]
        for _ in range(iters):
            a @ a


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


if __name__ == "__main__":
    serve(lambda: CalibrationWorker(sys.argv[1], int(sys.argv[2])))
