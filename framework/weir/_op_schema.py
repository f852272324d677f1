"""Declarations of ops such as "(Tensor x, int n=1, *, float f=2.0) -> Tensor": what fits them, and as what a kernel sees it.

Source: torch/csrc/jit/frontend/function_schema_parser.cpp (the language), torch/csrc/jit/python/pybind_utils.h (what fits a type).
"""
import ast
import functools
import inspect
import operator
import re

import weir
from weir import Tensor

_OPAQUE = """Layout MemoryFormat Generator Dimname Stream Storage QScheme Any AnyEnumType DeviceObjType Symbol Future NoneType None t""".split()
_WORDS = {"True": True, "False": False, "None": None, "inf": float("inf")}


class Misfit(Exception):
    """A value that a type does not take."""


def _tensor(value):
    if not isinstance(value, (Tensor, type(None))):  # None is PyTorch's undefined tensor
        raise Misfit
    return value


def _item(value):
    """The number in a tensor of one element, and other values as they are."""
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def _int(value):
    try:
        return operator.index(_item(value))
    except TypeError:
        raise Misfit from None


def _number(kind, accepted):
    def convert(value):
        value = _item(value)
        if not isinstance(value, accepted) and not hasattr(type(value), "__float__") or isinstance(value, Tensor):
            raise Misfit
        return kind(value)
    return convert


def _of(*classes):
    def convert(value):
        if not isinstance(value, classes):
            raise Misfit
        return value
    return convert


def _scalar(value):
    value = _item(value)
    if not isinstance(value, (bool, int, float, complex)):
        raise Misfit
    return value


def _dtype(value):
    if isinstance(value, str) and isinstance(getattr(weir, value, None), weir.dtype):
        return getattr(weir, value)  # a default: its text
    return _of(weir.dtype)(value)


_CONVERT = {"Tensor": _tensor, "int": _int, "SymInt": _int, "float": _number(float, (float, int)), "SymFloat": _number(float, (float, int)),
            "bool": _number(bool, (bool, int, float)), "SymBool": _number(bool, (bool, int, float)), "complex": _number(complex, (complex, float, int)),
            "Scalar": _scalar, "number": _scalar, "str": _of(str), "ScalarType": _dtype, "Device": lambda value: weir.device(_of(str, int, weir.device)(value)),
            **dict.fromkeys(_OPAQUE, lambda value: value)}


class Type:
    """A type by its text, without aliases: `text`, and `convert(value)`, the value as a kernel sees it. Misfit where it is none."""

    def __init__(self, text):
        self.text = text
        self.convert = self._convert_of(text)

    @staticmethod
    def _convert_of(text):
        if text.endswith("?"):
            inner = Type(text[:-1]).convert
            return lambda value: None if value is None else inner(value)
        if match := re.fullmatch(r"(.+)\[(\d*)\]", text, re.S):
            inner, count = Type(match[1]).convert, match[2]

            def convert(value):
                if count and isinstance(value, (int, float)):
                    value = [value] * int(count)  # one number for all places
                if not isinstance(value, (list, tuple)):
                    raise Misfit
                return [inner(v) for v in value]
            return convert
        if not re.fullmatch(r"[\w.]+", text) or text.startswith("__torch__"):
            return lambda value: value  # tuples, dictionaries and classes
        if text not in _CONVERT:
            raise RuntimeError(f"unknown type specifier {text}. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar")
        return _CONVERT[text]

    def __str__(self):
        return self.text

    __repr__ = __str__


class Argument:
    """A parameter, or a result: its name, type, default, whether it is given by keyword only, and whether the op writes it."""

    def __init__(self, text, kwarg_only=False):
        declared, equals, default = (part.strip() for part in text.partition("="))
        alias = re.search(r"\(([\w|*]+)(!?)(?:\s*->[^)]*)?\)", declared) if re.match(r"Tensor\(", declared) else None
        if alias:
            declared = declared.replace(alias[0], "", 1)
        match = re.fullmatch(r"(.*?[\w\])?])(?:\s+(\w+))?", declared, re.S)
        if match is None:
            raise RuntimeError(f"expected a type and a name but found '{text}'")
        self.real_type, self.name, self.kwarg_only = Type(match[1].strip().replace("SymInt", "int")), match[2] or "", kwarg_only
        self.type, self.is_write = self.real_type, bool(alias and alias[2])
        self.is_out = self.is_write and kwarg_only
        self.has_default, self.default_value = bool(equals), _value(default, self.real_type) if equals else None

    def has_default_value(self):
        return self.has_default


