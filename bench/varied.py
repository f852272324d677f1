"""The cases of `opdb` of 64k elements again, their first tensor stored otherwise (`opdb-layouts`) or all of them in another dtype
(`opdb-dtypes`): what is fast for dense float32 need not be there. Run as `python -m weir_bench.varied FILE`, as `opdb` is.
"""

import itertools
import sys

from . import listing, opdb
from .case import strides, tensor

SAMPLES = 24  # of an op that are looked through for tensors of few and of four dimensions
SIZE = "cache"
LAYOUTS = {"transposed": 2, "spaced": 1, "expanded": 2, "channels_last": 4}  # and the least number of dimensions
FOLDED = ((256, 256), (4, 16, 32, 32))
DTYPES = ("bfloat16", "float16", "float64", "complex64", "int64")


def cases() -> list[dict]:
    """The cases of both groups, from the list made before for this PyTorch, or made now (some minutes, once)."""
    return listing.kept("varied", __file__, opdb.__file__)


def variants(call: dict):
    """Yields the cases that `call` becomes, none of them tried yet."""
    first = call["inputs"][0]
    for layout, least in LAYOUTS.items():
        shape = first["shape"]
        if len(shape) >= least and (layout != "channels_last" or len(shape) == 4):
            changed = dict(first, layout=layout, strides=strides(shape, layout))
            yield _varied(call, "opdb-layouts", layout, [changed, *call["inputs"][1:]])
    if first["dtype"] == "float32":
        for dtype in DTYPES:
            if dtype != "int64" or call["mode"] == "fwd":
                yield _varied(call, "opdb-dtypes", dtype, [_cast(spec, dtype) for spec in call["inputs"]])


def _varied(call: dict, group: str, name: str, inputs: list[dict]) -> dict:
    return dict(call, group=group, variant=f"{call['variant']} {name}{' backward' * (call['mode'] == 'bwd')}".strip(), inputs=inputs)


def _cast(spec: dict, dtype: str) -> dict:
    """Floating inputs of another dtype; the range stays, in whole numbers for integers."""
    return dict(spec, dtype=dtype, requires_grad=spec["requires_grad"] and dtype != "int64") if spec["dtype"] == "float32" else spec


def _cases_of(torch, op):
    """The variants of two samples of an op, by the first of its names that takes them."""
    if torch.float32 not in op.supported_dtypes("cpu"):
        return
    for path in opdb.paths(torch, op):
        samples = [*_samples(torch, op, path)]
        for label, template in samples:
            for mode in ("fwd", "bwd") if op.supports_autograd else ("fwd",):
                yield from _taken(torch, template.case(path, f"{op.variant_test_name} {label}".strip(), mode))
        if samples:
            return


def _samples(torch, op, path: str):
    """Yields two calls that PyTorch takes: the first tensor of one is a matrix if possible, of the other a batch of pictures."""
    found = {}
    for sample in itertools.islice(op.sample_inputs("cpu", torch.float32), SAMPLES):
        template = opdb.template_of(torch, sample)
        scaled = template and template.scaled(opdb.SIZES[SIZE])
        for shaped in _shaped(scaled) if scaled else ():
            dims = len(shaped.inputs[0]["shape"])
            if dims <= 4 and dims not in found and opdb.checked(torch, shaped.case(path, "", "fwd"), 0):
                found[dims] = shaped
    for dims in [*[d for d in (2, 3, 1) if d in found][:1], *[4] * (4 in found)]:
        yield f"{dims}d", found[dims]


def _shaped(template):
    """A call as it is, and one of lines with matrices and pictures of them: the samples of most element-wise ops are lines."""
    yield template
    line = template.inputs[0]["shape"]
    if len(line) == 1:
        for shape in FOLDED:
            yield template.with_inputs([tensor(*shape, dtype=spec["dtype"], fill=spec["fill"]) if spec["shape"] == line else spec
                                        for spec in template.inputs])


def _taken(torch, call: dict):
    """The variants that PyTorch takes. What is compared of the call itself is compared of them, if PyTorch repeats that."""
    repeats = opdb.checked(torch, call)
    for varied in variants(call) if repeats else ():
        if check := opdb.checked(torch, varied, 0):
            yield dict(varied, check=check if repeats == "values" else repeats)


if __name__ == "__main__":
    listing.write(sys.argv[1], _cases_of)
