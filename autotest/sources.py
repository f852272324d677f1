"""Which names of PyTorch a program's sources use, and what the subject answers for each: the question before a program is switched over.

    weir-autotest names PATH ... [--json FILE]

Sources are parsed, never run. A name counts where the oracle has it too; for the subject it is there, "named" (using it raises),
"absent", or refuses a keyword that the program gives. Both frameworks answer in processes of their own.
"""
import ast
import importlib.util
import json
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .campaign.tasks import UsageError


@dataclass
class Use:
    """One dotted name of the sources."""

    name: str
    at_import: bool = False  # somewhere it is looked up while a module is imported, and not within a `try`
    places: list[str] = field(default_factory=list)  # "file:line", the first of each file
    keywords: set[str] = field(default_factory=set)  # given where it is called


@dataclass
class Lack:
    """What the subject has not of it."""

    name: str
    why: str  # "absent", "named: ..." or "takes no a, b"
    at_import: bool
    places: list[str]


def files_of(paths: list[str]) -> list[Path]:
    """The Python files of files, folders and installed packages. UsageError for what is none of them."""
    found: list[Path] = []
    for path in paths:
        where = Path(path)
        if not where.exists():
            spec = importlib.util.find_spec(path) if path.isidentifier() else None
            if spec is None or spec.origin is None:
                raise UsageError(f"names: no file, folder or installed package {path}")
            where = Path(spec.origin).parent if spec.submodule_search_locations else Path(spec.origin)
        found += sorted(where.rglob("*.py")) if where.is_dir() else [where]
    return found


class _Reader(ast.NodeVisitor):
    """Collects the names of one module: imports, chains of attributes that begin with one, and keywords of calls."""

    def __init__(self, file: str, uses: dict[str, Use]):
        self.file, self.uses = file, uses
        self.known: dict[str, list[str]] = {}  # the module's name -> PyTorch's, several where a `try` offers them
        self.deep = 0  # functions and `try`s around the place

    def see(self, name: str, node: ast.AST, keywords=()) -> None:
        use = self.uses.setdefault(name, Use(name))
        use.at_import |= not self.deep
        use.keywords.update(keywords)
        if not any(place.startswith(f"{self.file}:") for place in use.places):
            use.places.append(f"{self.file}:{node.lineno}")

    def visit_Import(self, node):
        for name in node.names:
            if name.name.partition(".")[0] == "torch":
                self.see(name.name, node)
                self.bind(name.asname or "torch", name.name if name.asname else "torch")

    def visit_ImportFrom(self, node):
        if node.level == 0 and (node.module or "").partition(".")[0] == "torch":
            self.see(node.module, node)
            for name in node.names:
                if name.name != "*":
                    self.see(f"{node.module}.{name.name}", node)
                    self.bind(name.asname or name.name, f"{node.module}.{name.name}")

    def bind(self, name: str, full: str) -> None:
        known = self.known.setdefault(name, [])
        if full not in known:
            known.append(full)

    def full_names(self, node) -> list[str]:
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        return [".".join([known, *reversed(parts)]) for known in self.known.get(node.id, ())] if isinstance(node, ast.Name) else []

    def visit_Attribute(self, node):
        names = self.full_names(node)
        for name in names:
            self.see(name, node)
        if not names:
            self.generic_visit(node)

    def visit_Call(self, node):
        for name in self.full_names(node.func):
            self.see(name, node, [k.arg for k in node.keywords if k.arg])
        self.generic_visit(node)

    def within(self, nodes) -> None:
        self.deep += 1
        for node in nodes:
            self.visit(node)
        self.deep -= 1

    def visit_FunctionDef(self, node):
        for part in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.visit(part)
        self.within([*node.body, node.args])

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.within([node.body])

    def visit_Try(self, node):
        self.within([*node.body, *node.handlers, *node.orelse])
        for part in node.finalbody:
            self.visit(part)

    def visit_If(self, node):
        if any(word in ast.dump(node.test) for word in ("TYPE_CHECKING", "__main__")):
            self.within(node.body)
            for part in node.orelse:
                self.visit(part)
        else:
            self.generic_visit(node)


def uses_of(files: list[Path], on_file=lambda name: None) -> dict[str, Use]:
    """name -> Use, of all files. What does not parse as Python is left out, as are files that do not mention torch."""
    uses: dict[str, Use] = {}
    for file in files:
        on_file(file.name)
        text = file.read_text(encoding="utf-8", errors="replace")
        if "torch" not in text:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        _Reader(str(file), uses).visit(tree)
    return uses


#: Reads {name: keywords} and answers {name: [found, keywords it does not take]}; found: "here", "named: why" or "absent".
_ASK = r"""
import importlib, inspect, io, contextlib, json, sys, warnings
warnings.simplefilter("ignore")
package = sys.argv[1]
root = importlib.import_module(package)

def missing(value):
    return vars(value).get("__weir_missing__") if inspect.isclass(value) else None

def resolve(name):
    parts, found = name.split("."), root
    for i, part in enumerate(parts[1:], 2):
        if missing(found):
            return found
        try:
            found = getattr(found, part)
        except Exception:
            if not inspect.ismodule(found):
                raise
            found = importlib.import_module(".".join([package, *parts[1:i]]))
    return found

def refused(value, words):
    try:
        parameters = inspect.signature(value).parameters.values()
    except (ValueError, TypeError):
        return []
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return []
    return sorted(set(words) - {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY})

answers = {}
given = json.load(sys.stdin)
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for name, words in given.items():
        try:
            value = resolve(name)
        except BaseException:
            answers[name] = ["absent", []]
            continue
        why = missing(value)
        answers[name] = ["named: " + why, []] if why else ["here", refused(value, words)]
print(json.dumps(answers))
"""


def _answers(package: str, uses: dict[str, Use]) -> dict:
    given = json.dumps({name: sorted(use.keywords) for name, use in uses.items()})
    done = subprocess.run([sys.executable, "-c", _ASK, package], input=given, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"names: {package} could not answer:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def lacking(uses: dict[str, Use], subject: str = "weir", oracle: str = "torch") -> list[Lack]:
    """What the subject lacks of the names that the oracle has: first what an import needs, then what most files use."""
    theirs, ours = _answers(oracle, uses), _answers(subject, uses)
    found = []
    for name, use in uses.items():
        (state, refused), (known, unknown) = ours[name], theirs[name]
        words = [w for w in refused if w not in unknown]
        if known != "here" or (state == "here" and not words):
            continue
        found.append(Lack(name, state if state != "here" else f"takes no {', '.join(words)}", use.at_import, use.places))
    return sorted(found, key=lambda lack: (lack.why.startswith("named"), not lack.at_import, -len(lack.places), lack.name))


def report(uses: dict[str, Use], lacks: list[Lack]) -> dict:
    """The answer as data."""
    return {"names": len(uses), "lacking": [asdict(lack) for lack in lacks]}


def show(uses: dict[str, Use], lacks: list[Lack]) -> str:
    """A line for each name that is lacking: when it is looked up, in how many files, where first."""
    named = sum(lack.why.startswith("named") for lack in lacks)
    lines = [f"{'import' if lack.at_import else 'use':6}  {lack.name}: {lack.why}  ({lack.places[0]}{f' and {len(lack.places) - 1} more' if lack.places[1:] else ''})"
             for lack in lacks]
    lines.append(f"{len(uses)} names of torch are used; {len(lacks) - named} are absent or take other keywords, {named} raise NotImplementedError when used")
    return "\n".join(lines)
