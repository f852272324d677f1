"""`__torch_function__`: how types of their own see the calls of PyTorch's functions. Source: torch.overrides.

Ops of the core know nothing of it. A subclass of Tensor gets methods and operators that go through its rule when the
class is made, and from the first class with a rule of its own on, the functions of the package and the methods of plain
tensors look for it among their arguments. A type that is no Tensor is seen where a call with it fails, and by functions from then on, or once such a class exists.
A mode is a rule for all calls of its `with` block: while one is in force, functions and methods of plain tensors ask it.
"""
import contextlib
import functools
import inspect
import threading

import _weir

import weir
from weir import Tensor

_state = {"active": False, "disabled": 0, "skip": False, "entered": 0}
_modes: list = []  # those in force, the innermost last; the one that answers a call is away meanwhile
_running = threading.local()  # `func`: what Tensor's own rule calls in this thread
_admitted: set = set()  # classes of the package whose rule is asked as those of programs are


def admit(*classes):
    """Calls with these classes of the package go through their `__torch_function__` from now on, as soon as one is active."""
    _admitted.update(classes)


def _rule(kind):
    rule = getattr(kind, "__torch_function__", None)
    if rule is None or rule is _disabled_torch_function_impl:
        return None
    return None if getattr(rule, "__module__", "") == "torch._tensor" else rule  # of PyTorch's tensors, which would ask us again


def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    """`__torch_function__ = torch._C._disabled_torch_function_impl`: the subclass has no rule, results are plain tensors."""
    return func(*args, **(kwargs or {}))


def _own(obj):
    """Has obj a type with a rule other than Tensor's?"""
    kind = type(obj)
    if kind is Tensor or obj is None or isinstance(obj, (int, float, str, bool)):
        return False
    rule = _rule(kind)
    return rule is not None and (kind in _admitted or not kind.__module__.startswith("weir."))


def has_torch_function(relevant_args):
    """Is there a mode, or has one of the arguments a type with a rule of its own?"""
    return not _skipped() and (bool(_modes) or not _state["disabled"] and any(map(_own, relevant_args)))


def has_torch_function_unary(arg):
    return has_torch_function((arg,))


def has_torch_function_variadic(*args):
    return has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """The result of the innermost mode, or of the first rule that accepts the call: subclasses before their bases, else from left to right.

    TypeError when all return NotImplemented.
    """
    if _modes:
        return _ask_mode(public_api, args, kwargs)
    overloaded, result = _first_answer(public_api, relevant_args, args, kwargs)
    if result is NotImplemented:
        raise TypeError(f"no implementation found for '{getattr(public_api, '__module__', '')}.{public_api.__name__}' on types that "
                        f"implement __torch_function__: {[type(a) for a in overloaded]}")
    return result


def _first_answer(public_api, relevant_args, args, kwargs):
    overloaded = []
    for arg in relevant_args:
        if _own(arg) and all(type(arg) is not type(o) for o in overloaded):
            place = next((i for i, o in enumerate(overloaded) if issubclass(type(arg), type(o))), len(overloaded))
            overloaded.insert(place, arg)
    types = tuple(map(type, overloaded))
    for arg in overloaded:
        result = type(arg).__torch_function__(public_api, types, args, kwargs)
        if result is not NotImplemented:
            return overloaded, result
    return overloaded, NotImplemented


def _answer(public, relevant, args, kwargs):
    """handle_torch_function for ops, whose refusal PyTorch's C++ words."""
    if _modes:
        return _ask_mode(public, args, kwargs)
    overloaded, result = _first_answer(public, relevant, args, kwargs)
    if result is NotImplemented:
        raise _refusal(public, [f"tensor subclass {type(a)}" for a in overloaded])
    return result


def _refusal(public, handlers):
    listed = "\n".join(f"  - {h}" for h in handlers)
    return TypeError(f"Multiple dispatch failed for '{resolve_name(public) or public.__name__}'; all __torch_function__ handlers returned "
                     f"NotImplemented:\n\n{listed}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented")


