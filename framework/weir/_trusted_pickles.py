"""What a file may name that its reader trusts (`load(weights_only=False)`): whole modules, options, arrays, the program's own classes.

Trusted or not, no function that a file names is called. Objects are made of classes that the program has imported, and filled with
what the file holds: by `__new__` and `__setstate__`, as copying makes them. A module is not imported because a file names it, except
weir's own. Functions may be held (an activation of a module), to be called by the program.
"""
import builtins
import enum
import functools
import importlib
import inspect
import pickle
import re
import sys
import types
from collections import OrderedDict, deque

from _compat_pickle import IMPORT_MAPPING as _NEW_MODULES, NAME_MAPPING as _NEW_NAMES  # what Python 2's names are: pickle writes those

from ._pickle_reader import LoadError
from ._tensor_surface import op_named

#: Of Python's own modules: kinds of plain data. These are made by calling them with what the file says.
_DATA = {
    "argparse": {"Namespace"}, "types": {"SimpleNamespace"}, "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"}, "fractions": {"Fraction"}, "uuid": {"UUID"}, "functools": {"partial"},
    "random": {"Random"}, "collections": {"defaultdict", "deque", "Counter", "OrderedDict"},
    "pathlib": {"PosixPath", "PurePosixPath", "Path", "PurePath", "WindowsPath", "PureWindowsPath"},
    "builtins": {"object", "int", "float", "bool", "str", "bytes", "list", "dict", "tuple", "set", "frozenset", "complex", "slice", "range"},
}
_ARRAYS = {"_reconstruct", "scalar"}  # of numpy's multiarray module; with `dtype` and `ndarray`, what its pickles name


def home_in_pytorch(obj, name):
    """The module under which files name a class or function of weir's, so that PyTorch finds it too; None for others."""
    home = pickle.whichmodule(obj, name).split(".")
    if home == ["torch", "return_types"]:  # as our own say they are, whoever holds that name
        return "torch.return_types"
    if home[0] == "_weir" and getattr(sys.modules["weir"], name, None) is obj:
        return "torch"
    if home[0] != "weir":
        return None
    paths = [".".join(home[:n]) for n in range(1, len(home) + 1)]  # in what file it stands is ours alone
    public = next((p for p in paths if getattr(sys.modules.get(p), name, None) is obj), paths[-1])
    return "torch" + public.removeprefix("weir")


def find(module, name):
    """The object of that name. LoadError for what no trusted file may name."""
    if module.partition(".")[0] == "numpy":
        return _of_numpy(module, name)
    if module == "copyreg" and name == "_reconstructor":
        return _reconstructor
    module, name = _NEW_NAMES.get((module, name), (_NEW_MODULES.get(module, module), name))
    if (module, name) in _STANDS_FOR:
        return _STANDS_FOR[module, name]
    if module == "builtins" and isinstance(error := getattr(builtins, name, None), type) and issubclass(error, BaseException):
        return error
    if (module, name) == ("builtins", "getattr"):
        return _bound
    home = module.partition(".")[0]
    if home in sys.stdlib_module_names and home != "__main__":
        if name not in _DATA.get(module, ()):
            raise LoadError(f"the file names {module}.{name}, which is not data")
        return getattr(importlib.import_module(module), name)
    return _of_program(module, name)


def _of_program(module, name):
    here = module
    if module == "torch" or module.startswith("torch."):
        here = "weir" + module.removeprefix("torch")
        if module not in sys.modules or sys.modules[module] is not sys.modules.get(here):
            try:
                importlib.import_module(here)
            except ImportError:
                raise LoadError(f"the file names {module}.{name}, which weir does not have") from None
    if here not in sys.modules:
        raise LoadError(f"the file names {module}.{name}: import {module} before loading it")
    value = sys.modules[here]
    for part in name.split("."):
        value = getattr(value, part, None)
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) and not callable(value):
        raise LoadError(f"the file names {module}.{name}, which is no class or function")
    return value


def _of_numpy(module, name):
    import numpy
    if module.startswith("numpy.random."):
        return _of_numpy_random(name)
    if name == "_frombuffer" and module.rpartition(".")[2] == "numeric":
        return _over_bytes
    if name in _ARRAYS and module.rpartition(".")[2] == "multiarray":
        return getattr(sys.modules.get("numpy._core.multiarray") or numpy.core.multiarray, name)
    if module == "numpy" and name in ("dtype", "ndarray") or module.startswith("numpy.dtypes"):
        return numpy.dtype if name != "ndarray" else numpy.ndarray
    raise LoadError(f"the file names {module}.{name}, which is not data")


def _over_bytes(data, dtype, shape, order="C"):
    """An array as protocol 5 writes it."""
    import numpy
    if not isinstance(data, (bytes, bytearray)) or not isinstance(dtype, numpy.dtype) or dtype.hasobject:
        raise LoadError("an array of what are no bytes")
    return numpy.frombuffer(data, dtype).reshape(shape, order=order)


def _of_numpy_random(name):
    """What pickles of NumPy's generators name: kinds of bit generators, which are held, and what makes them."""
    from numpy import random
    if name in _BIT_GENERATORS or name == "SeedSequence":
        return getattr(random, name)
    if name not in _RANDOM_MAKERS:
        raise LoadError(f"the file names numpy.random's {name}, which is not data")
    return _RANDOM_MAKERS[name]


_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def _bit_generator(kind="MT19937"):
    name = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    known = _of_numpy_random(name) if name in _BIT_GENERATORS else None
    if known is None or isinstance(kind, type) and kind is not known:
        raise LoadError("a bit generator of an unknown kind")
    return known()


def _generator(bits="MT19937", _=None):
    return _random_from("Generator", bits)


def _random_state(bits="MT19937", _=None):
    return _random_from("RandomState", bits)


