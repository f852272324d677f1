"""Runs a program written for PyTorch, unchanged, on weir.

    python -m weir [--missing] program.py [arguments]
    python -m weir [--missing] -m module [arguments]
    python -m weir [--missing] -c "code" [arguments]

`import torch` and every `torch.x.y` in the program, and in the libraries and processes it uses, are answered by weir.

options:
  --missing   print at the end which names of PyTorch the program asked for in vain (also: WEIR_MISSING=1)
  --version   print the versions of weir and of the API it follows
  --help      print this text

examples:
  python -m weir train.py --epochs 3
  python -m weir -m pytest tests/test_model.py
  python -m weir -c "import torch; print(torch.ones(3) + 1)"
  WEIR_MISSING=1 python -m weir train.py
"""
import atexit
import importlib.util
import os
import sys
import types
from pathlib import Path

import weir

_SHIM = str(Path(__file__).resolve().parent / "_shim")


def _parse(arguments):
    """(options, kind of program, what to run, its arguments). SystemExit with status 2 when there is nothing to run."""
    options = set()
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option in ("-m", "-c"):
            if not arguments:
                sys.exit(f"python -m weir: argument expected for the {option} option")
            return options, option, arguments.pop(0), arguments
        if option not in ("--missing", "--version", "--help", "-h"):
            print(f"python -m weir: unknown option {option}\ntry 'python -m weir --help'", file=sys.stderr)
            sys.exit(2)
        options.add(option)
    if not arguments and not options & {"--help", "-h", "--version"}:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    return options, "", *((arguments[0], arguments[1:]) if arguments else (None, []))


def _for_children():
    """Processes started by the program find `torch` too: by the search path, which they inherit."""
    import_root = str(Path(weir.__file__).parent.parent)
    before = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([_SHIM, import_root, *filter(None, [before])])
    sys.path.insert(min(1, len(sys.path)), _SHIM)


def _program(kind, name):
    """(code, the new __main__) of a file, a module or a text, with the attributes that Python gives them."""
    main = types.ModuleType("__main__")
    if kind == "-c":
        return compile(name, "<string>", "exec", dont_inherit=True), main
    if kind == "-m":
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(name + ".__main__")
        if spec is None or spec.loader is None:
            sys.exit(f"{sys.executable}: No module named {name}")
        main.__spec__, main.__file__, main.__package__ = spec, spec.origin, spec.parent
        sys.argv[0] = spec.origin
        return spec.loader.get_code(spec.name), main
    if not os.path.exists(name):
        print(f"{sys.executable}: can't open file {os.path.abspath(name)!r}: [Errno 2] No such file or directory",
              file=sys.stderr)
        sys.exit(2)
    if os.path.isdir(name):
        name = os.path.join(name, "__main__.py")
    main.__file__ = name
    main.__package__ = None
    with open(name, "rb") as file:
        return compile(file.read(), name, "exec", dont_inherit=True), main


def _print_missing():
    from ._as_torch import missing_names
    names = missing_names()
    print(f"weir: {len(names)} names of PyTorch were asked for in vain" + (":" if names else ""), file=sys.stderr)
    for name, count in sorted(names.items()):
        print(f"  {name}" + (f"  ({count} times)" if count > 1 else ""), file=sys.stderr)


def _without_own_frames(show):
    """An excepthook that leaves out what stands above the program in the traceback."""
    def excepthook(kind, error, trace):
        from ._as_torch import note_missing
        if isinstance(error, AttributeError) and isinstance(getattr(error, "obj", None), weir.Tensor):
            note_missing(f"torch.Tensor.{error.name}")
        while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)
    return excepthook


def main():
    """Runs the program of sys.argv in this process."""
    options, kind, name, rest = _parse(sys.argv[1:])
    if options & {"--help", "-h"}:
        return print(__doc__.strip())
    if "--version" in options:
        from .torch_version import API_VERSION
        return print(f"weir {weir.__version__}, PyTorch's API of {API_VERSION}")
    missing = "--missing" in options or os.environ.get("WEIR_MISSING", "0") not in ("", "0")
    sys.argv = [kind if kind else name, *rest]
    if not sys.flags.safe_path:  # Python put the working directory there for `-m weir`
        sys.path[0] = os.getcwd() if kind == "-m" else "" if kind else os.path.dirname(os.path.abspath(name))
    _for_children()
    weir.as_torch(missing=missing)
    if missing:
        atexit.register(_print_missing)
    code, module = _program(kind, name)
    sys.modules["__main__"] = module
    module.__builtins__ = __builtins__
    sys.excepthook = _without_own_frames(sys.excepthook)
    exec(code, module.__dict__)


if __name__ == "__main__":
    main()