def ask_types(public_api, args, kwargs):
    """The answer of a type that is no tensor, where a call of an op or operator with it has failed, or of a subclass among the arguments
    of a plain tensor's method; functions ask from now on."""
    relevant = [a for a in _flat(args, kwargs) if _own(a)]
    if _state["disabled"] or not relevant or _state["skip"] and _skipped():
        return NotImplemented
    ask_for_rules()
    return _answer(public_api, relevant, args, kwargs)


def wrap_torch_function(dispatcher):
    """Decorates a function: `dispatcher`, called with its arguments, names those whose types may have rules."""
    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)
        return wrapped
    return inner


@contextlib.contextmanager
def _no_torch_function():
    _state["disabled"] += 1
    try:
        yield
    finally:
        _state["disabled"] -= 1


class DisableTorchFunctionSubclass:
    """Inside, rules are not asked, and results are plain tensors."""

    def __enter__(self):
        _state["disabled"] += 1

    def __exit__(self, *exc):
        _state["disabled"] -= 1


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Inside, neither rules of types nor modes are asked."""

    def __enter__(self):
        super().__enter__()
        self._away, _modes[:] = list(_modes), []

    def __exit__(self, *exc):
        _modes[:] = self._away
        super().__exit__(*exc)


def _flat(args, kwargs):
    for a in (*args, *kwargs.values()):
        if isinstance(a, (list, tuple)):
            yield from a
        else:
            yield a


def _converted(result, cls):
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return _as_class(result, cls)
    if isinstance(result, (tuple, list)) and type(result).__module__ != "torch.return_types":
        parts = [_converted(r, cls) for r in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result


def _as_class(result, cls):
    """result as a cls with its history: a new wrapper around an alias."""
    if not (result.requires_grad and result.grad_fn is not None):
        return weir._C._make_subclass(cls, result, result.requires_grad)
    return result  # a wrapper of another class would lose the history


def default_rule(cls, func, types, args=(), kwargs=None):
    """Tensor's own rule: func, whose results become instances of the subclass."""
    before = getattr(_running, "func", None)
    if not all(issubclass(cls, t) for t in types) or func is before:  # asked by what it calls: a function of another framework, which knows no such tensors
        return NotImplemented
    _running.func = func
    try:
        with _no_torch_function():
            result = func(*args, **(kwargs or {}))
    finally:
        _running.func = before
    if func in _plain_results():
        return result
    return _converted(result, cls)


@functools.cache
def _plain_results():
    names = ("is_floating_point", "size", "stride", "dim", "numel", "tolist", "item", "numpy", "data_ptr", "__repr__")
    return frozenset(getattr(Tensor, n) for n in names)


def _ask(public, function, args, kwargs):
    """A call that rules may answer: by the innermost mode, else by the types of the arguments, else by the function."""
    if _state["skip"] and _skipped():
        return function(*args, **kwargs)
    if _modes:
        return _ask_mode(public, args, kwargs)
    if not _state["disabled"]:
        relevant = [a for a in _flat(args, kwargs) if _own(a)]
        if relevant:
            return _answer(public, relevant, args, kwargs)
    return function(*args, **kwargs)


def _ask_mode(public, args, kwargs):
    types = tuple(dict.fromkeys(type(a) for a in _flat(args, kwargs) if _own(a)))
    mode = _modes.pop()
    try:
        result = mode.__torch_function__(public, types, args, kwargs)
    finally:
        _modes.append(mode)
    if result is NotImplemented:
        raise _refusal(public, [f"mode object {mode}"])
    return result


class _Asking:
    """A function of the package that asks for rules. It equals the function, which tables of programs may hold from before."""

    def __init__(self, function):
        functools.update_wrapper(self, function, updated=())
        self._function = function

    def __call__(self, *args, **kwargs):
        if self.__name__ == "einsum" and len(args) == 2 and isinstance(args[0], str) and isinstance(args[1], (list, tuple)):
            args = (args[0], *args[1])  # rules see operands side by side, as PyTorch's
        return _ask(self, self._function, args, kwargs)

    def __getattr__(self, name):  # what an op says of itself, as `__kwdefaults__`
        return getattr(self._function, name)

    def __eq__(self, other):
        return self._function is getattr(other, "_function", other)

    def __hash__(self):
        return hash(self._function)

    def __repr__(self):
        return repr(self._function)

    def __reduce__(self):
        return self.__qualname__


