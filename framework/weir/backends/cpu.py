"""What the kernels found in this CPU."""
from weir import _C


def get_cpu_capability():
    """The instruction set in use, in PyTorch's words: "DEFAULT", "AVX2" or "AVX512"."""
    name = _C.cpu_capability
    name = name() if callable(name) else name
    return {"avx2": "AVX2", "avx512": "AVX512"}.get(name.lower().split("_")[0], "DEFAULT")
