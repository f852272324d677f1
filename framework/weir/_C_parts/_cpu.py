"""`torch._C._cpu`: what the processor can do, as the kernel says."""
import functools
import os
import platform

import weir

#: PyTorch's names of flags -> those of /proc/cpuinfo, where they are others; avx512_f is avx512f there.
_FLAGS = {"fma3": "fma", "lzcnt": "abm", "sha": "sha_ni", "sse3": "pni", "bmi": "bmi1"}
_NAMES = """sse sse2 sse3 ssse3 sse4_1 sse4_2 sse4a avx avx2 avx_vnni avx512_f avx512_cd avx512_dq avx512_bw avx512_vl avx512_ifma avx512_vbmi
    avx512_vbmi2 avx512_bitalg avx512_vpopcntdq avx512_vnni avx512_bf16 avx512_fp16 avx512_vp2intersect avx512_4vnniw avx512_4fmaps amx_bf16
    amx_tile amx_int8 amx_fp16 avx10_1 f16c fma3 fma4 bmi bmi2 popcnt lzcnt aes sha clflush clflushopt clwb""".split()


@functools.cache
def _flags():
    try:
        with open("/proc/cpuinfo") as file:
            return frozenset(next((line.split(":")[1] for line in file if line.startswith("flags")), "").split())
    except OSError:
        return frozenset()


def _has(name):
    if name == "avx10_1":
        return weir._C._has_avx10
    known = _FLAGS.get(name, name)
    return known in _flags() or known.replace("avx512_", "avx512") in _flags()


def _get_cpu_capability():
    """{name: is it there}, with the architecture and the number of logical cores."""
    return {name: _has(name) for name in _NAMES} | {"architecture": platform.machine(), "num_logical_cores": os.cpu_count()}


def _init_amx():
    """Are tiles ready for kernels of programs? weir asks for none."""
    return False
