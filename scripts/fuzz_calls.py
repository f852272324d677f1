"""The calls that scripts/fuzzer.py makes: what is public, and how a number becomes a call of it."""

import functools
import os
import random

from fuzz_kinds import MAKERS, more_targets

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
#: Names whose job is to change or leave the process, to wait, or to write files; and those that need a program's cooperation.
LEFT_OUT = {"set_num_threads", "set_num_interop_threads", "set_default_dtype", "set_default_device", "set_default_tensor_type", "save",
            "load", "hub", "as_torch", "compat", "set_printoptions", "set_rng_state", "seed", "sys", "os", "from_file",
            "set_grad_enabled", "Tag", "SymInt", "import_ir_module", "fork", "wait", "set_warn_always", "use_deterministic_algorithms"}
INTS = (0, 1, 2, 3, -1, -2, 4, 5, 7, 16, 31, 64, 127, 128, 255, 1000, 2**15, 2**31 - 1, 2**31, 2**32, 2**40, 2**61, 2**62, 2**63 - 1,
        -2**31, -2**62, -2**63, 2**63, -2**64)
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, 1e-8, 1e30, -1e300, float("inf"), float("-inf"), float("nan"), -0.0)
TEXTS = ("mean", "sum", "none", "reflect", "replicate", "constant", "circular", "bilinear", "nearest", "linear", "same", "valid", "cpu",
         "meta", "cuda", "float32", "trunc", "floor", "", "x" * 100, "\ud800", "ij", "i,j->ij", "fro", "nuc", "reduced", "left", "tanh")


class Draw:
    """The values of one call."""

    def __init__(self, number):
        import numpy
        import weir
        self.weir, self.numpy, self.random = weir, numpy, random.Random(f"weir {number}")

    def choice(self, items):
        return self.random.choice(items)

    def chance(self, p):
        return self.random.random() < p

    def size(self):
        return [self.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 8, 17)) for _ in range(self.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5)))]

    def tensor(self):
        weir, r = self.weir, self.random
        dtype = getattr(weir, self.choice(DTYPES) if self.chance(0.4) else "float32", weir.float32)
        shape = self.size() if self.chance(0.97) else [40000]
        if self.chance(0.02):
            return weir.empty(shape, dtype=dtype, device="meta")
        t = weir.arange(max(1, int(self.numpy.prod(shape, dtype=object))))[:int(self.numpy.prod(shape, dtype=object))].reshape(shape)
        if self.chance(0.5):
            t = (t * 7) % 5 - 2
        t = t.to(dtype)
        if dtype.is_floating_point and t.numel() and self.chance(0.2):
            t = weir.tensor(self.choice(FLOATS), dtype=weir.float64).to(dtype).expand_as(t).clone() if self.chance(0.3) else t / 3
        kind = r.random()
        if kind < 0.1 and t.dim():
            t = t.transpose(0, -1)
        elif kind < 0.15 and t.dim():
            t = t.expand(2, *t.shape)
        elif kind < 0.2 and t.dim() and t.shape[0] > 1:
            t = t[1:]
        elif kind < 0.22 and t.numel() > 3:
            t = t.reshape(-1).as_strided((2, 2), (1, 1))
        elif kind < 0.24 and t.dim() == 4:
            t = t.contiguous(memory_format=weir.channels_last)
        if t.dtype.is_floating_point and self.chance(0.2):
            t = t.detach().requires_grad_()
            if self.chance(0.3):
                t = t * 1
        return t

    def integer(self):
        return self.choice(INTS[:12]) if self.chance(0.85) else self.choice(INTS)

    def ints(self):
        return [self.integer() for _ in range(self.choice((0, 1, 1, 2, 2, 2, 3, 4, 6)))]

    def of_type(self, text):
        """A value of a parameter's type in the schema's words."""
        if self.chance(0.08):
            return self.anything()
        if "None" in text and self.chance(0.3):
            return None
        if "list[Tensor]" in text:
            return [self.tensor()] * 40 if self.chance(0.15) else [self.tensor() for _ in range(self.choice((0, 1, 2, 3)))]
        if "Tensor" in text:
            return self.tensor() if "Number" not in text or self.chance(0.6) else self.number()
        if "list[int]" in text:
            return self.ints() if self.chance(0.7) else self.integer()
        for word, value in (("int", self.integer), ("float", lambda: self.choice(FLOATS)), ("bool", lambda: self.chance(0.5)),
                            ("Number", self.number), ("str", lambda: self.choice(TEXTS)),
                            ("memory_format", lambda: self.choice((self.weir.channels_last, self.weir.contiguous_format, self.weir.preserve_format))),
                            ("dtype", lambda: getattr(self.weir, self.choice(DTYPES))), ("device", lambda: self.choice(("cpu", "meta")))):
            if word in text:
                return value()
        return self.anything()

    def number(self):
        return self.choice((self.integer(), self.choice(FLOATS), self.chance(0.5), 1j))

    def anything(self):
        pick = self.random.random()
        if pick < 0.45:
            return self.tensor()
        return self.choice((self.integer, lambda: self.choice(FLOATS), lambda: None, lambda: self.chance(0.5), self.ints,
                            lambda: tuple(self.ints()), lambda: self.choice(TEXTS), lambda: [self.tensor() for _ in range(2)],
                            lambda: getattr(self.weir, self.choice(DTYPES)), lambda: slice(*self.random.sample((None, 0, 1, -1, 2**63, 5), 3)),
                            lambda: self.numpy.ones(self.size()), lambda: object(), lambda: {}, lambda: "cpu", lambda: 1j,
                            lambda: [[1, 2], [3]], lambda: b"bytes", lambda: range(3), lambda: ..., lambda: self.weir.Generator(),
                            lambda: self.numpy.float64(2.5)))()


