"""Reads pickles as data: a stack machine over the opcodes that plain containers, numbers and tensors are written with.

Nothing in the file is looked up, called or changed but what the table of allowed names holds, and attributes are set only
on objects that this file made. Source of the format: https://docs.python.org/3/library/pickletools.html
"""

import pickle
import pickletools
from collections import OrderedDict, deque


class LoadError(pickle.UnpicklingError):
    """A file that cannot be loaded: names the file and the reason."""


class Allowed:
    """What a name of the file stands for: `make(*args)` builds an object; with `attributes` its state may be set. Where the file holds the name itself it
    means `value`, `make` where that is a class."""

    def __init__(self, make, attributes=False, new=False, value=None):
        self.make, self.attributes, self.new = make, attributes, new
        self.value = value or (make if isinstance(make, type) else None)


_MARK = object()
#: Their argument is the value.
_PUSHED = {"BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "LONG4", "BINFLOAT", "FLOAT", "BINUNICODE", "SHORT_BINUNICODE",
           "BINUNICODE8", "UNICODE", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "BINSTRING", "SHORT_BINSTRING",
           "STRING"}
_CONSTANTS = {"NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_TUPLE": tuple, "EMPTY_LIST": list,
              "EMPTY_DICT": dict, "EMPTY_SET": set}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class Reader:
    """Reads one pickle from `file`.

    `find(module, name)` answers an Allowed, any other value to push as it is (a dtype), or raises LoadError.
    `persistent(id)` answers what stands for a persistent id. `make(what, args, keywords, new)` makes objects of values that `find` answered,
    and says whether they are new; without it none are made. Raises LoadError for everything malformed.
    """

    def __init__(self, file, find, persistent, make=None):
        self._file, self._find, self._persistent, self._maker = file, find, persistent, make
        self._stack, self._memo, self._made = [], {}, {}

    def read(self):
        try:
            for opcode, argument, _ in pickletools.genops(self._file):
                if opcode.name == "STOP":
                    result = self._pop()
                    if isinstance(result, Allowed):
                        raise LoadError("the pickle is a function, which it may only call")
                    if self._stack:
                        raise LoadError("the pickle leaves objects behind")
                    return result
                self._step(opcode.name, argument)
        except LoadError:
            raise
        except (ValueError, IndexError, KeyError, TypeError, OverflowError, AttributeError, UnicodeError) as error:
            raise LoadError(f"malformed pickle: {error}") from None
        raise LoadError("the pickle has no end")

    def _pop(self):
        return self._held(self._pop_name())

    def _pop_name(self):
        if not self._stack or self._stack[-1] is _MARK:
            raise LoadError("the pickle takes from an empty stack")
        return self._stack.pop()

    @staticmethod
    def _held(item):
        """What an item is where it is held and not called: of a name its class. A function is handed on, to the call that takes one."""
        return item if not isinstance(item, Allowed) or item.value is None else item.value

    def _pop_mark(self):
        items = []
        while self._stack:
            item = self._stack.pop()
            if item is _MARK:
                return items[::-1]
            items.append(self._held(item))
        raise LoadError("the pickle lacks a mark")

    def _top(self, kinds):
        if not self._stack or not isinstance(self._stack[-1], kinds):
            raise LoadError("the pickle adds items to what is no container")
        return self._stack[-1]

    def _step(self, name, argument):
        push = self._stack.append
        if name in _PUSHED:
            push(argument)
        elif name in _CONSTANTS:
            push(_CONSTANTS[name]())
        elif name in _TUPLES:
            push(tuple([self._pop() for _ in range(_TUPLES[name])][::-1]))
        elif name in ("BINPUT", "LONG_BINPUT", "PUT"):
            self._memo[int(argument)] = self._stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = self._stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET"):
            push(self._memo[int(argument)])
        elif name == "MARK":
            push(_MARK)
        elif name not in ("PROTO", "FRAME"):
            method = getattr(self, f"_do_{name.lower()}", None)
            if method is None:
                raise LoadError(f"the pickle holds the operation {name}, which data does not need")
            method(argument)

    def _do_tuple(self, _):
        items = tuple(self._pop_mark())
        self._stack.append(items)

    def _do_list(self, _):
        items = self._pop_mark()
        self._stack.append(items)

    def _do_dict(self, _):
        items = self._pop_mark()
        self._stack.append({})
        self._put_items(items)

    def _do_frozenset(self, _):
        items = frozenset(self._pop_mark())
        self._stack.append(items)

    def _do_append(self, _):
        item = self._pop()
        self._extend([item])

    def _do_appends(self, _):
        self._extend(self._pop_mark())

    def _extend(self, items):
        target = self._top((list, deque))
        (deque if isinstance(target, deque) else list).extend(target, items)  # theirs, whatever a subclass makes of it

    def _do_additems(self, _):
        items = self._pop_mark()
        set.update(self._top(set), items)

    def _do_setitem(self, _):
        value, key = self._pop(), self._pop()
        self._put_items([key, value])

    def _do_setitems(self, _):
        self._put_items(self._pop_mark())

    def _put_items(self, items):
        target = self._top(dict)
        if len(items) % 2:
            raise LoadError("the pickle has a key without a value")
        for key, value in zip(items[::2], items[1::2]):
            target[key] = value

    def _do_pop(self, _):
        self._stack.pop()

    def _do_pop_mark(self, _):
        self._pop_mark()

    def _do_dup(self, _):
        self._stack.append(self._stack[-1])

    def _do_binpersid(self, _):
        self._stack.append(self._persistent(self._pop()))

    def _do_global(self, argument):
        module, _, name = argument.partition(" ")
        self._stack.append(self._find(module, name))

    def _do_stack_global(self, _):
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise LoadError("the pickle names something by what is no text")
        self._stack.append(self._find(module, name))

    def _do_reduce(self, _):
        args, what = self._pop(), self._pop_name()
        self._make(what, args, {})

    def _do_newobj(self, _):
        args, what = self._pop(), self._pop_name()
        self._make(what, args, {}, new=True)

    def _do_newobj_ex(self, _):
        keywords, args, what = self._pop(), self._pop(), self._pop_name()
        self._make(what, args, keywords, new=True)

    def _make(self, what, args, keywords, new=False):
        known = isinstance(what, Allowed)
        if not known and not (self._maker and callable(what)) or not isinstance(args, tuple) or not isinstance(keywords, dict):
            raise LoadError("the pickle calls what is no function")
        if not known:
            made, new = self._maker(what, args, keywords, new)
            if new:
                self._made[id(made)] = made
            return self._stack.append(made)
        made = what.make.__new__(what.make, *args, **keywords) if new and what.new else what.make(*args, **keywords)
        if what.attributes:
            self._made[id(made)] = made
        self._stack.append(made)

    def _do_build(self, _):
        state = self._pop()
        target = self._stack[-1]
        if self._made.get(id(target)) is not target:
            raise LoadError(f"the pickle sets attributes of a {type(target).__name__}, which it may not")
        if type(target) is OrderedDict:  # a state_dict carries its versions so
            if not isinstance(state, dict) or set(state) - {"_metadata"}:
                raise LoadError("the pickle sets attributes of an OrderedDict other than _metadata")
            target.__dict__.update(state)
        elif hasattr(target, "__setstate__"):
            target.__setstate__(state)
        else:
            slots = {}
            if isinstance(state, tuple) and len(state) == 2:
                state, slots = state
            if state:
                target.__dict__.update(state)
            for key, value in (slots or {}).items():
                setattr(target, key, value)
