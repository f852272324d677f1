"""The committed list of PyTorch's modules of which weir has only the names: framework/weir/_absent_modules.txt.

    ./scripts/run python scripts/update_absent_modules.py            writes it from the installed PyTorch and the built library
    ./scripts/run python scripts/update_absent_modules.py --check    says whether it is up to date

Private modules are among them: of 380 libraries on PyPI fifty import one, few of them within a `try`.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

from weir import _absent_modules

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "framework" / "weir" / "_absent_modules.txt"
#: What PyTorch puts into sys.modules without a file.
ALIASES = ["distributed._tensor._shards_wrapper", "distributed._tensor._utils", "distributed._tensor.device_mesh", "distributed._tensor.experimental"]
NO_API = ("utils.data.datapipes",  # which programs have substitutes for where it cannot be imported
          "_vendor", "_lazy", "include", "lib", "bin", "share", "test", "testing", "ao.quantization._", "contrib")


def modules_of_pytorch() -> list[str]:
    """Dotted paths below `torch`, read off its files: nothing of it is imported."""
    home = Path(importlib.util.find_spec("torch").origin).parent
    found = []
    for file in sorted(home.rglob("*.py")):
        parts = file.relative_to(home).with_suffix("").parts
        path = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if path and parts[-1] != "__main__" and not path.startswith(NO_API):
            found.append(path)
    return found + ALIASES


def is_here(path: str) -> bool:
    """Whether weir has the module itself."""
    try:
        module = importlib.import_module(f"weir.{path}")
    except ModuleNotFoundError:  # of itself, or of a package that it needs and that is not installed
        return (ROOT / "framework" / "weir" / path.replace(".", "/")).with_suffix(".py").exists()
    return not isinstance(module, _absent_modules.Named)


def table() -> str:
    return "".join(f"{path}\n" for path in sorted(set(modules_of_pytorch())) if not is_here(path))


def main() -> int:
    if "--check" not in sys.argv[1:]:
        TABLE.write_text(table())
        return 0
    if TABLE.read_text() == table():
        return 0
    print(f"{TABLE.relative_to(ROOT)} is out of date; run scripts/update_absent_modules.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
