"""Nothing a program does may end the process: sizes that overflow, objects of the wrong type, memory that runs out, forks.

Each case runs in a process of its own, since what it once did was to end it.
"""

import os
import subprocess
import sys
import textwrap

import pytest
import weir


def run(code, timeout=60):
    return subprocess.run([sys.executable, "-c", "import weir\n" + textwrap.dedent(code)], capture_output=True, text=True,
                          timeout=timeout)


under_a_limit = pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""),
                                   reason="AddressSanitizer itself takes more address space than the limit")

REFUSED = {
    "resize_ beyond 64 bits": ("weir.ones(16).resize_(2**62)", "RuntimeError"),
    "resize_ whose bytes wrap": ("weir.ones(16).resize_(2**61)", "RuntimeError"),
    "resize_ to a negative size": ("weir.ones(16).resize_(-1)", "RuntimeError"),
    "as_strided whose count wraps": ("weir.ones(4).as_strided((2**40, 2**40), (0, 0)).numel()", "RuntimeError"),
    "expand whose count wraps": ("weir.ones(1, 1).expand(2**40, 2**40).numel()", "RuntimeError"),
    "view whose count wraps": ("weir.ones(4).view(2**32, 2**32, 4)", "RuntimeError"),
    "pad whose sum wraps": ("weir.nn.functional.pad(weir.ones(3), (2**62, 2**62))", "RuntimeError"),
    "a method of what is no tensor": ("weir.Tensor.numpy(3)", "TypeError"),
    "a step with None for a state": ("step(None)", "TypeError"),
    "a step with a number for a state": ("step(3)", "TypeError"),
    "a step with text for a state": ("step('x')", "TypeError"),
    "text that is not UTF-8": (r"weir.nn.functional.conv1d(weir.ones(1, 1, 3), weir.ones(1, 1, 1), padding='\ud800')", "UnicodeEncodeError"),
    "a keyword that is not UTF-8": (r"weir.get_default_dtype(**{'\ud800': 1})", "UnicodeEncodeError"),
    "requires_grad of a tensor": ("weir.ones(2).requires_grad = weir.ones(2)", "TypeError"),
    "repeat whose size wraps": ("weir.ones(2, 3).repeat(1, 2**62)", "RuntimeError"),
    "tile whose size wraps": ("weir.ones(2, 3).tile((2**63 - 1,))", "RuntimeError"),
    "cat whose size wraps": ("weir.cat([weir.empty(0, 2**62)] * 2, 1)", "RuntimeError"),
    "fold whose blocks wrap": ("weir.nn.functional.fold(weir.ones(1, 4, 4), 2**32, 2)", "RuntimeError"),
    "parts whose strides wrap": ("weir.view_as_real(weir.zeros(2, dtype=weir.complex64).as_strided((1, 1), (2**62, 1)))", "RuntimeError"),
    "parts whose offset wraps": ("weir.zeros(2, dtype=weir.complex64).as_strided((0,), (1,), 2**62).real", "RuntimeError"),
    "diagonal whose stride wraps": ("weir.zeros(1).as_strided((1, 1), (2**62, 2**62)).diagonal()", "RuntimeError"),
    "reflection whose size wraps": ("weir.nn.functional.pad(weir.ones(1, 3), (2**63 - 1, 0), 'reflect')", "RuntimeError"),
    "a cut without an opposite": ("weir.nn.functional.pad(weir.ones(3), (-2**63, 0))", "RuntimeError"),
    "a triangle whose edge wraps": ("weir.tril_indices(3, 3, 2**63 - 1)", "RuntimeError"),
    "istft whose end wraps": ("weir.istft(weir.ones(3, 5, dtype=weir.complex64), 4, length=2**63 - 1)", "RuntimeError"),
    "arange of 2^63 elements": ("weir.arange(0, -2**63, -1)", "RuntimeError"),
    "absurd vander": ("weir.vander(weir.ones(3), N=2**40)", "RuntimeError"),
    "absurd repeat_interleave": ("weir.repeat_interleave(weir.ones(3), 2**62)", "RuntimeError"),
    "absurd interpolate": ("weir.nn.functional.interpolate(weir.ones(1, 1, 3), size=2**31 * 1000)", "RuntimeError"),
    "absurd interpolate of two axes": ("weir.nn.functional.interpolate(weir.ones(1, 1, 2, 2), size=2**31)", "RuntimeError"),
    "interpolate whose picture no memory holds": ("weir.nn.functional.interpolate(weir.ones(1, 1, 2, 2), size=2**26, mode='bicubic')", "RuntimeError"),
    "absurd transform of two axes": ("weir.fft.fftn(weir.ones(2, 2), s=(2**31, 2**31))", "RuntimeError"),
    "absurd padding": ("weir.nn.ReplicationPad1d(2**40)(weir.ones(1, 1, 3))", "RuntimeError"),
    "absurd adaptive pooling": ("weir.nn.functional.adaptive_max_pool1d(weir.ones(2, 2), 2**62)", "RuntimeError"),
    "attention over no heads": ("weir.nn.functional.scaled_dot_product_attention(weir.ones(1, 2, 3, 4), weir.ones(1, 0, 3, 4), "
                                "weir.ones(1, 2, 3, 4), enable_gqa=True)", "RuntimeError"),
    "two devices": ("weir.ones(3)[weir.ones(2, dtype=weir.int64, device='meta')]", "RuntimeError"),
    "a subclass of what is no tensor": ("weir._C._make_subclass(int, weir.ones(2))", "TypeError"),
}

