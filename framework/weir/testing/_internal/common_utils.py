"""A TestCase with tensors."""
import unittest

from weir.testing import assert_close, make_tensor  # noqa: F401


class TestCase(unittest.TestCase):
    """unittest's, whose assertEqual compares tensors by value."""

    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, **options):
        from weir import Tensor
        if isinstance(x, Tensor) or isinstance(y, Tensor):
            return assert_close(x, y, atol=atol, rtol=rtol, equal_nan=True, msg=msg)
        return super().assertEqual(x, y, msg)


run_tests = unittest.main
