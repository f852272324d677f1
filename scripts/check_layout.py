"""Checks the rules that docs and style give the tree, and prints each violation as one sentence.

    python scripts/check_layout.py [ROOT]

Every exception stands in a table here with its reason, and an exception that is no longer needed is a violation
itself: the tables can only shrink.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = {"framework", "autotest", "bench", "dlperf", "reports", "scripts", "tests", "docs"}
META = {"CMakeLists.txt", "CMakePresets.json", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md",
        "CONTRIBUTING.md", "SECURITY.md"}
OPTIONAL_META = META - {"CMakeLists.txt", "pyproject.toml", "README.md"}

# A folder of framework/ includes itself and what stands to its left.
ORDER = ("core", "op", "autograd", "distributed", "graph", "ops", "kernels", "io", "serve", "binding")
# Narrower than the order: kernels see op structs and core, nobody above sees a kernel.
KERNELS_SEE = {"core", "op", "ops", "kernels"}
KERNEL_DOORS = {"load.h"}

# Python packages: who may import whom. The framework imports neither the tools nor the oracle.
TOOLS = {"autotest": "weir_autotest", "bench": "weir_bench", "dlperf": "weir_dlperf", "reports": "weir_reports"}
FORBIDDEN_IMPORTS = {"framework": {*TOOLS.values(), "torch"},
                     **{tool: {*TOOLS.values()} - {package, "weir_reports"} for tool, package in TOOLS.items()}}

# Folders and modules of a tool that import themselves and what stands to their left; the others are above them all.
TOOL_ORDER = {"autotest": ("cases", "check", "workers", "generate", "campaign", "opdb"), "bench": ("case", "inputs", "answers", "derivatives", "phrases", "plans", "worker", "listing", "opdb", "varied", "cases"),
              "dlperf": ("weights", "models", "data", "trainers")}

# The op layer of the Python package, which spells calls and computes nothing: what reads values on the host is hidden from tracer and device.
OP_LAYER = ("_composites/", "nn/functional/", "signal/", "fft.py", "linalg.py", "masked.py", "special.py")
VALUE_READERS = {"item", "tolist", "numpy", "__array__"}
READS_VALUES = {
    "framework/weir/_composites/elementwise.py: bool(input)": "is_nonzero asks for a truth of Python's",
    "framework/weir/_composites/matrix.py: dims.item()": "tensordot takes its axes as a tensor too",
    "framework/weir/_composites/matrix.py: dims.tolist()": "tensordot takes its axes as a tensor too",
}

MAX_LINES = 500
SOURCES = {".py", ".cpp", ".h", ".cu", ".c", ".cmake"}
LONG: dict = {}  # path: why it holds one idea all the same

NOT_SNAKE = {
    "framework/weir/_C.py": "PyTorch's name for the extension module",
    "framework/weir/_C.pyi": "its types",
}
KERNELS_WITHOUT_FAMILY = {
    "casts": "numbers of one dtype as numbers of another, for all families",
    "copying": "copies between layouts and dtypes, for all families",
    "fft_power": "steps of fft.cpp, compiled with other options",
    "loops": "how strided loops run, for all pointwise families",
    "tiles": "products of bfloat16 by AMX, for products and attention",
}
# Families of framework/ (a file name, whatever its folder) without a test of their own.
_OP_DATABASE = "values and gradients are checked by weir-autotest only"
_BINDING = "runs under every Python test"
UNTESTED = {
    "activation": _OP_DATABASE,
    "arithmetic": _OP_DATABASE,
    "autocast": "none yet",
    "autograd": _BINDING,
    "compare": _OP_DATABASE,
    "indexing": _BINDING,
    "pad": _OP_DATABASE,
    "softmax": _OP_DATABASE,
    "tensor_object": _BINDING,
    "view": _OP_DATABASE,
}


def main(root: Path) -> int:
    """Prints the violations. Returns how many there are."""
    found = violations(root)
    for line in found:
        print(line)
    return len(found)


def violations(root: Path) -> list[str]:
    """Returns all violations in the tree at `root`, sorted within each rule."""
    files = sorted(tracked(root))
    rules = (top_level, include_direction, kernel_calls, import_direction, tool_direction, op_layer, kernel_families, names, test_names, lengths,
             test_mirror)
    return [line for rule in rules for line in rule(root, files)]


def tracked(root: Path) -> list[str]:
    """Returns the files git would commit, or all files where `root` is no checkout."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        return [name for name in dict.fromkeys(listed) if (root / name).is_file()]
    return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]