def surface(only):
    """(label, how to call it) of everything public, in a fixed order."""
    import weir
    from weir import nn
    found = {}
    for prefix, module in (("", weir), ("nn.functional.", nn.functional), ("linalg.", weir.linalg), ("special.", weir.special),
                           ("fft.", weir.fft), ("nn.init.", nn.init), ("nn.utils.", nn.utils), ("nn.utils.rnn.", nn.utils.rnn),
                           ("sparse.", weir.sparse), ("masked.", weir.masked), ("signal.windows.", weir.signal.windows)):
        for name in dir(module):
            value = getattr(module, name, None)
            if name.startswith("_") or name in LEFT_OUT or isinstance(value, (type, type(os))) or not callable(value):
                continue
            found[prefix + name] = ("call", value)
    for name in dir(weir.Tensor):
        if name not in LEFT_OUT and (not name.startswith("_") or name in ("__add__", "__matmul__", "__pow__", "__len__", "__contains__", "__iadd__")):
            found["Tensor." + name] = ("method", name)
    found.update(more_targets(LEFT_OUT))
    return sorted((k, v) for k, v in found.items() if only in k)


def signatures():
    import weir
    table = {}
    for op in weir.schema():
        text = op["signature"]
        inside = text[text.index("(") + 1:text.index(") ->")]
        table.setdefault(op["name"].split(".")[0], []).append([p for p in inside.split(", ") if p and p != "*"])
    return table


@functools.cache
def plain_targets():
    """Functions and methods, which a call of something else may call."""
    return [t for t in surface("") if t[1][0] in ("call", "method")]


class Call:
    """Call `number`: drawn when made, so that showing it does not run it."""

    def __init__(self, number, targets, table):
        self.draw = Draw(number)
        self.label, (self.kind, self.target) = self.draw.choice(targets)
        name = self.label.split(".")[-1].rstrip("_")
        self.args, self.kwargs = [], {}
        if self.kind in ("call", "method") and name in table and self.draw.chance(0.85):
            for i, parameter in enumerate(self.draw.choice(table[name])):
                word, _, type_ = parameter.lstrip("*").partition(": ")
                if " = " in type_ and self.draw.chance(0.5):
                    continue
                value = self.draw.of_type(type_)
                if len(self.args) == i:
                    self.args.append(value)
                else:
                    self.kwargs[word] = value
        else:
            self.args = [self.draw.anything() for _ in range(self.draw.choice((0, 1, 1, 2, 2, 3, 4, 5)))]
            if self.kind in ("call", "method") and self.args and self.draw.chance(0.7):
                self.args[0] = self.draw.tensor()
        if self.draw.chance(0.1):
            word = self.draw.choice(("dim", "axis", "keepdim", "dtype", "out", "size", "device", "generator", "requires_grad", "\ud800"))
            self.kwargs[word] = self.draw.tensor() if word == "out" else self.draw.anything()
        self.within = lambda k: Call(f"{number} within {k}", plain_targets(), table)  # what a call of a transformation runs

    def __str__(self):
        return f"{self.label} {shown(self.args)} {shown(self.kwargs)}"

    def make(self):
        weir, draw = self.draw.weir, self.draw
        if self.kind == "call":
            return self.target(*self.args, **self.kwargs)
        if self.kind == "method":
            owner = self.args[0] if self.args and isinstance(self.args[0], weir.Tensor) else draw.tensor()
            if draw.chance(0.05):
                return getattr(weir.Tensor, self.target)(*self.args, **self.kwargs)
            bound = getattr(owner, self.target)
            return bound(*self.args[1:], **self.kwargs) if callable(bound) else bound
        return MAKERS[self.kind](self)


def shown(value, depth=0):
    """`value` for a reader: tensors by their geometry."""
    if hasattr(value, "is_contiguous") and hasattr(value, "stride"):
        return f"Tensor({value.dtype} {list(value.shape)} strides {list(value.stride())}{' grad' if value.requires_grad else ''})"
    if isinstance(value, (list, tuple)) and depth < 3:
        return "[" + ", ".join(shown(x, depth + 1) for x in value) + "]"
    if isinstance(value, dict) and depth < 3:
        return "{" + ", ".join(f"{k!r}: {shown(x, depth + 1)}" for k, x in value.items()) + "}"
    return repr(value)[:80]


def touch(value, weir, depth=0):
    """Reads what a call gave, as a program would."""
    if isinstance(value, weir.Tensor):
        if value.device.type != "cpu" or value.numel() > 1 << 22:
            return
        value.detach().clone().reshape(-1)[:1].tolist()
        if value.numel() < 100:
            repr(value)
        if value.requires_grad and value.dtype.is_floating_point and depth == 0:
            value.sum().backward()
    elif isinstance(value, (list, tuple)) and depth < 2:
        for item in value[:4]:
            touch(item, weir, depth + 1)
