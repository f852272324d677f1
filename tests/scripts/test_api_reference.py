"""The API reference names what is public, with signatures, and can be searched without a server."""

import functools
import sys
import types
from html.parser import HTMLParser
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import api_reference  # noqa: E402


@pytest.mark.parametrize("module, name, begins", [
    ("weir", "add", "add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1)"),
    ("weir.nn", "Linear", "Linear(in_features: int, out_features: int, bias: bool = True"),
    ("weir.Tensor", "backward", "backward(self"),
    ("weir.linalg", "svd", "svd("),
])
def test_an_entry_has_signature_and_text(module, name, begins):
    signature, text = next(rest for found, *rest in api_reference.entries(module) if found == name)
    assert signature.startswith(begins) and text


def test_a_wrapped_op_is_described_as_the_op_itself():
    import weir
    wrapped = types.SimpleNamespace(add=functools.wraps(weir.add, updated=())(lambda *a, **k: weir.add(*a, **k)))
    assert api_reference.described(wrapped, "add") == api_reference.described(weir, "add")


@pytest.mark.parametrize("module", api_reference.MODULES)
def test_every_module_has_entries(module):
    assert api_reference.entries(module)


def test_nothing_private_or_foreign_is_listed():
    names = [name for name, *_ in api_reference.entries("weir")]
    assert not [name for name in names if name.startswith("_")] and "sys" not in names


def test_the_page_is_whole(tmp_path, capsys):
    assert api_reference.main([str(tmp_path / "api.html")]) == 0
    text = (tmp_path / "api.html").read_text()
    assert 'id="weir.nn.functional.relu"' in text and "http" not in text.split("<main>")[0]
    opened = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            opened.append(tag)
    Parser().feed(text)
    assert opened.count("article") > 1500
