"""Fused groups as CUDA C: framework/graph/cuda_source.cpp, compiled for sm_90 on any machine that has NVRTC."""

import pytest
import weir
from cuda_source import group, pointwise_ops
from fused_groups import GROUPS, chain, optimised, random_programs, text_of, texts_of
from nvrtc import compile_cuda, library


def test_a_group_names_its_ops_once_for_each_step():
    text = text_of(chain, weir.randn(40), weir.randn(40))
    assert 'extern "C" __global__ void group(const float* in0, const float* in2' in text
    assert text.count("formulas::formula(op_") == 7 and "const BFloat16 v" in text
    assert "= int64_t(2LL);" in text and "op_softplus{0x1.8p+0, 0x1.ep+4}" in text


def test_a_text_depends_on_the_group_alone():
    x = weir.randn(40)
    assert all(text_of(f, x, -x) == text_of(f, -x, x.clone()) for f in GROUPS.values())


def test_what_is_broadcast_or_transposed_is_read_by_its_strides():
    def add(x, y):
        return (x + y).relu()

    assert "in1[0]" in text_of(add, weir.randn(3, 4), weir.randn(1, 1))
    assert "in1[unsigned(i) / 4]" in text_of(add, weir.randn(3, 4), weir.randn(3, 1))
    assert "in1[unsigned(i) % 4]" in text_of(add, weir.randn(3, 4), weir.randn(4))
    assert "in1[unsigned(i) % 4 * 3LL + unsigned(i) / 4]" in text_of(add, weir.randn(3, 4), weir.randn(4, 3).t())
    assert "load<4>(in1, first, n)" in text_of(add, weir.randn(4, 3).t(), weir.randn(4, 3).t())


def test_what_is_no_group_is_refused():
    x = weir.randn(3)
    with weir._trace.tracing() as t:
        graph = t.finish([t.arguments([x])[0].cumsum(0)])
    with pytest.raises(ValueError, match="expected a fused node, got cumsum"):
        graph.cuda_source(0, "group")


def test_groups_compile_for_sm_90():
    nvrtc = library()
    if nvrtc is None:
        pytest.skip("needs libnvrtc: the wheel nvidia-cuda-nvrtc or a CUDA toolkit")
    texts = [t for name, f in GROUPS.items() for t in texts_of(optimised(f, weir.randn(40), weir.randn(40)), f"{name}_group")]
    texts += [t for name, (f, args) in random_programs(20).items() for t in texts_of(optimised(f, *args), name)]
    cubin = compile_cuda(nvrtc, group(texts, pointwise_ops()))
    assert all(f"{name}_group_0".encode() in cubin for name in GROUPS)
