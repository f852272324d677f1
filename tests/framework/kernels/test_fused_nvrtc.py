"""Groups as CUDA C: framework/graph/cuda_source.cpp, framework/graph/cuda_rows.cpp and framework/graph/cuda_text.cpp, compiled for sm_90 on any machine
that has NVRTC."""

import pytest
import weir
from cuda_source import group, pointwise_ops
from fused_groups import GROUPS, ROWS, chain, optimised, random_programs, row_programs, text_of, texts_of
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


def test_rows_keep_in_shared_memory_what_steps_hand_on():
    text, rows, threads, per_block = optimised(ROWS["rms_norm"], weir.randn(300, 700), weir.randn(700)).cuda_source(0, "norm")
    assert "line_mean<float>(team, 700, " in text and "shared[" in text and (rows, threads, per_block) == (300, 256, 8)


def test_rows_too_long_for_shared_memory_are_refused():
    graph = optimised(ROWS["training"], weir.randn(40, 12_000), weir.randn(12_000))
    with pytest.raises(NotImplementedError, match="a row that hands on [0-9]+ bytes has no CUDA form: expected at most 49152"):
        texts_of(graph, "training")


def test_what_is_no_group_is_refused():
    x = weir.randn(3)
    with weir._trace.tracing() as t:
        graph = t.finish([t.arguments([x])[0].cumsum(0)])
    with pytest.raises(ValueError, match="expected a fused node or blocks of rows, got cumsum"):
        graph.cuda_source(0, "group")


def test_groups_compile_for_sm_90():
    nvrtc = library()
    if nvrtc is None:
        pytest.skip("needs libnvrtc: the wheel nvidia-cuda-nvrtc or a CUDA toolkit")
    texts = [t for name, f in GROUPS.items() for t in texts_of(optimised(f, weir.randn(40), weir.randn(40)), f"{name}_group")]
    texts += [t for name, (f, args) in (random_programs(20) | row_programs()).items() for t in texts_of(optimised(f, *args), name)]
    cubin = compile_cuda(nvrtc, group(texts, pointwise_ops()))
    assert all(f"{name}_group_0".encode() in cubin for name in GROUPS)
