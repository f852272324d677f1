"""Fused groups give on a GPU what eager mode gives on the CPU: framework/graph/cuda_source.cpp, compiled by NVRTC and run there."""

import numpy as np
import pytest
import weir
from cuda_source import group, pointwise_ops
from fused_groups import GROUPS, memory_of, optimised, random_programs, row_programs, run_on, texts_of
from gpu import Gpu, has_gpu
from nvrtc import compile_cuda, library

if library() is None or not has_gpu():
    pytest.skip("needs a GPU, its driver and libnvrtc", allow_module_level=True)

PROGRAMS = {name: (f, (weir.randn(4_099) * 2, weir.randn(4_099))) for name, f in GROUPS.items()}
PROGRAMS |= random_programs(60) | row_programs()
# A function of the mathematics library has other last bits there, and a number between two halves is rounded the other way.
DIGITS = {weir.float32: 3e-5, weir.float64: 3e-5, weir.bfloat16: 2**-7, weir.float16: 2**-9, weir.bool: 0}


@pytest.fixture(scope="module")
def graphs():
    return {name: optimised(f, *args) for name, (f, args) in PROGRAMS.items()}


@pytest.fixture(scope="module")
def gpu(graphs):
    return Gpu(compile_cuda(library(), group([text for name, graph in graphs.items() for text in texts_of(graph, name)], pointwise_ops())))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_group_gives_eager_numbers(gpu, graphs, name):
    function, args = PROGRAMS[name]
    expected = function(*args)
    for want, bits in zip(expected if isinstance(expected, tuple) else (expected,), run_on(gpu, graphs[name], name, args), strict=True):
        assert want.numel() == bits.size and (want.dtype.is_floating_point or want.dtype == weir.bool)
        got = weir.from_numpy(bits).view(want.dtype).double().numpy()
        # The result is dense, so that its memory holds its elements in its own order.
        np.testing.assert_allclose(got, weir.from_numpy(memory_of(want)).view(want.dtype).double().numpy(), rtol=DIGITS[want.dtype], atol=DIGITS[want.dtype])
