"""Random calls of weir's whole public surface: none may end the process, hang, or return with a half-set error.

    ./scripts/fuzz --calls 100000            numbers 0 to 99999, on all cores
    ./scripts/fuzz --replay 4711             makes call 4711 here and shows it
    ./scripts/fuzz --calls 2000 --only conv  calls of names that hold "conv"

Call n is the same on every machine and in every run: it is drawn from n alone. Calls run in forked processes, a batch in
each, with a limit on memory; a process that dies or takes too long names its call, and the next one goes on behind it.
Exits with 1 when a call failed, 0 otherwise.
"""

import argparse
import contextlib
import faulthandler
import gc
import io
import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings

BATCH = 500            # calls a process makes before it is replaced
MOST_SECONDS = 20      # a call that takes longer hangs
MEMORY = 6 << 30       # bytes of address space a process may take
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
            t = t.clone().fill_(self.choice(FLOATS)) if self.chance(0.3) else t / 3
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
            return [self.tensor() for _ in range(self.choice((0, 1, 2, 3)))]
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
    from weir import nn, optim
    found = {}
    for prefix, module in (("", weir), ("nn.functional.", nn.functional), ("linalg.", weir.linalg), ("special.", weir.special),
                           ("fft.", getattr(weir, "fft", None)), ("nn.init.", nn.init), ("nn.utils.", nn.utils)):
        for name in dir(module) if module else ():
            value = getattr(module, name, None)
            if name.startswith("_") or name in LEFT_OUT or isinstance(value, (type, type(os))) or not callable(value):
                continue
            found[prefix + name] = ("call", value)
    for name in dir(weir.Tensor):
        if name not in LEFT_OUT and (not name.startswith("_") or name in ("__add__", "__matmul__", "__pow__", "__len__", "__contains__", "__iadd__")):
            found["Tensor." + name] = ("method", name)
    for name in dir(nn):
        if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module):
            found["nn." + name] = ("module", getattr(nn, name))
    for name in dir(optim):
        if isinstance(getattr(optim, name), type) and issubclass(getattr(optim, name), optim.Optimizer):
            found["optim." + name] = ("optimizer", getattr(optim, name))
    for name, kind in (("x[...]", "get"), ("x[...] = y", "set"), ("out=", "out"), ("backward", "backward"), ("Tensor(...)", "legacy")):
        for i in range(20):  # as often as twenty functions: much happens there
            found[f"{name} {i}"] = (kind, None)
    return sorted((k, v) for k, v in found.items() if only in k)


def signatures():
    import weir
    table = {}
    for op in weir.schema():
        text = op["signature"]
        inside = text[text.index("(") + 1:text.index(") ->")]
        table.setdefault(op["name"].split(".")[0], []).append([p for p in inside.split(", ") if p and p != "*"])
    return table


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
        return getattr(self, "_make_" + self.kind)()

    def _make_module(self):
        module = self.target(*(draw_small(a, self.draw) for a in self.args))
        result = module(*(self.draw.tensor() for _ in range(self.draw.choice((1, 1, 2, 3)))))
        return result

    def _make_optimizer(self):
        weir, draw = self.draw.weir, self.draw
        parameters = [weir.nn.Parameter(weir.ones(draw.choice((0, 1, 3, 40)))) for _ in range(draw.choice((1, 2, 3)))]
        numbers = [a for a in self.args if isinstance(a, (int, float))]
        optimizer = self.target(parameters, *numbers[:1])
        for step in range(3):
            for p in parameters:
                p.grad = draw.choice((weir.ones_like(p.detach()), None))
            optimizer.step(*(() if "LBFGS" not in self.label else (lambda: weir.tensor(1.0),)))
            if draw.chance(0.3) and optimizer.state:
                state = draw.choice(list(optimizer.state.values()))
                if state:
                    state[draw.choice(list(state))] = draw.anything()
        return optimizer.state_dict()

    def _key(self):
        key = tuple(self.draw.anything() for _ in range(self.draw.choice((1, 1, 2, 3))))
        return key if len(key) > 1 else key[0]

    def _make_get(self):
        return self.draw.tensor()[self._key()]

    def _make_set(self):
        t = self.draw.tensor().detach()
        t[self._key()] = self.draw.anything()
        return t

    def _make_out(self):
        weir, draw = self.draw.weir, self.draw
        x = draw.tensor().detach()
        name = draw.choice(("add", "mul", "cat", "matmul", "cumsum", "sort", "gather", "index_select", "sum", "max", "where", "tril", "topk"))
        out = draw.choice((x, x.detach()[:1] if x.dim() else x, weir.empty(0), draw.tensor().detach(), weir.empty(5)[1:3]))
        return getattr(weir, name)(x, *self.args[:2], out=out)

    def _make_backward(self):
        weir, draw = self.draw.weir, self.draw
        x = draw.tensor().detach().to(weir.float32).requires_grad_()
        y = x
        for _ in range(draw.choice((1, 2, 3))):
            y = getattr(y, draw.choice(("exp", "sum", "t", "contiguous", "clone", "abs", "cumsum", "sort", "unbind", "split", "detach", "relu",
                                        "mean", "flatten", "view_as", "var", "max", "softmax", "prod", "squeeze")))(*([0] if draw.chance(0.5) else []))
            if isinstance(y, tuple):
                y = draw.choice(y)
        if draw.chance(0.3):
            getattr(y, draw.choice(("add_", "mul_", "resize_", "zero_", "t_", "detach_", "squeeze_")))(*([2] if draw.chance(0.5) else []))
        return weir.autograd.grad(y.sum(), x, create_graph=draw.chance(0.3), allow_unused=True)

    def _make_legacy(self):
        return self.draw.weir.Tensor(*self.args)


