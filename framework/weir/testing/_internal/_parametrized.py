"""Tests of a class for each of several values. Source: torch.testing._internal.common_utils."""
import functools
import itertools

import weir


class subtest:
    """Values of one test, with a name and decorators of its own."""

    __slots__ = ("arg_values", "name", "decorators")

    def __init__(self, arg_values, name=None, decorators=None):
        self.arg_values, self.name, self.decorators = arg_values, name, decorators or []


class _TestParametrizer:
    """A decorator that notes on a test how others are made of it: subclasses say so in `_parametrize_test`.

    That yields (test, suffix of its name, keywords to call it with, keywords -> decorators). Several such decorators give the product.
    """

    def _parametrize_test(self, test, generic_cls, device_cls):
        raise NotImplementedError

    def __call__(self, fn):
        earlier = getattr(fn, "parametrize_fn", None)
        fn.parametrize_fn = self._parametrize_test if earlier is None else functools.partial(_product, earlier, self._parametrize_test)
        return fn


def _product(earlier, later, test, generic_cls, device_cls):
    """Tests of two decorators at once. RuntimeError where both name a parameter."""
    made = list(earlier(test, generic_cls=generic_cls, device_cls=device_cls))
    for old_test, old_name, old, old_decorators in made:
        for new_test, new_name, new, new_decorators in later(old_test, generic_cls=generic_cls, device_cls=device_cls):
            if both := set(old) & set(new):
                raise RuntimeError(f"Parametrization over the same parameter by multiple parametrization decorators is not supported. For test "
                                   f"\"{test.__name__}\", the following parameters are handled multiple times: {both}")

            def decorators(kwargs, old_decorators=old_decorators, new_decorators=new_decorators):
                return [*old_decorators(kwargs), *new_decorators(kwargs)]
            yield new_test, "_".join(filter(None, (new_name, old_name))), {**new, **old}, decorators


class parametrize(_TestParametrizer):
    """parametrize("x,y", [(1, 2), subtest((3, 4), name="large")]): a test for each of the values.

    name_fn(*values) names them, else what each parameter is. ValueError for an empty list, AssertionError for another number of values than
    of names.
    """

    def __init__(self, arg_str, arg_values, name_fn=None):
        self.arg_names = [name.strip() for name in arg_str.split(",") if name]
        self.arg_values, self.name_fn = arg_values, name_fn

    def _formatted_str_repr(self, idx, name, value):
        if isinstance(value, weir.dtype):
            return str(value).rpartition(".")[2]
        if isinstance(value, weir.device):
            return str(value)
        return f"{name}_{str(value).replace('.', '_')}" if isinstance(value, (int, float, str)) else f"{name}{idx}"

    def _get_subtest_name(self, idx, values, explicit_name=None):
        if explicit_name or self.name_fn:
            return explicit_name or self.name_fn(*values)
        return "_".join(self._formatted_str_repr(idx, name, value) for name, value in zip(self.arg_names, values, strict=True))

    def _parametrize_test(self, test, generic_cls, device_cls):
        if not self.arg_names:
            yield test, "", {}, lambda _: []
            return
        count = 0
        for count, given in zip(itertools.count(1), self.arg_values):
            name, decorators, made = None, [], test
            if isinstance(given, subtest):
                name, decorators, given = given.name, given.decorators, given.arg_values
                made = functools.wraps(test)(lambda *args, **kwargs: test(*args, **kwargs))
            values = list(given) if len(self.arg_names) > 1 else [given]
            if len(values) != len(self.arg_names):
                raise RuntimeError(f"Expected # values == # arg names, but got: {len(values)} values and {len(self.arg_names)} names for test "
                                   f"\"{test.__name__}\"")
            suffix = self._get_subtest_name(count - 1, values, name)
            if "." in suffix:
                raise RuntimeError(f"Test name cannot contain periods, but got: {suffix}")
            yield made, suffix, dict(zip(self.arg_names, values)), lambda _, decorators=decorators: decorators
        if not count:
            raise ValueError(f"{test}: An empty arg_values was passed to @parametrize. Note that this may result from reuse of a generator.")


def instantiate_parametrized_tests(generic_cls):
    """Puts the tests that its decorated ones stand for into the class, in their place. Returns the class; AssertionError for a name that is taken."""
    for name in tuple(dir(generic_cls)):
        generic = getattr(generic_cls, name)
        if not hasattr(generic, "parametrize_fn"):
            continue
        delattr(generic_cls, name)
        for test, suffix, kwargs, decorators in generic.parametrize_fn(generic, generic_cls=generic_cls, device_cls=None):
            full = f"{test.__name__}_{suffix}"
            for decorator in decorators(kwargs):
                test = decorator(test)
            if hasattr(generic_cls, full):
                raise AssertionError(f"Redefinition of test {full}")
            setattr(generic_cls, full, _with(test, kwargs))
    return generic_cls


def _with(test, kwargs):
    @functools.wraps(test)
    def instantiated(self, param_kwargs=kwargs):
        test(self, **param_kwargs)
    return instantiated