def _random_from(name, bits):
    from numpy import random
    return getattr(random, name)(bits if isinstance(bits, random.BitGenerator) else _bit_generator(bits))


def _seed_sequence(kind, _, state):
    from numpy import random
    if kind is not random.SeedSequence or state is not None:
        raise LoadError("a seed sequence of another kind")
    return random.SeedSequence(0)  # its state follows


_RANDOM_MAKERS = {"__bit_generator_ctor": _bit_generator, "__generator_ctor": _generator, "__randomstate_ctor": _random_state,
                  "__pyx_unpickle_SeedSequence": _seed_sequence}


class _New:
    """`cls.__new__`, as the older protocols name it to make an object with keywords: they call a partial of it."""

    def __init__(self, cls):
        self.cls = cls

    def __call__(self, *args, **keywords):
        raise LoadError(f"the file makes a {self.cls.__name__} as no pickle does")

    def made(self, cls, *args, **keywords):
        """As `make`."""
        if not isinstance(cls, type) or not issubclass(cls, self.cls):
            raise LoadError(f"the file makes a {cls!r:.80} as a {self.cls.__name__}")
        return make(cls, args, keywords, True)


def _bound(obj, name):
    """What a pickle means by getattr: a method of an object, a class within a class, or a member of an enumeration. Looked up without running anything."""
    if name == "__new__" and isinstance(obj, type):
        return _New(obj)
    if isinstance(obj, enum.EnumMeta) and name in obj.__members__:  # as some versions of Python write members
        return obj.__members__[name]
    value = inspect.getattr_static(obj if isinstance(obj, type) else type(obj), name, None)
    if type(obj).__module__.partition(".")[0] in sys.stdlib_module_names and not isinstance(value, type):
        raise LoadError(f"the file names a method of {type(obj).__name__}")
    if isinstance(obj, type) and isinstance(value, type):
        return value
    if not isinstance(value, types.FunctionType) or isinstance(obj, type):
        raise LoadError(f"the file names {name} of {type(obj).__name__}, which is no method")
    return types.MethodType(value, obj)


def _kind_of(constant):
    """What a pickle means by type: the class of a constant, which has no name."""
    if not any(constant is known for known in (None, ..., NotImplemented)):
        raise LoadError("the file asks for the type of what is no constant")
    return type(constant)


def _pattern(text, flags=0):
    if not isinstance(text, (str, bytes)) or type(flags) is not int:
        raise LoadError("a pattern of what is no text")
    return re.compile(text, flags)


_STANDS_FOR = {("builtins", "Ellipsis"): ..., ("builtins", "NotImplemented"): NotImplemented, ("builtins", "type"): _kind_of, ("re", "_compile"): _pattern}


def _is_plain(cls):
    """Whether calling the class runs no code but that of Python's own containers and errors: it fills itself as they do."""
    for base in (set, frozenset, list, dict, OrderedDict, deque, BaseException):
        if isinstance(cls, type) and issubclass(cls, base):
            own = next(c for c in cls.__mro__ if c.__module__ in ("builtins", "collections"))
            return type(cls) is type and cls.__new__ is own.__new__ and cls.__init__ is own.__init__
    return False


def _reconstructor(cls, base, state):
    """Objects in the manner of the first protocols."""
    if base is not object or state is not None:
        raise LoadError(f"the file makes a {cls.__name__} out of a {base.__name__}")
    return _new(cls, (), {})


def _new(cls, args, keywords):
    made = cls.__new__(cls, *args, **keywords)
    if not isinstance(made, cls):
        raise LoadError(f"{cls.__name__} made another object")
    return made


def make(what, args, keywords, new):
    """(object, is it new) of the class `what`, as a pickle asks for it. What is found and not made is not the file's to change."""
    if type(what) is functools.partial and type(what.func) is _New:
        return what.func.made(*what.args, *args, **what.keywords, **keywords)
    if what in (_bound, op_named, _kind_of, _pattern) or isinstance(what, type) and issubclass(what, enum.Enum):
        return what(*args, **keywords), False
    return _made(what, args, keywords, new), True


def _made(what, args, keywords, new):
    """By `__new__`, or by the call that stands for a kind of data."""
    if new and isinstance(what, type) and what.__module__ not in _DATA and what.__module__.partition(".")[0] != "numpy":  # whose memory __init__ makes
        return _new(what, args, keywords)
    if any(what is maker for maker in (_reconstructor, _over_bytes, *_RANDOM_MAKERS.values())):
        return what(*args, **keywords)
    if what is functools.partial:
        if len(args) != 1 or not callable(args[0]):
            raise LoadError("a partial of what is no function")
        return what(*args)
    if isinstance(what, type) and what.__name__ in _DATA.get(what.__module__, ()):
        return _new(what, args, keywords) if new else what(*args, **keywords)
    if not new and _is_plain(what):
        return what(*args, **keywords)
    if getattr(what, "__name__", "") in _ARRAYS | {"dtype"}:
        return _array(what, args)
    raise LoadError(f"the file calls {getattr(what, '__module__', '?')}.{getattr(what, '__qualname__', what)}, which no file may")


def _array(what, args):
    """A part of a numpy array. An array of objects is filled with what the file lists; a single one would be a pickle in the pickle."""
    import numpy
    kinds = [a for a in args if isinstance(a, numpy.dtype)]
    if what is numpy.dtype and not isinstance(args[0], str) or any(k.hasobject for k in kinds):
        raise LoadError("an object in an array")
    made = numpy.dtype(args[0], False, True) if what is numpy.dtype else what(*args)  # a copy, since its state will be set
    if isinstance(made, numpy.dtype) and made.hasobject and made != numpy.dtype(object):
        raise LoadError("objects in parts of an array")
    return made
