"""A TestCase with tensors, tests for each of several values, and facts that tests are skipped by."""
import sys
import unittest

from weir.testing import assert_close, make_tensor  # noqa: F401

from ._parametrized import _TestParametrizer, instantiate_parametrized_tests, parametrize, subtest  # noqa: F401

SEED = 1234
IS_LINUX, IS_WINDOWS, IS_MACOS = (sys.platform == name for name in ("linux", "win32", "darwin"))
TEST_WITH_TORCHDYNAMO = False


def skipIfTorchDynamo(msg="test doesn't currently work with dynamo"):
    """A decorator for tests that PyTorch's graph capture cannot run; there is none here. AssertionError where it decorates without parentheses."""
    if not isinstance(msg, str):
        raise AssertionError("Are you using skipIfTorchDynamo correctly?")
    return lambda test: test


class TestCase(unittest.TestCase):
    """unittest's, whose assertEqual compares tensors by value."""

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, **options):
        from weir import Tensor
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            return assert_close(x, y, atol=atol, rtol=rtol, equal_nan=True, msg=msg)
        return super().assertEqual(x, y, msg)


run_tests = unittest.main