def top_level(root: Path, files: list[str]) -> list[str]:
    """The top holds the fixed folders and meta files, and nothing else."""
    present = {name.split("/")[0] for name in files if not name.startswith(".")}
    extra = [f"{name} stands at the top: only {', '.join(sorted(FOLDERS))} and meta files do"
             for name in sorted(present - FOLDERS - META)]
    return extra + [f"{name} is missing at the top" for name in sorted((FOLDERS | META) - OPTIONAL_META - present)]


def include_direction(root: Path, files: list[str]) -> list[str]:
    """Includes within framework/ point down."""
    found = []
    for name in files:
        parts = name.split("/")
        if parts[0] != "framework" or len(parts) < 3 or Path(name).suffix not in {".h", ".cpp", ".cu"}:
            continue
        for target in re.findall(r'^\s*#include "framework/([^"]+)"', (root / name).read_text(), re.M):
            if not _may_include(parts[1], target):
                found.append(f"{'/'.join(parts[1:])} includes {target}: {parts[1]} may not include {target.split('/')[0]}")
    return found


def _may_include(folder: str, target: str) -> bool:
    to, _, rest = target.partition("/")
    if folder not in ORDER or to not in ORDER:
        return False
    if folder == "kernels":
        return to in KERNELS_SEE
    if to == "kernels":
        return rest in KERNEL_DOORS and ORDER.index(folder) > ORDER.index(to)
    return ORDER.index(to) <= ORDER.index(folder)


def kernel_calls(root: Path, files: list[str]) -> list[str]:
    """Kernels never call the door back."""
    door = re.compile(r"(?<![\w.>])(find_op|call|call_list|call_below)\(|\bfn::")
    return [f"{name} calls the door ({found[0]}): a kernel may use other kernels only" for name in files
            if name.startswith("framework/kernels/") and Path(name).suffix in SOURCES and (found := door.search((root / name).read_text()))]


def import_direction(root: Path, files: list[str]) -> list[str]:
    """The framework knows nothing of the tools and of PyTorch; tools know records only."""
    found = []
    for name in files:
        forbidden = FORBIDDEN_IMPORTS.get(name.split("/")[0], set())
        if name.endswith(".py") and forbidden:
            found += [f"{name} imports {module}: {name.split('/')[0]} may not import {module}"
                      for module in sorted(_imports(root / name) & forbidden)]
    return found


def _imports(path: Path) -> set[str]:
    modules = []
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules.append(node.module)
    return {module.split(".")[0] for module in modules}


def tool_direction(root: Path, files: list[str]) -> list[str]:
    """Within a tool, imports point down too."""
    found = []
    for name in files:
        tool, *inside = name.split("/")
        order = TOOL_ORDER.get(tool, ())
        part = inside[0].removesuffix(".py") if inside else ""
        if not name.endswith(".py") or part not in order:
            continue
        seen = {module for module in _relative(root / name, inside) if module != part}
        found += [f"{name} imports {module}: {part} may not import {module}" for module in sorted(seen)
                  if module not in order or order.index(module) > order.index(part)]
    return found


def _relative(path: Path, inside: list[str]) -> set[str]:
    """The folders and modules at the top of a tool that a file `inside` it imports by relative names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.ImportFrom) and node.level:
            package = inside[:-node.level]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join([*package, name]).split(".")[0] for name in names}
    return found


def op_layer(root: Path, files: list[str]) -> list[str]:
    """Nothing in Python between the parsing of arguments and a kernel reads a tensor's values, computes in NumPy or has a gradient of its own."""
    found, excused = [], set()
    for name in files:
        if not name.startswith("framework/weir/") or not name.endswith(".py") or not name.removeprefix("framework/weir/").startswith(OP_LAYER):
            continue
        for what in _computes_in_python(ast.parse((root / name).read_text(), name)):
            excuse = f"{name}: {what}"
            excused.add(excuse)
            if excuse not in READS_VALUES:
                found.append(f"{excuse}: the op layer may not; make it an op (docs/add_an_op.md)")
    return found + _stale("READS_VALUES", READS_VALUES.keys() - excused, root)


