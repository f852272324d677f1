"""Helpers of context managers that are decorators too."""
import functools


def context_decorator(ctx, func):
    """func inside ctx() in every call."""
    make = ctx if callable(ctx) else lambda: ctx

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        with make():
            return func(*args, **kwargs)
    return wrapped


class _DecoratorContextManager:
    """A context manager whose instances decorate functions."""

    def __call__(self, orig_func):
        return context_decorator(self.clone, orig_func)

    def __enter__(self):
        raise NotImplementedError

    def __exit__(self, exc_type, exc_value, traceback):
        raise NotImplementedError

    def clone(self):
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """Decorates without parentheses too."""

    def __new__(cls, orig_func=None):
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
