"""Fused groups as CUDA C: framework/graph/cuda_source.cpp, compiled for sm_90 on any machine that has NVRTC."""

import pytest
import weir
from cuda_source import group, pointwise_ops
from nvrtc import compile_cuda, library


def text_of(function, *args, name="group"):
    with weir._trace.tracing() as t:
        out = function(*t.arguments(args))
        graph = t.finish(list(out) if isinstance(out, tuple) else [out])
    plan = weir._C._Plan(graph)
    fused = [i for i in range(len(plan.graph)) if plan.graph.node(i)["op"] == "fused"]
    return plan.graph.cuda_source(fused[0], name)


def chain(x, y):
    z = weir.nn.functional.softplus(x * 2 + y, 1.5, 30.0)
    return (z.sigmoid() - x).clamp(-0.5, 0.75), z.bfloat16() * 3


def halves(x, y):
    z = x.bfloat16() * y.half() + 1
    return z.double().exp(), (z > 0) & (y != 0), weir.where(x > y, z, y.bfloat16()).half()


GROUPS = {"chain": chain, "halves": halves,
          "numbers": lambda x, y: weir.nn.functional.leaky_relu(x - y.sum(), 0.25) * weir.tensor(0.5, dtype=weir.float64)}


def test_a_group_names_its_ops_once_for_each_step():
    text = text_of(chain, weir.randn(40), weir.randn(40))
    assert 'extern "C" __global__ void group(const float* in0, int64_t step0' in text
    assert text.count("formulas::formula(from_bytes<op_") == 7 and "const BFloat16 v" in text


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
    texts = [text_of(f, weir.randn(40), weir.randn(40), name=name) for name, f in GROUPS.items()]
    cubin = compile_cuda(nvrtc, group(texts, pointwise_ops()))
    assert all(name.encode() in cubin for name in GROUPS)
