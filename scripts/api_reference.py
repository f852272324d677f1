"""The API reference: one searchable page of every public name, its signature and its docstring.

    ./scripts/run python scripts/api_reference.py [FILE]     default: build/api.html

The page needs nothing beside it: no server, no network.
"""

import html
import importlib
import inspect
import sys
from pathlib import Path

MODULES = """weir weir.Tensor weir.nn weir.nn.functional weir.nn.init weir.nn.utils weir.nn.utils.parametrize weir.nn.utils.prune weir.nn.utils.rnn
    weir.optim weir.optim.lr_scheduler weir.optim.swa_utils weir.autograd weir.autograd.functional weir.autograd.graph weir.linalg weir.fft
    weir.special weir.masked weir.signal.windows weir.func weir.fx weir.distributions weir.utils.data weir.utils.checkpoint weir.amp
    weir.library weir.overrides weir.random weir.serialization weir.compiler weir.profiler weir.testing""".split()

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>weir API reference</title>
<style>
:root {{ color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }}
body {{ margin: 0 auto; max-width: 60rem; padding: 1rem; }}
header {{ position: sticky; top: 0; background: Canvas; padding: .5rem 0; }}
input {{ width: 100%; box-sizing: border-box; font: inherit; padding: .4rem .6rem; }}
h2 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
article {{ border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .5rem 0; }}
code {{ font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }}
pre {{ font: inherit; white-space: pre-wrap; margin: .2rem 0 0 1.5rem; }}
a {{ color: inherit; text-decoration: none; }}
[hidden] {{ display: none; }}
</style></head><body>
<header><input type="search" placeholder="Search {count} names and their descriptions" aria-label="Search" autofocus><span id="found"></span></header>
<main>{body}</main>
<script>
const box = document.querySelector("input"), entries = [...document.querySelectorAll("article")];
const texts = entries.map(e => e.textContent.toLowerCase());
function search() {{
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let found = 0;
  entries.forEach((e, i) => {{ e.hidden = !words.every(w => texts[i].includes(w)); found += !e.hidden; }});
  document.querySelectorAll("section").forEach(s => {{ s.hidden = !s.querySelector("article:not([hidden])"); }});
  document.getElementById("found").textContent = words.length ? found + " found" : "";
  history.replaceState(null, "", words.length ? "?q=" + encodeURIComponent(box.value) : location.pathname);
}}
box.addEventListener("input", search);
box.value = new URLSearchParams(location.search).get("q") ?? "";
search();
</script></body></html>
"""


def resolve(path: str):
    """The module or class of that name."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def public_names(owner) -> list[str]:
    """What a user is meant to see: `__all__` where there is one, else what does not begin with an underscore and is no module."""
    names = getattr(owner, "__all__", None) or [name for name in dir(owner) if not name.startswith("_")]
    return sorted(name for name in set(names) if not inspect.ismodule(inspect.getattr_static(owner, name, None)))


def described(owner, name: str) -> tuple[str, str] | None:
    """The signature and the docstring, None for what has neither: constants, and names that stand for something absent."""
    value = inspect.unwrap(getattr(owner, name, None))  # a subclass of Tensor wraps the package's functions, from then on
    text = inspect.getdoc(value) if callable(value) or isinstance(inspect.getattr_static(owner, name, None), property) else None
    if not text:
        return None
    if type(value).__name__ == "OpFunction":  # whose docstring begins with its signatures
        signature, _, text = text.partition("\n\n")
        return name + signature[signature.index("("):], text  # the op's own name may differ, as linalg_svd's
    try:
        return f"{name}{inspect.signature(value)}", text
    except (TypeError, ValueError):
        return name, text


def entries(path: str) -> list[tuple[str, str, str]]:
    """(name, signature, text) of everything public in a module or class that says what it does."""
    owner = resolve(path)
    found = ((name, described(owner, name)) for name in public_names(owner))
    return [(name, *both) for name, both in found if both]


def page(modules: list[str]) -> str:
    """The whole reference as HTML."""
    sections, count = [], 0
    for path in modules:
        rows = entries(path)
        count += len(rows)
        articles = "".join(
            f'<article id="{path}.{name}"><a href="#{path}.{name}"><code>{html.escape(signature)}</code></a><pre>{html.escape(text)}</pre></article>\n'
            for name, signature, text in rows)
        sections.append(f"<section><h2>{path}</h2>\n{articles}</section>\n")
    return PAGE.format(count=count, body="".join(sections))


def main(arguments: list[str]) -> int:
    target = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1] / "build" / "api.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page(MODULES))
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
