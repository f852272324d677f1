"""Context managers, also usable as decorators, that switch recording on and off."""
import functools
import inspect
import warnings

from _weir import (_set_grad_enabled, _set_inference, _set_keeps_grad_layout, is_grad_enabled, is_inference_mode_enabled)


class _Mode:
    """Sets a mode on entry and restores it on exit; calling it on a function wraps the function."""

    def __call__(self, fn):
        if inspect.isclass(fn):
            warnings.warn("Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or methods. "
                          "To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and nothing else.",
                          FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(fn):
            return self._wrap_generator(fn)

        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with self._again():
                return fn(*args, **kwargs)
        return wrapped

    def _wrap_generator(self, fn):
        """The mode holds while the generator runs, and not while its caller does."""
        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            generator, resume = fn(*args, **kwargs), lambda: next(generator)
            while True:
                try:
                    with self._again():
                        item = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                    resume = functools.partial(generator.send, sent)
                except GeneratorExit:
                    with self._again():
                        generator.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)
        return wrapped

    def _again(self):
        return type(self)()


class _OfFunctions(_Mode):
    """A mode that may decorate a function without being called first."""

    def __new__(cls, fn=None):
        self = super().__new__(cls)
        return self(fn) if fn is not None else self

    def __exit__(self, *exc):
        _set_grad_enabled(self._before)


class no_grad(_OfFunctions):
    """Nothing is recorded inside."""

    def __enter__(self):
        self._before = is_grad_enabled()
        _set_grad_enabled(False)


class enable_grad(_OfFunctions):
    """Recording is on inside, whatever it was."""

    def __enter__(self):
        self._before = is_grad_enabled()
        _set_grad_enabled(True)


class _SetAtOnce(_Mode):
    """Takes effect when it is made, but where it decorates a function."""

    def _again(self):
        return type(self)(self._mode)

    def __call__(self, fn):
        self.__exit__()
        return super().__call__(fn)


class set_grad_enabled(_SetAtOnce):
    """Recording as `mode` says; takes effect at once, and until exit when used with `with`."""

    def __init__(self, mode):
        self._before, self._mode = is_grad_enabled(), bool(mode)
        _set_grad_enabled(self._mode)

    def __enter__(self):
        _set_grad_enabled(self._mode)

    def __exit__(self, *exc):
        _set_grad_enabled(self._before)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self._mode})"


class enforce_grad_layout_policy(_SetAtOnce):
    """Whether a leaf's first gradient gets the leaf's strides; without it one that nobody else holds keeps its own, uncopied.

    Takes effect at once, and until exit when used with `with`; of this thread.
    """

    def __init__(self, enable=True):
        self._mode, self._before = enable, _set_keeps_grad_layout(enable)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _set_keeps_grad_layout(self._before)


class inference_mode(_Mode):
    """As no_grad, and tensors made inside can never be recorded later."""

    def __init__(self, mode=True):
        self._mode = mode

    def __new__(cls, mode=True):
        self = super().__new__(cls)
        if callable(mode):
            self._mode = True
            return self(mode)
        return self

    def _again(self):
        return inference_mode(self._mode)

    def __enter__(self):
        self._before = is_grad_enabled(), is_inference_mode_enabled()
        if self._mode:
            _set_grad_enabled(False)
        _set_inference(self._mode)

    def __exit__(self, *exc):
        _set_grad_enabled(self._before[0])
        _set_inference(self._before[1])