STEP = """
def step(state):
    p = weir.nn.Parameter(weir.ones(3))
    o = weir.optim.Adam([p])
    p.grad = weir.ones(3)
    o.step()
    o.state[p]['exp_avg'] = state
    o.step()
"""


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_with_an_error(case):
    code, error = REFUSED[case]
    done = run(STEP + code)
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert error in done.stderr.splitlines()[-1] or f"\n{error}: " in done.stderr, done.stderr


@under_a_limit
@pytest.mark.parametrize("fill", ["weir.ones(1000)", "x[1:]", "weir.ones(1)", "x.view(2, 5)", "x.detach()"])
def test_running_out_of_memory_raises(fill):
    done = run(f"""
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        x, kept = weir.ones(10), []
        try:
            while True:
                kept.append({fill})
        except (MemoryError, RuntimeError):
            kept.clear()
            print("raised", (x + x).sum().item())
    """)
    assert done.returncode == 0 and done.stdout.startswith("raised 20.0"), (done.returncode, done.stderr[-500:])


@under_a_limit
@pytest.mark.parametrize("room", [50, 80, 130])
def test_too_little_memory_for_linear_algebra_raises(room):
    """OpenBLAS itself ends the process where there is no room for its buffers, when it is opened and later."""
    done = run(f"""
        import resource
        x = weir.eye(40, dtype=weir.float64)
        with open("/proc/self/statm") as f:
            held = int(f.read().split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (held + ({room} << 20), before[1]))
        try:
            weir.linalg.inv(x)
        except RuntimeError as error:
            print("raised", error)
        resource.setrlimit(resource.RLIMIT_AS, before)
        print(weir.linalg.inv(x).sum().item())
    """)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    assert "not enough memory" in done.stdout and done.stdout.endswith("40.0\n"), done.stdout


def test_a_forked_child_runs_parallel_loops_and_products():
    done = run("""
        import os
        x = weir.ones(1000, 1000)
        before = ((x + x).sum().item(), (x @ x).sum().item())  # starts the pool
        if os.fork() == 0:
            weir.set_num_threads(2)
            assert ((x + x).sum().item(), (x @ x).sum().item()) == before
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
    """)
    assert done.stdout.strip() == "7", done.stderr


def test_gradients_of_statistics_alone():
    x = weir.ones(2, 3, requires_grad=True)
    out = weir.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    assert [t.requires_grad for t in out] == [True, False, False]
    values = weir.arange(6.0).reshape(2, 3).requires_grad_()
    weir.var_mean(values)[1].backward()
    assert values.grad.flatten().tolist() == pytest.approx([1 / 6] * 6)


def test_a_failed_allocation_does_not_count():
    before = weir._C._allocator_stats()[1]
    with pytest.raises(RuntimeError, match="not enough memory"):
        weir.empty(2**45)
    assert weir._C._allocator_stats()[1] == before


GIVEN = {
    "a matrix to the power without an opposite": "weir.eye(3).matrix_power(-2**63) == weir.eye(3)",
    "combinations of more than there are": "weir.combinations(weir.ones(3), 2**32).shape == (0, 2**32)",
    "a stride beyond bytes": "weir.ones(3)[::2**62].tolist() == [1.0]",
    "strides of no elements": "weir.ones(4).as_strided((0,), (2**62,)).numpy().shape == (0,)",
    # UBSan sees what wraps here; without it nothing shows.
    "a place beyond bytes": "weir.zeros(2).as_strided((0,), (1,), 2**62).numpy().shape == (0,)",
    "the longest steps": "weir.arange(-2**62, 2**62, 2**62).tolist() == [-2**62, 0]",
}


@pytest.mark.parametrize("case", GIVEN)
def test_is_given_as_by_pytorch(case):
    done = run(f"assert weir.as_tensor({GIVEN[case]}).all()")
    assert done.returncode == 0, done.stderr
