"""Types that are no tensors and answer calls, beside PyTorch's."""

import subprocess
import sys
import textwrap

import pytest
import weir


@pytest.mark.parametrize("call", [
    "x.matmul(d)", "t.matmul(d, x)", "t.add(d, 1)", "x + d", "x @ d", "x * d", "x == d", "t.cat([x, d])", "t.sum(d)", "x.mul_(d)", "t.where(x > 0, x, d)",
    "t.nn.functional.linear(x, d)", "t.linalg.solve(x, d)", "x.expand_as(d)", "t.stack((d, d))", "t.add(x, other=d)"])
def test_a_type_that_is_no_tensor_answers_ops(call):
    """Also one of the first call with it, by functions that a program took by name before."""
    program = textwrap.dedent(f"""
        import sys, {{library}} as t
        add = t.add
        class Answering:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return func.__name__, types == (cls,), len(args), sorted(kwargs or {{{{}}}})
        d, x = Answering(), t.ones(2, 2)
        print({call}, add(d, 1)[0])
        """)
    answers = [subprocess.run([sys.executable, "-c", program.format(library=library)], capture_output=True, text=True, check=True).stdout
               for library in ("weir", "torch")]
    assert answers[0] == answers[1]


def test_a_type_without_a_rule_is_refused_as_before():
    for call in (lambda: weir.ones(2) + object(), lambda: weir.add(weir.ones(2), object()), lambda: weir.cat([weir.ones(1), object()])):
        with pytest.raises(TypeError):
            call()
    assert (weir.ones(2) == object()) is False
