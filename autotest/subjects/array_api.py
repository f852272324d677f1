"""What the Python array API standard calls the things that PyTorch calls otherwise: shared by the adapters of its libraries.

Source: https://data-apis.org/array-api/latest
"""

#: The standard's name of a function, where PyTorch has another one.
NAMES = {"arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctanh": "atanh",
         "arctan2": "atan2", "absolute": "abs", "true_divide": "divide", "div": "divide", "mul": "multiply", "sub": "subtract",
         "neg": "negative", "ge": "greater_equal", "gt": "greater", "le": "less_equal", "lt": "less", "eq": "equal",
         "ne": "not_equal", "amax": "max", "amin": "min", "mm": "matmul", "bmm": "matmul", "cat": "concat", "concatenate": "concat",
         "unsqueeze": "expand_dims", "permute": "permute_dims", "cumsum": "cumulative_sum", "movedim": "moveaxis",
         "t": "matrix_transpose", "fix": "trunc", "clamp": "clip"}
#: PyTorch's names of parameters, in PyTorch's order, by what they are called in the standard.
REDUCTION = {"dim": "axis", "keepdim": "keepdims"}
PARAMETERS = {name: REDUCTION for name in "sum prod mean amax amin all any argmax argmin std var".split()} | {
    name: {"dim": "axis"} for name in "cumsum cat concat concatenate unsqueeze squeeze stack".split()} | {
    "permute": {"dims": "axes"}, "flip": {"dims": "axis"}, "roll": {"shifts": "shift", "dims": "axis"}}


def in_their_words(name: str, args: tuple, keywords: dict) -> tuple[tuple, dict]:
    """The arguments of PyTorch's `name` as the standard's function takes them."""
    words = PARAMETERS.get(name, {})
    keywords = {words.get(word, word): value for word, value in keywords.items()}
    if words:  # the standard takes them by keyword only
        keywords |= dict(zip(words.values(), args[1:]))
        args = args[:1]
    return args, keywords
