"""The committed pictures of the API: tests/golden/schema.json and the type stubs framework/weir/_stubs.pyi
and _C.pyi.

    ./scripts/run python scripts/update_schema.py            writes them from the built library
    ./scripts/run python scripts/update_schema.py --check    says whether they are up to date

Both make a change of the API visible in review; a test compares them with what is built.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import stubs  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
UPDATE = "./scripts/run python scripts/update_schema.py"


def pictures() -> dict[Path, str]:
    """Returns the text that each committed file should have, from the built library."""
    import weir
    from _weir import schema

    # By name, for review; overloads of a name stay in the order in which they are tried.
    ops = sorted(schema(), key=lambda op: op["name"].split(".")[0])
    # A line per op, so that a change is one line. Kernels differ by machine and are left out.
    lines = (json.dumps({key: value for key, value in op.items() if key != "kernels"}) for op in ops)
    return {ROOT / "tests" / "golden" / "schema.json": "[\n" + ",\n".join(lines) + "\n]\n",
            ROOT / "framework" / "weir" / "_stubs.pyi": stubs.module(ops),
            ROOT / "framework" / "weir" / "_C.pyi": stubs.core(weir.Tensor, ops)}


def stale() -> list[str]:
    """Returns the committed files that differ from the built library, by their paths in the repository."""
    return [str(path.relative_to(ROOT)) for path, text in pictures().items()
            if not path.exists() or path.read_text() != text]


def update() -> list[str]:
    """Writes the files that differ and returns their paths in the repository."""
    changed = stale()
    for path, text in pictures().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return changed


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        changed = stale()
        print(f"out of date: {', '.join(changed)}; run {UPDATE}" if changed else "up to date")
        return bool(changed)
    print("written: " + (", ".join(update()) or "nothing, all were up to date"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
