"""Formulas are written once: the text the CPU compiles is CUDA text as well. Source: framework/kernels/formulas.h."""

import re

import pytest
from cuda_source import KERNELS, pointwise_ops, source, types_of
from nvrtc import CompileError, compile_cuda, library

# Pointwise by notation, but copies with a conversion: they have no formula.
WITHOUT_FORMULA = {"clone", "complex", "polar", "straight_through", "to_dtype"}
# Series of as many terms as they take, beside their CPU kernels.
WITHOUT_FORMULA |= {"igamma", "igammac", "_standard_gamma_grad", "_dirichlet_grad", *(f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"),
                    "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"}


@pytest.fixture(scope="module")
def nvrtc():
    found = library()
    if found is None:
        pytest.skip("needs libnvrtc: the wheel nvidia-cuda-nvrtc or a CUDA toolkit")
    return found


def test_every_pointwise_op_of_the_schema_has_a_formula():
    from _weir import schema

    pointwise = {op["name"] for op in schema() if op["notation"] == "pointwise" and op["kind"] == "kernel"}
    assert pointwise - {op.name for op in pointwise_ops()} <= WITHOUT_FORMULA


def test_every_formula_belongs_to_an_op():
    structs = set(re.findall(r"formula\(const (\w+)&", (KERNELS / "formulas.h").read_text()))
    assert structs == {op.struct for op in pointwise_ops()}


def test_all_formulas_compile_for_sm_90(nvrtc):
    ops = pointwise_ops()
    cubin = compile_cuda(nvrtc, source(ops))
    missing = [(op.struct, t) for op in ops for t in types_of(op) if _mangled(op.struct, t) not in cubin]
    assert not missing


def _mangled(struct: str, t: str) -> bytes:
    name = f"kernel_{struct}"
    return f"{len(name)}{name}I{ {'float': 'f', 'double': 'd', 'int64_t': 'x'}[t] }E".encode()


def test_a_formula_outside_the_subset_is_refused(nvrtc):
    text = source(pointwise_ops()).replace("{ return -x; }", "{ return std::vector<T>(1, -x)[0]; }")
    with pytest.raises(CompileError, match="vector"):
        compile_cuda(nvrtc, text)