#: Operators under the names of the methods that rules see.
_OPERATORS = {f"__{prefix}{name}__": method + "_" * (prefix == "i") for name, method in
              (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("pow", "pow"), ("matmul", "matmul"))
              for prefix in ("", "r", "i")} | {f"__{n}__": n for n in ("neg", "abs", "ne", "lt", "le", "gt", "ge")}
for _name in ("__rsub__", "__rpow__", "__rtruediv__", "__rmatmul__", "__imatmul__", "__ipow__"):
    del _OPERATORS[_name]


_BINARY = frozenset(f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
                    ) | {f"__{name}__" for name in "lt le gt ge".split()}


def _plain(f):
    """A method of Tensor's itself, of what stands in its place under a mode."""
    return getattr(f, "_method", f)


def _wrap_method(method, name):
    known = _OPERATORS.get(name, name)

    def call(*args, **kwargs):
        return _ask(getattr(Tensor, known), method, args, kwargs)

    def operate(a, b):
        try:
            return _ask(getattr(Tensor, known), method, (a, b), {})
        except TypeError:  # so that Python asks the other operand, and says which operator has none
            return NotImplemented
    if name in _BINARY:
        call = operate
    call.__name__, call.__doc__ = known, getattr(method, "__doc__", None)
    call._method = _plain(method)
    return call


_LEFT = {"__class__", "__new__", "__init__", "__del__", "__dict__", "__getattribute__", "__setattr__", "__delattr__", "__hash__",
         "__init_subclass__", "__subclasshook__", "__dir__", "__doc__", "__torch_function__", "__reduce__", "__reduce_ex__",
         "__sizeof__", "__getstate__", "__deepcopy__", "__format__", "__str__", "_make_subclass", "_make_wrapper_subclass",
         "as_subclass", "requires_grad_", "__array__", "__len__", "__iter__", "__bool__", "__repr__", "register_hook"}


def subclassed(cls):
    """A subclass of Tensor was made: gives it methods and operators that go through its rule."""
    if cls.__module__.startswith("weir.") or _rule(cls) is None or "__torch_function__" in vars(cls) and \
            vars(cls)["__torch_function__"] is _disabled_torch_function_impl:
        return
    if issubclass(cls, (weir.nn.Parameter, weir.nn.Buffer)) and cls.__torch_function__.__func__ is Tensor.__torch_function__.__func__:
        return
    _weir._watch_tensors_of(cls)
    if Tensor in cls.__bases__:
        for name in dir(Tensor):
            value = Tensor.__dict__.get(name)
            if name in _LEFT or name in vars(cls) or not callable(value) or isinstance(value, (type, classmethod, staticmethod)):
                continue
            setattr(cls, name, _wrap_method(value, name))
    ask_for_rules()


def ask_for_rules():
    """From now on the package's functions ask their arguments for rules."""
    if _state["active"]:
        return
    _state["active"] = True
    from .fx._patching import _functions
    made = {}
    for module, name, function in _functions():
        if getattr(function, "__name__", name) in _LEFT:  # a method that a program set as a function (fastai: torch.as_subclass)
            continue
        if id(function) not in made:
            made[id(function)] = wrapped = _Asking(function)
            wrapped.__module__, wrapped.__qualname__ = module.__name__, name  # so that it travels as its name
        setattr(module, name, made[id(function)])


def get_ignored_functions():
    """Functions that never ask for rules: those that make tensors of nothing but numbers, and switches."""
    names = """arange as_tensor asarray empty empty_strided eye full from_numpy frombuffer linspace logspace ones rand randint
        randn randperm range scalar_tensor tensor tril_indices triu_indices zeros is_tensor is_storage set_default_dtype
        get_default_dtype manual_seed seed initial_seed set_rng_state get_rng_state set_grad_enabled is_grad_enabled typename
        can_cast promote_types result_type set_num_threads get_num_threads set_printoptions save load compile
        use_deterministic_algorithms are_deterministic_algorithms_enabled""".split()
    return {getattr(weir, n) for n in names if hasattr(weir, n)}


