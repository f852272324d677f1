"""Switches of cuDNN, which this build has not."""
from . import switches as _switches

enabled, benchmark, deterministic, allow_tf32, benchmark_limit, fp32_precision = True, False, False, True, 10, "none"
CUDNN_TENSOR_DTYPES = set()
flags = _switches(globals(), enabled=False, benchmark=False, benchmark_limit=10, deterministic=False, allow_tf32=True)


def is_available():
    return False


def is_acceptable(tensor):
    return False


def version():
    return None


class _Layer:
    fp32_precision = "none"


conv, rnn = _Layer(), _Layer()

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
