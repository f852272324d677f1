"""Where a measurement was made: source revision, machine, Python and library versions."""

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

from .hashing import digest

USUAL_LIBRARIES = ("numpy", "scipy", "torch", "weir", "onednn-cpu-gomp")
# The instruction sets that decide which kernels a library picks; the other flags of a CPU would only add noise.
ISA_FLAGS = ("sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile",
             "amx_bf16", "asimd", "asimddp", "sve", "bf16", "i8mm")
# Variables by which libraries are told which kernels to take, or how to wait and where to find memory: figures made under one are another
# series, and whoever reads them must know.
SETTINGS = ("ATEN_CPU_CAPABILITY", "DNNL_DEFAULT_FPMATH_MODE", "DNNL_MAX_CPU_ISA", "GLIBC_TUNABLES", "GOMP_SPINCOUNT", "KMP_AFFINITY", "KMP_BLOCKTIME",
            "LD_PRELOAD", "MALLOC_ARENA_MAX", "MKL_CBWR", "MKL_DEBUG_CPU_TYPE", "MKL_ENABLE_INSTRUCTIONS", "OMP_PROC_BIND", "OMP_WAIT_POLICY",
            "ONEDNN_DEFAULT_FPMATH_MODE", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "WEIR_CPU_CAPABILITY")
CACHE_DIR = Path("/sys/devices/system/cpu/cpu0/cache")


def provenance(libraries=()) -> dict:
    """Returns the `provenance` object of a record; `libraries` are distribution names besides the usual ones."""
    names = sorted({*USUAL_LIBRARIES, *libraries})
    versions = {name: version for name in names if (version := _installed(name))}
    return {"revision": revision(), "machine": machine(), "libraries": versions,
            "python": {"version": platform.python_version(), "implementation": platform.python_implementation()}}


def revision(folder: Path = Path(__file__).resolve().parent) -> dict:
    """Returns {sha, dirty} of the git checkout that holds `folder`, both null outside a checkout."""
    sha = _git(folder, "rev-parse", "HEAD")
    if sha is None:
        return {"sha": None, "dirty": None}
    return {"sha": sha, "dirty": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}


def machine() -> dict:
    """Returns the machine's fingerprint. Sizes are bytes.

    `class_key` hashes only what a reboot, a resize of RAM or a kernel upgrade does not change, so that the
    measurements of equal machines form one series. `settings` are the SETTINGS that are set, {} where none is.
    """
    cpu = _cpuinfo()
    stable = {"cpu": cpu["model"], "family": cpu["family"], "model": cpu["model_number"],
              "cores": len(os.sched_getaffinity(0)), "isa": cpu["isa"], "caches": _caches(),
              "architecture": platform.machine()}
    settings = {name: os.environ[name] for name in SETTINGS if os.environ.get(name)}
    class_key = digest({**stable, "settings": settings} if settings else stable)[:12]
    ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {**stable, "settings": settings, "ram": ram, "kernel": platform.release(), "class_key": class_key}


def _cpuinfo() -> dict:
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    first = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in first.items()}
    flags = set(fields.get("flags", fields.get("Features", "")).split())
    return {"model": fields.get("model name", platform.processor() or "unknown"),
            "family": fields.get("cpu family", ""), "model_number": fields.get("model", ""),
            "isa": [flag for flag in ISA_FLAGS if flag in flags]}


def _caches() -> dict:
    """Returns data cache sizes in bytes, e.g. {"L1": 32768, "L2": 1048576}; empty where the system hides them."""
    sizes = {}
    for index in sorted(CACHE_DIR.glob("index*")):
        if (index / "type").read_text().strip() != "Instruction":
            kilobytes = (index / "size").read_text().strip().removesuffix("K")
            sizes["L" + (index / "level").read_text().strip()] = int(kilobytes) * 1024
    return sizes


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _git(folder: Path, *args: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
