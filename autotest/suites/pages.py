"""The code on pages of documentation, statement by statement: reStructuredText, Markdown, notebooks and scripts.

A page is one example: what its earlier blocks define, its later ones use.
"""

import ast
import json
import re
import textwrap
from pathlib import Path

from .examples_worker import statements

_INDENTED = re.compile(r"(\s*)(?:\.\. (?:code|code-block|sourcecode|testcode|doctest)::.*|(?!\.\. ).*::\s*)$")
_FENCE = re.compile(r"```\s*(?:\{code-cell\}\s*)?(?:i?python3?|py)?\s*$")


def of_folder(folder: Path) -> dict[str, list[str]]:
    """Path below the folder -> statements, of its pages that have any; of one page where that is given."""
    paths = [folder] if folder.is_file() else sorted(folder.rglob("*"))
    found = {str(path.relative_to(folder)) if path != folder else path.name: of_page(path) for path in paths if path.suffix in _READERS}
    return {name: parts for name, parts in found.items() if parts}


def of_page(path: Path) -> list[str]:
    return [part for block in _READERS[path.suffix](path.read_text()) for part in (statements if ">>>" in block else split)(block)]


def split(code: str) -> list[str]:
    """The statements of code; none of what is no Python, as blocks of C++ and of the shell."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return []
    lines = code.splitlines(keepends=True)
    first = [min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) for node in body]
    return ["".join(lines[start - 1:node.end_lineno]).rstrip() + "\n" for start, node in zip(first, body)]


def _of_rst(text: str) -> list[str]:
    """What stands indented behind a directive for code or a line that ends in `::`, and paragraphs that begin with `>>>`."""
    lines, blocks, at = text.splitlines(), [], 0
    while at < len(lines):
        start, opens = at, _INDENTED.match(lines[at])
        at += 1
        if opens:
            while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > len(opens[1])):
                at += 1
            start += 1
        elif lines[start].lstrip().startswith(">>>"):
            while at < len(lines) and lines[at].strip():
                at += 1
        else:
            continue
        options = re.compile(r"\s+:[\w-]+:")
        blocks.append(textwrap.dedent("\n".join(line for line in lines[start:at] if not options.match(line))).strip("\n"))
    return blocks


def _of_markdown(text: str) -> list[str]:
    lines, blocks, inside = text.splitlines(), [], None
    for line in lines:
        if inside is None:
            inside = [] if _FENCE.match(line) and line.strip() != "```" else None
        elif line.startswith("```"):
            blocks.append("\n".join(inside))
            inside = None
        else:
            inside.append(line)
    return blocks


def _of_notebook(text: str) -> list[str]:
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return ["\n".join(line for line in cell.splitlines() if not line.lstrip().startswith(("%", "!"))) for cell in cells]


_READERS = {".rst": _of_rst, ".md": _of_markdown, ".ipynb": _of_notebook, ".py": lambda text: [text]}