def draw_small(value, draw):
    """Arguments of modules: small numbers, so that what they build fits."""
    return draw.choice((1, 2, 3, 4)) if isinstance(value, draw.weir.Tensor) else value


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


def make(number, targets, table, verbose=False):
    """Makes call `number`. Returns None, or what is wrong with how it ended."""
    import weir
    try:
        call = Call(number, targets, table)
        if verbose:
            print(call, flush=True)
        result = call.make()
        touch(result, weir)
        if verbose:
            print("gave", shown(result))
    except SystemError as error:
        return f"SystemError: {error}"
    except BaseException as error:
        if verbose:
            print(f"raised {type(error).__name__}: {str(error)[:500]}")
    return None


def work(first, count, progress, only, limit_memory):
    """A child: calls first .. first + count - 1, the number in `progress` before each is made."""
    if limit_memory:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    targets, table = surface(only), signatures()
    gc.disable()
    wrong = []
    for n in range(first, first + count):
        progress[:16] = struct.pack("<qd", n, time.monotonic())
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            problem = make(n, targets, table)
        if problem:
            wrong.append((n, problem))
    gc.collect()
    progress[:16] = struct.pack("<qd", first + count, time.monotonic())
    return wrong


class Lane:
    """One process at a time, over numbers first, first + stride, ... in batches."""

    def __init__(self, batches, only, limit_memory):
        self.batches, self.only, self.limit_memory = batches, only, limit_memory
        self.failures, self.pid, self.made = [], None, 0

    def start(self, first, count):
        self.first, self.count = first, count
        self.progress = mmap.mmap(-1, 16)
        self.progress[:16] = struct.pack("<qd", first, time.monotonic())
        self.traces = tempfile.TemporaryFile("w+")
        self.read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.read)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            faulthandler.disable()
            faulthandler.register(signal.SIGUSR1, self.traces, all_threads=False)
            with os.fdopen(write, "w") as pipe:
                json.dump(work(first, count, self.progress, self.only, self.limit_memory), pipe)
            os._exit(0)
        os.close(write)

    def poll(self):
        """Goes on where something ended. False when all is done."""
        if self.pid is None:
            if not self.batches:
                return False
            self.start(*self.batches.pop())
            return True
        number, since = struct.unpack("<qd", self.progress[:16])
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            if time.monotonic() - since > MOST_SECONDS:
                where = self.stack()
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.end(number, f"took more than {MOST_SECONDS} s in {where}")
            return True
        with os.fdopen(self.read) as pipe:
            text = pipe.read()
        if os.WIFSIGNALED(status):
            self.end(number, f"ended the process: {signal.Signals(os.WTERMSIG(status)).name}", closed=True)
        elif os.WEXITSTATUS(status):
            self.end(number, f"ended the process with status {os.WEXITSTATUS(status)}", closed=True)
        else:
            self.failures += json.loads(text)
            self.made += self.count
            self.pid = None
        return True

    def stack(self):
        """The Python lines that a hanging child is in."""
        os.kill(self.pid, signal.SIGUSR1)
        time.sleep(0.3)
        self.traces.seek(0)
        lines = [line.strip() for line in self.traces.read().splitlines() if "File" in line]
        return " < ".join(lines[:3]) or "no Python line"

    def end(self, number, problem, closed=False):
        if not closed:
            os.close(self.read)
        self.failures.append((number, problem))
        self.pid = None
        left = self.first + self.count - number - 1
        self.made += number + 1 - self.first
        if left > 0:
            self.batches.append((number + 1, left))


def campaign(first, calls, only, jobs, limit_memory):
    import weir  # noqa: F401  (once, before the forks)
    surface(only)
    batches = [(n, min(BATCH, first + calls - n)) for n in range(first, first + calls, BATCH)][::-1]
    lanes = [Lane(batches, only, limit_memory) for _ in range(jobs)]
    told = time.monotonic()
    while any([lane.poll() for lane in lanes]):
        time.sleep(0.01)
        if time.monotonic() - told > 5:
            told = time.monotonic()
            print(f"{sum(lane.made for lane in lanes):,} of {calls:,} calls, {sum(len(lane.failures) for lane in lanes)} failed",
                  file=sys.stderr, flush=True)
    return sorted(failure for lane in lanes for failure in lane.failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000, help="how many calls (default: 20000)")
    parser.add_argument("--first", type=int, default=0, help="the first call's number (default: 0)")
    parser.add_argument("--only", default="", help="targets whose name holds this text")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: all cores)")
    parser.add_argument("--replay", type=int, help="makes one call in this process and shows it")
    parser.add_argument("--no-memory-limit", action="store_true", help="for sanitizer builds, which reserve address space")
    parser.add_argument("--json", help="a file for the failures")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    if arguments.replay is not None:
        faulthandler.enable()
        problem = make(arguments.replay, surface(arguments.only), signatures(), verbose=True)
        print(problem or "ended well")
        return 1 if problem else 0
    failures = campaign(arguments.first, arguments.calls, arguments.only, arguments.jobs, not arguments.no_memory_limit)
    for number, problem in failures:
        print(f"call {number}: {problem}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"calls": arguments.calls, "failures": failures}, file)
    print(f"{arguments.calls:,} calls, {len(failures)} failed" + (f"; see one with: ./scripts/fuzz --replay {failures[0][0]}"
          + (f" --only {arguments.only!r}" if arguments.only else "") if failures else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
