"""Functions that PyTorch took away and still names, so that a program that calls one learns what replaced it."""

_INSTEAD = {"eig": "eig", "symeig": "eigh", "lstsq": "lstsq", "matrix_rank": "matrix_rank", "solve": "solve"}


def _removed(name, instead):
    def function(*args, **kwargs):
        raise RuntimeError(f"torch.{name}: This function was deprecated since version 1.9 and is now removed; use torch.linalg.{instead}")
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"RuntimeError: gone from PyTorch too; torch.linalg.{instead} does it."
    return function


functions = {name: _removed(name, instead) for name, instead in _INSTEAD.items()}
globals().update(functions)