def _value(text, type):
    """A default by its text, as a kernel sees it."""
    try:
        value = _WORDS[text] if text in _WORDS else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = text
    try:
        return type.convert(value)
    except (Misfit, RuntimeError):
        return value  # the name of a constant, such as Mean


def _parts(text):
    """The parts between commas outside all brackets and quotes."""
    parts, depth, quote, part = [], 0, "", ""
    for c in text + ",":
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        if c == "," and not depth and not quote:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return [p for p in parts if p]


class Schema:
    """What an op `ns::name` says of itself. RuntimeError for a text that is no declaration."""

    def __init__(self, name, overload_name, text):
        self.name, self.overload_name, self._text = name, overload_name, text.strip()
        depth = end = 0
        for end, c in enumerate(self._text):
            depth += (c == "(") - (c == ")")
            if depth == 0:
                break
        arrow = self._text[end + 1:].strip()
        if not self._text.startswith("(") or not arrow.startswith("->"):
            raise RuntimeError(f"Tried to parse a function schema but found '{self._text}'")
        self.arguments, keyword_only = [], False
        for part in _parts(self._text[1:end]):
            if part == "*":
                keyword_only = True
            else:
                self.arguments.append(Argument(part, keyword_only))
        given = arrow[2:].strip()
        self.is_tuple = given.startswith("(")
        self.returns = [Argument(part) for part in _parts(given[1:-1] if self.is_tuple else given)]

    def __str__(self):
        return f"{self.name}{'.' if self.overload_name else ''}{self.overload_name}{self._text}"

    __repr__ = __str__

    @property
    def is_mutable(self):
        return bool(self.mutated)

    @functools.cached_property
    def mutated(self):
        return [a.name for a in self.arguments if a.is_write]

    @functools.cached_property
    def _signature(self):
        P = inspect.Parameter
        return inspect.Signature([P(a.name, P.KEYWORD_ONLY if a.kwarg_only else P.POSITIONAL_OR_KEYWORD, default=a.default_value if a.has_default else P.empty)
                                  for a in self.arguments])

    def bind(self, args, kwargs):
        """(all arguments in order, those by keyword only), as a kernel sees them. RuntimeError where they do not fit."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self.name}() {error}. Declaration: {self}") from None
        for position, a in enumerate(self.arguments):
            if a.name in bound.arguments:
                value = bound.arguments[a.name]
                try:
                    bound.arguments[a.name] = a.real_type.convert(value)
                except Misfit:
                    raise RuntimeError(f"{self.name}() Expected a value of type '{a.real_type}' for argument '{a.name}' but instead found type "
                                       f"'{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\nDeclaration: {self}") from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def result(self, value):
        """What a kernel gave, as the caller sees it. RuntimeError where the declaration promises something else."""
        if not self.returns:
            if value is not None:
                raise RuntimeError(f"Expected the kernel of {self.name} to return None but it returned something else instead.")
            return None
        if self.is_tuple:
            if not isinstance(value, (tuple, list)) or len(value) != len(self.returns):
                raise RuntimeError(f"Expected the kernel of {self.name} to return a tuple of {len(self.returns)} values, as {self} says.")
            return tuple(self._one(r, v) for r, v in zip(self.returns, value))
        return self._one(self.returns[0], value)

    def _one(self, declared, value):
        try:
            return declared.real_type.convert(value)
        except Misfit:
            raise RuntimeError(f"{self.name}: unable to cast a result of type {type(value).__name__} to {declared.real_type}, as {self} says") from None
