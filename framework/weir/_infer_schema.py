"""The declaration of a function with annotations. Source: torch._library.infer_schema."""
import collections.abc
import inspect
import typing

import weir
from weir import Tensor

from .types import Number


def _derived():
    """annotation -> text, of every kind of parameter."""
    found = {}
    for base, text, lists, optional_elements, optional_lists in (
            (Tensor, "Tensor", True, True, False), (int, "SymInt", True, False, True), (float, "float", True, False, True),
            (bool, "bool", True, False, True), (str, "str", False, False, False), (Number, "Scalar", True, False, False),
            (weir.dtype, "ScalarType", False, False, False), (weir.device, "Device", False, False, False)):
        found[base], found[typing.Optional[base]] = text, f"{text}?"
        for kind in (list, typing.List, typing.Sequence, collections.abc.Sequence) if lists else ():  # noqa: UP006
            found[kind[base]] = f"{text}[]"
            if optional_elements:
                found[kind[typing.Optional[base]]] = f"{text}?[]"
            if optional_lists:
                found[typing.Optional[kind[base]]] = f"{text}[]?"
    return found


_PARAMETERS = _derived()
_RESULTS = {Tensor: "Tensor", list[Tensor]: "Tensor[]", typing.List[Tensor]: "Tensor[]", int: "SymInt", float: "float",  # noqa: UP006
            bool: "bool", Number: "Scalar"}


class _Inference:
    def __init__(self, function):
        self.function, self.signature = function, inspect.signature(function)

    def fail(self, what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {self.signature})")

    def evaluated(self, annotation):
        """The annotation, where it or a part of it is given as text."""
        if isinstance(annotation, str):
            try:
                return eval(annotation, self.function.__globals__)
            except Exception as error:
                self.fail(f"Unsupported type annotation {annotation}. It is not a type. ({type(error).__name__}: {error})")
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        if any(isinstance(a, (str, typing.ForwardRef)) for a in args):
            return origin[tuple(self.evaluated(a.__forward_arg__ if isinstance(a, typing.ForwardRef) else a) for a in args)]
        return annotation

    def parameter_type(self, name, parameter):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            self.fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.annotation is parameter.empty:
            self.fail(f"Parameter {name} must have a type annotation.")
        annotation = self.evaluated(parameter.annotation)
        try:
            return _PARAMETERS[annotation]
        except (KeyError, TypeError):
            hint = "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. " if typing.get_origin(annotation) is tuple else ""
            self.fail(f"Parameter {name} has unsupported type {parameter.annotation}. {hint}The valid types are: {_PARAMETERS.keys()}.")

    def default(self, name, value):
        if value is None or isinstance(value, (int, float)):
            return f"={value}"
        if isinstance(value, (str, weir.device)):
            return f'="{value}"'
        if isinstance(value, weir.dtype):
            return f"={str(value).rpartition('.')[2]}"
        self.fail(f"Parameter {name} has an unsupported default value type {type(value)}.")

    def result(self):
        annotation = self.evaluated(self.signature.return_annotation)
        if annotation is None or annotation is type(None):
            return "()"
        if annotation is self.signature.empty:
            self.fail("No return type annotation was provided. Please add one.")
        several = typing.get_origin(annotation) is tuple
        try:
            texts = [_RESULTS[a] for a in (typing.get_args(annotation) if several else (annotation,))]
        except (KeyError, TypeError):
            self.fail(f"Return has unsupported type {annotation}. The valid types are: {_RESULTS}.")
        return f"({', '.join(texts)})" if several else texts[0]


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    """The declaration of an annotated function. ValueError for what has no annotation or an unknown one, and for names in `mutates_args`
    that are no tensors of the function's."""
    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError("mutates_args must either be a sequence of the names of the arguments that are mutated or the string 'unknown'. ")
    of = _Inference(prototype_function)
    parts = []
    for index, (name, p) in enumerate(of.signature.parameters.items()):
        text = of.parameter_type(name, p)
        if p.kind is p.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        written = text.startswith("Tensor") if mutates_args == "unknown" else name in mutates_args
        if written and not text.startswith("Tensor"):
            of.fail(f"Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
        if written:
            text = f"Tensor(a{index}!){text[len('Tensor'):]}"
        parts.append(f"{text} {name}" + ("" if p.default is p.empty else of.default(name, p.default)))
    unseen = set() if mutates_args == "unknown" else set(mutates_args) - set(of.signature.parameters)
    if unseen:
        of.fail(f"{unseen} in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all args "
                "that the custom op mutates, or just the string 'unknown' if you don't know.")
    return f"{op_name or ''}({', '.join(parts)}) -> {of.result()}"
