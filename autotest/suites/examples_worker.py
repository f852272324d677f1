"""Collects the examples of PyTorch's documentation, or runs examples where a framework answers for `torch`.

    python -m weir_autotest.suites.examples_worker                      examples, as JSON, to the standard output
    python -m weir_autotest.suites.examples_worker FRAMEWORK < examples answers, a line of JSON per example

Every example runs in a fork of its own, in an empty folder: none sees what another one switched, and a crash ends itself only.
"""

import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import pkgutil
import random
import select
import signal
import sys
import tempfile
import time
import warnings

#: Parts of PyTorch that need other hardware, processes or its compiler.
ELSEWHERE = ("_", "ao", "backends", "cuda", "distributed", "export", "jit", "fx", "mps", "mtia", "onnx", "package", "testing", "xpu")
SECONDS = 20.0  # for all statements of one example
TEXT = 4000  # characters kept of an answer


def statements(text: str) -> list[str]:
    """The statements behind `>>>`. Documentation whose continuation lines are not indented as doctest wants them is read line by line."""
    try:
        return [example.source for example in doctest.DocTestParser().get_examples(text)]
    except ValueError:
        found, goes_on = [], False
        for line in map(str.strip, text.splitlines()):
            if line.startswith(">>>"):
                found.append(line[4:])
            elif line.startswith("...") and goes_on:
                found[-1] += "\n" + line[3:].removeprefix(" ")
            goes_on = line.startswith((">>>", "..."))
        return [statement + "\n" for statement in found]


def collected() -> dict[str, list[str]]:
    """name -> statements, of what has examples under `torch`. What goes by several names has the first one."""
    import torch

    def elsewhere(name):
        return any(part.startswith(ELSEWHERE) for part in name.split(".")[1:])

    for module in pkgutil.walk_packages(torch.__path__, "torch.", onerror=lambda name: None):
        if not elsewhere(module.name):
            with contextlib.suppress(Exception):
                importlib.import_module(module.name)
    found, seen = {}, set()

    def add(name, value):
        text = getattr(value, "__doc__", None)
        if isinstance(text, str) and ">>>" in text and text not in seen:
            seen.add(text)
            found[name] = statements(text)

    modules = {name: m for name, m in sorted(sys.modules.items()) if name.startswith("torch.") and not elsewhere(name)}
    for name, module in {"torch": torch, "torch.Tensor": torch.Tensor, **modules}.items():
        add(name, module)
        for key, value in list(vars(module).items()) if inspect.ismodule(module) else [(k, getattr(module, k, None)) for k in dir(module)]:
            if key.startswith("_") or inspect.ismodule(value):
                continue
            add(f"{name}.{key}", value)
            if inspect.isclass(value) and (value.__module__ or "").startswith("torch"):
                for part, method in list(vars(value).items()):
                    add(f"{name}.{key}.{part}", getattr(method, "__func__", getattr(method, "fget", method)))
    return found


def answers(parts: list[str]) -> list[list[str]]:
    """["ok", what was printed or stands there] or ["error", class, words] of each statement."""
    import numpy as np
    import torch
    torch.manual_seed(0), np.random.seed(0), random.seed(0)
    names = {"torch": torch, "np": np, "numpy": np, "nn": torch.nn, "F": torch.nn.functional, "Tensor": torch.Tensor}
    given = []
    for part in parts:
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                try:
                    value = eval(compile(part.strip(), "example", "eval"), names)
                    if value is not None:
                        print(repr(value))
                except SyntaxError:
                    exec(compile(part, "example", "exec"), names)
            given.append(["ok", printed.getvalue()[:TEXT]])
        except BaseException as error:  # an example may leave the process
            given.append(["error", type(error).__name__, str(error)[:TEXT]])
    return given


def answered_in_fork(parts: list[str], folder: str) -> list[list[str]]:
    """answers(parts) of a child, or one ["ended", why]."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.chdir(folder)
        text = json.dumps(answers(parts)).encode()
        while text:
            text = text[os.write(writing, text):]
        os._exit(0)
    os.close(writing)
    text, end = b"", time.monotonic() + SECONDS
    while (left := end - time.monotonic()) > 0:
        if select.select([reading], [], [], left)[0]:
            more = os.read(reading, 1 << 16)
            if not more:
                break
            text += more
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    status = os.waitpid(child, 0)[1]
    if status == 0 and text:
        return json.loads(text)
    return [["ended", "took too long" if left <= 0 else f"ended its process with {os.waitstatus_to_exitcode(status)}"]]


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w")  # some examples write past sys.stdout
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if not arguments:
        return print(json.dumps(collected()), file=out)
    framework = importlib.import_module(arguments[0])
    if arguments[0] != "torch":
        framework.as_torch()
    for name, parts in json.load(sys.stdin).items():
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps([name, answered_in_fork(parts, folder)]), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
