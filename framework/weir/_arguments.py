"""Arguments of functions that are written in Python, taken as the core takes those of its ops."""
import functools
import inspect

from _weir import _argument

#: The annotation of what may be a number of any kind.
Number = "Number"


def checked(function=None, *, name=None):
    """`function`, whose annotated parameters take what an op's parameters of these types take: numbers of NumPy and 0-d tensors stand
    for Python's, truth is no int, and an int no truth. TypeError or ValueError before anything is computed; `name` says who raises it.

    Annotations read as in an op's signature: int, "int | None", "list[int]", "int | list[int]", Tensor, Number, ...
    """
    if function is None:
        return functools.partial(checked, name=name)
    name = name or function.__name__.lstrip("_")
    places = {key: (place, _text(p.annotation)) for place, (key, p) in enumerate(inspect.signature(function).parameters.items(), 1)
              if p.annotation is not inspect.Parameter.empty}
    order = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        given = [_argument(name, key, *places[key], value) if key in places else value for key, value in zip(order, args)]
        if kwargs:
            kwargs = {key: _argument(name, key, *places[key], value) if key in places else value for key, value in kwargs.items()}
        return function(*given, *args[len(order):], **kwargs)

    return wrapped


def _text(annotation):
    return annotation if isinstance(annotation, str) else annotation.__name__