def _computes_in_python(tree: ast.AST):
    """What a module does with values, as short pieces of source."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"import {n}" for n in names if n.split(".")[0] == "numpy")
        elif isinstance(node, ast.ClassDef):
            yield from (f"class {node.name}({ast.unparse(b)})" for b in node.bases if ast.unparse(b).split(".")[-1] == "Function")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VALUE_READERS:
            yield ast.unparse(node)
        elif isinstance(node, ast.FunctionDef):
            tensors = {a.arg for a in (*node.args.args, *node.args.kwonlyargs) if a.annotation and ast.unparse(a.annotation) == "Tensor"}
            for part in ast.walk(node):
                if isinstance(part, ast.Call) and ast.unparse(part.func) in ("bool", "int", "float") and part.args and ast.unparse(part.args[0]) in tensors:
                    yield ast.unparse(part)
                elif isinstance(part, (ast.For, ast.comprehension)) and ast.unparse(part.iter) in tensors:
                    yield f"for {ast.unparse(part.target)} in {ast.unparse(part.iter)}"


def kernel_families(root: Path, files: list[str]) -> list[str]:
    """A kernel file has the name of the op family it serves."""
    present, found, used = set(files), [], set()
    for name in files:
        match = re.fullmatch(r"framework/kernels/(cpu|cuda)/(\w+)\.(cpp|cu)", name)
        if not match or {f"framework/ops/{match[2]}.h", f"framework/op/{match[2]}.h"} & present:
            continue
        used.add(match[2])
        if match[2] not in KERNELS_WITHOUT_FAMILY:
            found.append(f"kernels/{match[1]}/{match[2]}.{match[3]} has no family: neither ops/{match[2]}.h nor "
                         f"op/{match[2]}.h exists")
    return found + _stale("KERNELS_WITHOUT_FAMILY", set(KERNELS_WITHOUT_FAMILY) - used, root)


def names(root: Path, files: list[str]) -> list[str]:
    """File names are lower_snake."""
    code = [name for name in files if name.split("/")[0] in FOLDERS - {"docs"}]
    bad = {name for name in code if name.split("/")[-1] not in META
           and not re.fullmatch(r"\.?[a-z0-9_]+(\.[a-z0-9_]+)*", name.split("/")[-1])}
    return [f"{name}: file names are lower_snake" for name in sorted(bad - set(NOT_SNAKE))] + \
        _stale("NOT_SNAKE", set(NOT_SNAKE) - bad, root)


def test_names(root: Path, files: list[str]) -> list[str]:
    """No two test files have one name: pytest imports them by it, and would stop before the first test."""
    places: dict = {}
    for name in files:
        if re.fullmatch(r"tests/(.+/)?(test_\w+|\w+_test)\.py", name):
            places.setdefault(Path(name).name, []).append(name)
    return [f"{' and '.join(same)} have one name: pytest cannot import both"
            for _, same in sorted(places.items()) if len(same) > 1]


def lengths(root: Path, files: list[str]) -> list[str]:
    """A source stays within one idea."""
    counts = {name: (root / name).read_bytes().count(b"\n") for name in files if Path(name).suffix in SOURCES}
    long = {name for name, count in counts.items() if count > MAX_LINES}
    return [f"{name} has {counts[name]} lines: more than {MAX_LINES} usually hold two ideas"
            for name in sorted(long - set(LONG))] + _stale("LONG", set(LONG) - long, root)


def test_mirror(root: Path, files: list[str]) -> list[str]:
    """Every source of framework/ has a test of its family's name, or one that mentions it by path."""
    tests = [name for name in files if name.startswith("tests/framework/")]
    present = {Path(name).name for name in tests}
    text = "\n".join((root / name).read_text() for name in tests if Path(name).suffix in {".py", ".cpp"})
    lacking = {}  # family: its first source
    for name in files:
        if not re.fullmatch(r"framework/\w+/(\w+/)?\w+\.cpp", name):
            continue
        stem = Path(name).stem
        if not {f"{stem}_test.cpp", f"test_{stem}.py"} & present and name not in text:
            lacking.setdefault(stem, name)
    return [f"{lacking[stem]} has no test: add tests/framework/.../{stem}_test.cpp or test_{stem}.py, or name its path "
            "in the test that covers it" for stem in sorted(lacking.keys() - UNTESTED.keys())] + \
        _stale("UNTESTED", UNTESTED.keys() - lacking.keys(), root)


def _stale(table: str, entries: set[str], root: Path) -> list[str]:
    # The tables speak of this repository; a fixture tree has none of their files.
    if root.resolve() != Path(__file__).resolve().parents[1]:
        return []
    return [f"{table} in scripts/check_layout.py excuses {entry}, which needs no excuse any more: remove it"
            for entry in sorted(entries)]


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))))
