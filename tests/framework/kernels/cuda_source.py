"""One CUDA text with a kernel for every pointwise formula: prelude, op structs, formulas.h, kernels."""

import re
from pathlib import Path
from typing import NamedTuple

FRAMEWORK = Path(__file__).resolve().parents[3] / "framework"
KERNELS = FRAMEWORK / "kernels"

# As pointwise.h's loops_of: which numbers an op of each rule computes in.
TYPES = {"integral": ["int64_t"], "real": ["float", "double"], "floating": ["float", "double"], "wide": ["float", "double"]}
ALL_TYPES = ["float", "double", "int64_t"]
MEMBERS = {"int": "int64_t", "float": "double", "bool": "bool", "Number": "Scalar", "str": "Str"}


class PointwiseOp(NamedTuple):
    struct: str
    rule: str
    name: str        # as the schema has it
    inputs: int
    members: list    # (type, name)


def pointwise_ops() -> list[PointwiseOp]:
    """Returns the pointwise ops whose structs the headers of ops/ declare and formulas.h has a formula for."""
    text = "\n".join(path.read_text() for path in sorted((FRAMEWORK / "ops").glob("*.h")))
    # A family that says its rule itself computes in every type.
    found = re.findall(r"struct (\w+) : \w+<\1(?:, Rule::(\w+))?> \{\s*"
                       r'static constexpr Signature signature =\s*"([^(]+)\((.*?)\) -> Tensor";', text)
    with_formula = set(re.findall(r"formula\(const (\w+)&", (KERNELS / "formulas.h").read_text()))
    return [_op(*entry) for entry in found if entry[0] in with_formula]


def _op(struct: str, rule: str, name: str, params: str) -> PointwiseOp:
    typed = [p.split(" = ")[0].split(": ") for p in params.split(", ") if p != "*"]
    members = [(_member(kind), member) for member, kind in typed if not kind.startswith("Tensor")]
    return PointwiseOp(struct, rule, name, len(typed) - len(members), members)


def _member(kind: str) -> str:
    plain = MEMBERS[kind.removesuffix(" | None")]
    return f"std::optional<{plain}>" if kind.endswith(" | None") else plain


def source(ops: list[PointwiseOp]) -> str:
    """Returns the whole translation unit."""
    return _unit(ops, ["namespace weir {", *map(_kernel, ops), "}"])


def group(kernels: list[str], ops: list[PointwiseOp]) -> str:
    """Returns the translation unit of kernels that nn.Graph wrote for fused groups; `ops`: all that formulas.h knows."""
    return _unit(ops, ["namespace weir {", *(f"using op_{op.name.replace('.', '_')} = {op.struct};" for op in ops), "}", (KERNELS / "cuda" / "rows.h").read_text(), *kernels])


def _unit(ops: list[PointwiseOp], kernels: list[str]) -> str:
    formulas = (KERNELS / "formulas.h").read_text().replace('#include "framework/kernels/special.h"', (KERNELS / "special.h").read_text())
    parts = [(KERNELS / "cuda" / "prelude.h").read_text(), "namespace weir {", *map(_struct, ops), "}", formulas, *kernels]
    return "\n".join(line for part in parts for line in part.splitlines() if line != "#pragma once") + "\n"


def types_of(op: PointwiseOp) -> list[str]:
    return TYPES.get(op.rule, ALL_TYPES)


def _struct(op: PointwiseOp) -> str:
    return f"struct {op.struct} {{ " + " ".join(f"{kind} {name};" for kind, name in op.members) + " };"


def _kernel(op: PointwiseOp) -> str:
    inputs = [f"in{i}" for i in range(op.inputs)]
    arguments = ", ".join(f"const T* {x}" for x in inputs)
    values = ", ".join(f"{x}[i]" for x in inputs)
    kernel = (f"template <class T> __global__ void kernel_{op.struct}({op.struct} op, T* out, {arguments}, int64_t n) {{\n"
              f"  int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;\n"
              f"  if (i < n) out[i] = formulas::formula(op, {values});\n}}\n")
    pointers = {t: ", ".join(f"const {t}*" for _ in inputs) for t in types_of(op)}
    return kernel + "".join(f"template __global__ void kernel_{op.struct}<{t}>({op.struct}, {t}*, {pointers[t]}, int64_t);\n"
                            for t in types_of(op))
