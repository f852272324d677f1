"""The API does not change unseen: the committed schema and stubs are those of the built library."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import stubs  # noqa: E402
import update_schema  # noqa: E402
from _weir import schema  # noqa: E402


def test_the_committed_pictures_are_up_to_date():
    # In a process of its own: what other tests use, sparse tensors for one, adds methods to Tensor.
    done = subprocess.run([sys.executable, ROOT / "scripts" / "update_schema.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"if the API change is meant: {done.stdout}{done.stderr}"


def test_the_snapshot_is_json_with_an_entry_per_op():
    text = next(text for path, text in update_schema.pictures().items() if path.suffix == ".json")
    assert sorted(op["name"] for op in json.loads(text)) == sorted(op["name"] for op in schema())


@pytest.fixture(scope="module")
def stub():
    return ast.parse(stubs.module(sorted(schema(), key=lambda op: op["name"].split(".")[0])))


def names_in(body) -> set:
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def test_stubs_hold_every_public_function(stub):
    assert names_in(stub.body) == {op["name"].split(".")[0] for op in schema() if op["module"] == "torch"}


def test_stubs_hold_every_method(stub):
    from _weir import Tensor

    body = next(node.body for node in stub.body if getattr(node, "name", "") == "TensorOps")
    assert {"add", "add_", "view", "sum"} <= names_in(body)
    assert not {name for name in names_in(body) if not hasattr(Tensor, name)}


def op(signature: str, **more) -> dict:
    return {"name": signature.split("(")[0], "signature": signature, "module": "torch", "kind": "kernel",
            "inplace": False, **more}


@pytest.mark.parametrize("entry, line", [
    (op("add(input: Tensor | Number, other: Tensor, *, alpha: Number = 1) -> Tensor"),
     "def add(input: Tensor | Number, other: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor: ..."),
    (op("relu(input: Tensor) -> Tensor"), "def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor: ..."),
    (op("view(input: Tensor, *size: int) -> Tensor", kind="view"),
     "def view(input: Tensor, *size: int | Sequence[int]) -> Tensor: ..."),
    (op("cat(tensors: list[Tensor], dim: int = 0) -> list[Tensor]"),
     "def cat(tensors: Sequence[Tensor], dim: int = 0) -> list[Tensor]: ..."),
    (op("relu(input: Tensor) -> Tensor", inplace=True), "    def relu_(self) -> Tensor: ..."),
])
def test_a_signature_becomes_a_definition(entry, line):
    assert line in stubs.module([entry]).splitlines()


def test_several_results_are_a_named_tuple():
    text = stubs.module([op("max.dim(input: Tensor, dim: int) -> (values: Tensor, indices: Tensor)"),
                         op("max(input: Tensor) -> Tensor")])
    assert "class _max_dim_result(NamedTuple):\n    values: Tensor\n    indices: Tensor\n" in text
    assert "out: tuple[Tensor, Tensor] | None = None) -> _max_dim_result: ..." in text
    assert text.count("@overload") == 4