@functools.cache
def _public():
    """{namespace: {name: function}} of the package's functions and methods."""
    from .fx._patching import _functions
    found = {}
    for module, name, function in _functions():
        if inspect.getmodule(function) is not inspect:
            found.setdefault(module, {})[name] = function
    found[Tensor] = {name: _plain(m) for name, m in Tensor.__dict__.items() if callable(m) and not isinstance(m, (type, classmethod))}
    return found


@functools.cache
def _overridable():
    ignored = get_ignored_functions()
    return {namespace: [f for f in functions.values() if f not in ignored] for namespace, functions in _public().items()}


@functools.cache
def _names():
    """function -> the name under which it can be found."""
    found = {}
    for namespace, functions in _public().items():
        prefix = "torch.Tensor" if namespace is Tensor else namespace.__name__.replace("weir", "torch", 1)
        for name, function in functions.items():
            found.setdefault(function, f"{prefix}.{_OPERATORS.get(name, name) if namespace is Tensor else name}")
    return found


def get_overridable_functions():
    """namespace -> its functions that ask for rules."""
    return _overridable()


def get_testing_overrides():
    """function -> a function of the same parameters, where those are known, that returns -1."""
    def stand_in(function):
        def dummy(*args, **kwargs):
            return -1
        with contextlib.suppress(ValueError, TypeError):
            dummy.__signature__ = inspect.signature(function)
        dummy.__name__ = getattr(function, "__name__", "dummy")
        return dummy
    return {function: stand_in(function) for functions in _overridable().values() for function in functions}


def resolve_name(f):
    """The name under which f can be found, such as torch.add; None when it is unknown."""
    return _names().get(_plain(f))


def is_tensor_method_or_property(func):
    return _plain(func) in _overridable()[Tensor] or getattr(func, "__name__", "") == "__get__"


@functools.cache
def get_default_nowrap_functions():
    """What gives a tensor that the tensor keeps, so that a subclass's rule leaves it as it is."""
    return {getter.__get__ for getter in (Tensor._base, Tensor.grad, Tensor._grad)}


def _len_torch_function_stack():
    return len(_modes)


def is_tensor_like(inp):
    """Is inp a Tensor, or of a type with a rule?"""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """A scope that changes nothing: rules may call rules here."""
    yield


def redispatch_function(func, types, args=(), kwargs=None):
    """func itself, without asking once: what it calls asks again."""
    _state["skip"] = True
    try:
        return func(*args, **(kwargs or {}))
    finally:
        _state["skip"] = False


def _skipped():
    """Is this the one question that redispatch_function leaves out?"""
    skip, _state["skip"] = _state["skip"], False
    return skip


def _get_current_function_mode():
    """The innermost mode in force, or None."""
    return _modes[-1] if _modes else None


def _get_current_function_mode_stack():
    """The modes in force, the innermost last."""
    return list(_modes)


class TorchFunctionMode:
    """A rule for all calls inside a `with`: `__torch_function__(self, func, types, args, kwargs)` answers them, and may call func.

    Seen are the package's functions, and methods and operators of tensors, not attributes; and not functions that a program took
    by name (`from torch import add`) before the first mode. Source: torch.overrides.TorchFunctionMode.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        ask_for_rules()
        _watch_methods()
        _state["entered"] += 1
        _modes.append(self)
        return self

    def __exit__(self, *exc):
        _modes.pop()
        _state["entered"] -= 1
        if not _state["entered"]:  # no modes may be in force while the one that answers is away
            _leave_methods()
        return None

    @classmethod
    def push(cls, *args, **kwargs):
        """An instance, for `with`."""
        return cls(*args, **kwargs)


_methods_before: dict = {}
_SEEN_BY_MODES = ("__len__", "__bool__", "requires_grad_")


def _watch_methods():
    """Methods and operators of plain tensors ask the modes."""
    if _methods_before:
        return
    for name, value in list(Tensor.__dict__.items()):
        if name in _LEFT and name not in _SEEN_BY_MODES or not callable(value) or isinstance(value, (type, classmethod, staticmethod)):
            continue
        _methods_before[name] = value
        setattr(Tensor, name, _wrap_method(value, name))


def _leave_methods():
    for name, value in _methods_before.items():
        setattr(Tensor, name, value)
    _methods_before.clear()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call through."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
