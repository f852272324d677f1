"""Generated plans for tests: their cases, what PyTorch shows of them, and whether a fault in PyTorch shows."""

import functools
import zlib

import torch
from weir_autotest.cases import plans
from weir_autotest.check import properties
from weir_autotest.generate import plans as generating
from weir_autotest.generate.choices import Choices
from weir_autotest.workers.trial import Trial


def cases(path, count=40, dtype="float32"):
    overload = next(o for o in generating.overloads() if o.path == path)
    for i in range(count):
        case = generating.make(overload, dtype, Choices(zlib.crc32(f"{path}/{i}".encode())), 0.6)
        case.differentiate = 1
        yield case


def seen(path, case, framework=torch):
    return Trial(framework, functools.partial(plans.FUNCTIONS[path], framework), case).run()


def shows(path, monkeypatch, where, name, fault, count=80):
    """Whether `fault` in the place of PyTorch's `where.name` is noticed by some of `count` cases."""
    made = list(cases(path, count))
    expected = [seen(path, case) for case in made]
    monkeypatch.setattr(where, name, fault)
    got = [seen(path, case) for case in made]
    return any(properties.faults(c, e, g, False, False) for c, e, g in zip(made, expected, got))
