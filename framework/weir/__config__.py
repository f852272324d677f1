"""How the package was built."""
from weir import _C


def show():
    """A text of the build's parts."""
    capability = _C.cpu_capability
    return ("weir built with:\n  - oneDNN\n  - OpenMP\n"
            f"  - CPU capability usage: {capability() if callable(capability) else capability}\n")


def parallel_info():
    """A text of the threads."""
    return f"OpenMP:\n\tget_num_threads() : {_C.get_num_threads()}\n"
