"""Where the oracle has no single answer, and so cannot be held against a subject."""

import re
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.overrides import TorchFunctionMode

from ..cases.case import Case, Decoder, TensorSpec, cotangents, gradient_inputs, leaves, seen
from ..cases.dtypes import EPSILON, to_array
from ..cases.layout import is_plain, plain
from ..cases.objects import ModuleCase, OptimizerCase
from ..cases.observed import Observation
from ..cases.protocol import Item
from ..cases.values import flatten
from ..check import journals
from ..check.properties import ANYTHING, Fault
from ..check.reference import in_single, promoted
from ..check.tolerance import close, same
from ..workers import repeat, transforms
from ..workers.kinds import kind_of
from ..workers.seeding import seed
from ..workers.trial import Trial
from . import conjugates, infinities, memory, overlaps


def wavers(item: Item, got: Observation | None = None) -> list[Fault]:
    """What the oracle's other answers to the call differ in: from run to run, with the heap filled differently before each; with
    what lies beside its inputs; with the strides of its inputs; by more than rounding with the number of threads, by which it chooses among algorithms; with
    `out=` and without, or with oneDNN and without. A result outside its own memory is none, nor a gradient that is not that of its values.
    `got`, the subject's answer, is doubted too: numbers in an `out=` must be the oracle's with it or without."""
    kind = kind_of(item)
    found = _breaks(item) + _names_no_fault_twice(kind, item) + _writes_unasked(item) + overlaps.writes_over_itself(kind, item) + overlaps.reads_what_it_wrote(kind, item, got)
    found += (kind.repeated(torch, item, item.expected) + _differs_with_threads(kind, item) + _differs_without_out(item)
             + _differs_without_onednn(kind, item) + _differs_without_fused_attention(kind, item) + _contradicts_its_differences(item) + _reads_elsewhere(kind, item) + _heeds_company(kind, item)
             + _heeds_size(kind, item) + _reads_by_other_strides(kind, item) + _lies_outside(item) + _reads_unset(kind, item) + _warns_of_no_out(item)
             + _contradicts_its_transforms(item) + memory.writes_behind(item) + memory.reads_between(kind, item) + memory.truths_unset(kind, item)
              + memory.reads_old_sizes(kind, item))
    for fill in (0.0, 7.5, float("nan")):
        found += kind.faults(item, _answer_over(item, [torch.full((size,), fill) for size in (1, 2, 4, 8, 16, 64, 256)]))
    third = _third_answers(kind, item, got)
    found = [fault for fault in found if fault.property != "out" or fault.phase != "values" or fault.position not in third]
    found += infinities.left_out(kind, item, got) + infinities.heedless(item, kind, got) + infinities.order_of_factors(kind, item) + conjugates.copied(kind, item, got)
    return found + _where_written(item, found) + _writes_beside_out(item, got) + _forgets_its_out(kind, item, got)


def _contradicts_its_transforms(item: Item) -> list[Fault]:
    """Where PyTorch's own tangents do not fit its gradients, as where these are scaled by how often an index is given, or two numbers are written to one place;
    and where its own batch has other numbers than its examples, as of a gradient by one of two formulas, which losing digits sets apart."""
    if not isinstance(item.case, Case) or item.expected.raised:
        return []
    ways = [item] if is_plain(item.case) else [item, replace(item, case=plain(item.case))]  # it takes no tangents of tensors that repeat elements
    found = [fault for way in ways for fault in transforms.faults(torch, way, item.target.resolve(torch), item.expected, {"vmap", "forward"})]
    return [fault for fault in found if transforms.in_answers(fault)]


def _breaks(item: Item) -> list[Fault]:
    """Whether what PyTorch raises is no refusal but an assertion of its own that failed."""
    return [Fault(ANYTHING, f"raised {item.expected.raised}")] if item.expected.raised and _INTERNAL.search(str(item.expected.raised)) else []


def _names_no_fault_twice(kind, item: Item) -> list[Fault]:
    """Whether what PyTorch raises names another number each time: it found it in memory that nobody wrote, and there may be any."""
    if not isinstance(item.case, Case) or not item.expected.raised:
        return []
    litter = [torch.full((size,), at) for size in (4, 16, 64) for at in (1, 1 << 40)]
    told = [str(got.raised) for got in (kind.observe(torch, item), _answer_over(item, litter)) if got.raised]
    return [Fault(ANYTHING, f"raised {text}, too") for text in told if _named(text) != _named(str(item.expected.raised))]


def _named(text: str) -> str:
    """What an error says, but for where objects lie in memory."""
    return re.sub("0x[0-9a-f]+", "", text)


def _writes_unasked(item: Item) -> list[Fault]:
    """Which inputs a call writes to that its own schema says it leaves alone, as `cov` of one observation does."""
    case = item.case
    refused = item.expected.raised is not None and _LEAF.search(str(item.expected.raised))  # of a write that nobody asked for
    if not isinstance(case, Case) or case.relation != "call" or not refused and (item.expected.raised or not any(item.expected.versions.values())):
        return []
    schemas = [schema for path in item.target.paths for schema in torch._C._jit_get_schemas_for_operator("aten::" + path.split(".")[-1])]
    if not schemas or any(a.alias_info is not None and a.alias_info.is_write for schema in schemas for a in schema.arguments if not a.is_out):
        return []
    if refused:
        return [Fault(ANYTHING, "raised by a write to an input that no schema says is written")]
    return [Fault("version", "of an input that no schema says is written"), Fault("value", "written: to such an input")]


def _writes_beside_out(item: Item, got: Observation | None) -> list[Fault]:
    """Which memory around an `out=` PyTorch writes to, though it is none of the results', where the subject does not: it takes strides for others."""
    case = item.case
    if getattr(case, "relation", "") != "out" or item.expected.raised or got is None or got.raised:
        return []
    found = []
    for spec in (leaf for leaf in leaves(case.kwargs.get("out")) if isinstance(leaf, TensorSpec)):
        e, g = (answer.written.get(-1 - spec.id) for answer in (item.expected, got))
        held = to_array(case.storages[spec.storage][1], case.storages[spec.storage][0])
        if e and g and e.shape == g.shape == held.shape and e.dtype == g.dtype:
            around = np.ones(held.shape, bool)
            seen(around, spec)[...] = False
            kept = [same(answer.array(), held)[around].all() for answer in (e, g)]
            inside = same(seen(g.array(), spec), seen(e.array(), spec)).all()
            found += [Fault("out", "written beside out=", "written", -1 - spec.id)] if not kept[0] and kept[1] and inside else []
    return found


def _forgets_its_out(kind, item: Item, got: Observation | None) -> list[Fault]:
    """Whether PyTorch leaves its result out of `out=`, whose shape then stays, where the subject's is what PyTorch gives without: nothing else is asked."""
    if getattr(item.case, "relation", "") != "out" or item.expected.raised or item.random or got is None or got.raised:
        return []
    bare = kind.observe(torch, replace(item, case=_bare(item.case)))
    shapes = [[value.shape if value else None for value in answer.values] for answer in (item.expected, bare, got)]
    if bare.raised or shapes[0] == shapes[1] or shapes[1] != shapes[2]:
        return []
    wrong = kind.faults(replace(item, case=_bare(item.case), expected=bare), replace(got, written={}, versions={}))
    return [] if any(fault.property in ("value", "shape") for fault in wrong) else [Fault(ANYTHING, "nothing is written into out=")]


def restless(item: Item) -> list[Fault]:
    """As wavers, of an answer that changes once in many runs, as some of LAPACK's do, with other things in its heap before each. Last digits that
    change are no other value, but an answer that is not repeated bit for bit."""
    other_bits: list[Fault] = []
    for at in range(_RUNS):
        pattern = torch.arange(at, at + 40, dtype=torch.int32) % (2 + at % 3)  # zeros and others, as in pivots nobody set
        got = _answer_over(item, [pattern[-size:].clone() for size in range(1, 2 + at % 40) for _ in range(4)])
        if not other_bits and isinstance(item.case, Case) and repeat.repeats(item) and repeat.bits(got) != repeat.bits(item.expected):
            other_bits = [Fault("determinism", "other bits than before")]
        if found := kind_of(item).faults(item, got):
            return other_bits + found
    return other_bits


_RUNS = 300


def again(item: Item) -> None:
    """The call many times over, of which an oracle that writes to memory that is not its own dies sooner or later."""
    for _ in range(_RUNS):
        kind_of(item).observe(torch, item)


def _answer_over(item: Item, litter: list) -> Observation:
    """The answer of another run where fresh memory holds what `litter` held, which it takes over and empties."""
    litter.clear()
    seed(torch)
    return kind_of(item).observe(torch, item)


def _reads_unset(kind, item: Item) -> list[Fault]:
    """What changes in the answer when PyTorch fills memory that it allocates, with NaN and the largest integers."""
    seed(torch)
    with memory.filled():
        found = kind.faults(item, kind.observe(torch, item))
    found += _of_unset(item) if any(fault.property == "value" for fault in found) else []
    return [fault for fault in found if "warning" not in (fault.property, fault.reason.split(":")[0])]  # of the algorithm itself


def _of_unset(item: Item) -> list[Fault]:
    """The gradients of a module whose results nobody set: they hold nothing of what became of those. As where a circular padding is wider than
    what a negative one leaves."""
    entries = item.expected.entries if isinstance(item.case, ModuleCase) and not item.expected.raised else []
    return [Fault(e.property, "of numbers that unset memory decides", e.label, i) for i, e in enumerate(entries) if e.property == "gradient"]


def _differs_with_threads(kind, item: Item) -> list[Fault]:
    seed(torch)
    torch.set_num_threads(4)
    try:
        got = kind.observe(torch, item)
    finally:
        torch.set_num_threads(1)
    found = kind.faults(item, got)
    reruns = kind.reruns(torch, item) + kind.reruns(torch, item, more=True) if any(fault.phase for fault in found) else []
    return [fault for fault in found if not fault.phase or kind.excuses_for(fault, item, got, reruns) is None]


def _differs_without_out(item: Item) -> list[Fault]:
    case = item.case
    if getattr(case, "relation", "") != "out" or item.random:
        return []
    if item.expected.raised:
        return _refuses_its_result(item)
    found = []
    for i, (e, g) in enumerate(zip(item.expected.values, Trial(torch, item.target.resolve(torch), _bare(case)).run().values)):
        if e and g and e.shape != g.shape:
            found.append(Fault("out", "shape: another without out="))
        elif e and g and e.dtype == g.dtype and not close(e.array(), g.array(), EPSILON.get(e.dtype, 0.0)).all():
            found.append(Fault("out", "without out= other numbers", "values", i))
    return found


def _bare(case: Case) -> Case:
    """The call without its `out=`."""
    return replace(case, kwargs={name: value for name, value in case.kwargs.items() if name != "out"}, relation="call")


def _third_answers(kind, item: Item, got: Observation | None) -> set[int]:
    """Which results `got` of a call with `out=` are not what the oracle gives without, where that does not waver: that it misplaces its own is
    no leave to write anything."""
    if getattr(item.case, "relation", "") != "out" or item.random or item.expected.raised or got is None or got.raised:
        return set()
    bare = replace(item, case=_bare(item.case))
    bare = replace(bare, expected=kind.observe(torch, bare))
    if bare.expected.raised or wavers(bare):
        return set()
    alike = {i for i, (e, b) in enumerate(zip(item.expected.values, bare.expected.values)) if e and b and (e.dtype, e.shape) == (b.dtype, b.shape)}
    reruns = kind.reruns(torch, bare) + kind.reruns(torch, bare, more=True)
    return {fault.position for fault in kind.faults(bare, got)
            if fault.phase == "values" and fault.position in alike and kind.excuses_for(fault, bare, got, reruns) is None}


def _where_written(item: Item, found: list[Fault]) -> list[Fault]:
    """The numbers that `found` doubts, where they were written: in `out=` and the memory around it, in the tensor that an in-place call changes."""
    case, relation = item.case, getattr(item.case, "relation", "")
    doubted = {fault.position for fault in found if fault.property == relation and fault.phase == "values"}
    if relation not in ("out", "inplace") or item.expected.raised:
        return []
    outs = case.kwargs.get("out") if relation == "out" else ()
    outs = outs if isinstance(outs, tuple) else (outs,)
    return [Fault(relation, "written from doubted numbers", "written", key) for i in doubted if (e := item.expected.values[i])
            for key, value in item.expected.written.items()
            if relation == "inplace" or value and (value.shape, value.data) == (e.shape, e.data) or i < len(outs) and outs[i] and key == -1 - outs[i].id]


def _refuses_its_result(item: Item) -> list[Fault]:
    """Whether an `out=` is refused that has the dtype and shape of the result, memory of its own, and no part in gradients: for the strides that
    the kernel of one dtype cannot write by."""
    case, outs = item.case, item.case.kwargs.get("out")
    outs = outs if isinstance(outs, tuple) else (outs,)
    if "RuntimeError" not in item.expected.raised.names or not all(isinstance(spec, TensorSpec) for spec in outs):
        return []
    bare = replace(_bare(case), differentiate=0)
    given = [leaf for leaf in leaves((bare.args, bare.kwargs)) if isinstance(leaf, TensorSpec)]
    if any(spec.requires_grad for spec in (*given, *outs)) or {spec.storage for spec in outs} & {spec.storage for spec in given}:
        return []
    got = Trial(torch, item.target.resolve(torch), bare).run()
    same = not got.raised and [(value.dtype, value.shape) if value else None for value in got.values] == [(spec.dtype, tuple(spec.size)) for spec in outs]
    return [Fault("out", "error: without out= the same result")] if same else []


def _differs_without_onednn(kind, item: Item) -> list[Fault]:
    """What differs by more than rounding where PyTorch may not use oneDNN, which it uses or not by dtype, size and CPU: what infinite weights
    make of padding, and of bfloat16, which it takes on some CPUs only, the strides that single precision gets."""
    if not isinstance(item.case, Case):
        return []
    with _no_onednn():
        got = kind.observe(torch, item)
    found = kind.faults(item, got)
    if any(fault.phase for fault in found):
        reruns = kind.reruns(torch, item)
        found = [fault for fault in found if not fault.phase or kind.excuses_for(fault, item, got, reruns) is None]
    if not item.expected.raised and (item.case.relation == "autocast" or any(dtype == "bfloat16" for dtype, _ in item.case.storages)):
        single = replace(item, case=replace(in_single(item.case), relation="call", differentiate=0))
        taken = kind.observe(torch, single)
        with _no_onednn():
            left = kind.observe(torch, single)
        if not taken.raised and not left.raised and taken.strides != left.strides:
            found.append(Fault("autocast" if item.case.relation == "autocast" else "stride", "stride: other strides without oneDNN"))
    return found


def _differs_without_fused_attention(kind, item: Item) -> list[Fault]:
    """What differs by more than rounding where PyTorch takes attention by its formula: where all scores of a row are NaN, so is the row by that, and zero by the
    kernel that it has for some layouts."""
    if not isinstance(item.case, Case) or not any("attention" in path for path in item.target.paths):
        return []
    with sdpa_kernel(SDPBackend.MATH):
        got = kind.observe(torch, item)
    reruns = kind.reruns(torch, item)
    return [fault for fault in kind.faults(item, got) if fault.phase and kind.excuses_for(fault, item, got, reruns) is None]


@contextmanager
def _no_onednn():
    torch._C._set_mkldnn_enabled(False)  # not backends.mkldnn.flags, which changes precisions when it restores them
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(True)


def _contradicts_its_differences(item: Item) -> list[Fault]:
    """Which gradients are not those of PyTorch's own values: in double precision, and with ones for what is not finite, steps of two sizes to both sides of
    every number agree on a slope, so that the call is smooth there, and its gradient is another."""
    case = item.case
    if not isinstance(case, Case) or case.relation not in ("call", "autocast", "inplace") or not isinstance(item.expected.gradients, list):
        return []
    wide = replace(promoted(plain(case)), relation="call" if case.relation == "autocast" else case.relation, differentiate=1)
    wide = replace(wide, storages=[_finite(*storage) for storage in wide.storages])
    function = item.target.resolve(torch)
    exact = Trial(torch, function, wide).run()
    if exact.raised or exact.determined is not None or not isinstance(exact.gradients, list):
        return []
    return [Fault("gradient" if case.relation == "call" else case.relation, "differences of the values have another slope", "gradients", i)
            for i, (spec, gradient) in enumerate(zip(gradient_inputs(wide), exact.gradients))
            if gradient is not None and _slopes_differ(function, wide, spec.storage, gradient.array().reshape(-1))]


def _finite(dtype: str, data: bytes) -> tuple:
    """A storage with ones in the place of NaN and infinities."""
    if dtype not in ("float64", "complex128"):
        return dtype, data
    numbers = np.frombuffer(data, dtype)
    return dtype, np.where(np.isfinite(numbers), numbers, 1).tobytes()


def _slopes_differ(function, case: Case, storage: int, gradient: np.ndarray) -> bool:
    """Whether at one of the first numbers of a storage, a whole row-major input, differences and gradient disagree by far more than
    differences of other steps do. The imaginary part of a complex gradient is the slope along that of the number."""
    dtype, data = case.storages[storage]
    numbers = np.frombuffer(data, dtype)

    def weighed(moved: np.ndarray) -> list[np.ndarray]:
        """What each element adds to the number whose gradient is asked for."""
        storages = [*case.storages[:storage], (dtype, moved.tobytes()), *case.storages[storage + 1:]]
        values = Trial(torch, function, replace(case, storages=storages, differentiate=0)).run().values or []
        return [value.array().real.reshape(-1) * cotangents(value.array().size) for value in values if value is not None and value.number_dtype in EPSILON]

    before = weighed(numbers)
    if before and not any(np.isfinite(x).any() for x in before) and np.isfinite(numbers).all() and np.isfinite(gradient).all():
        return True  # what moves numbers beyond all is no finite slope: `ldexp` by large whole numbers, whose powers wrap around in its gradient

    def slope(at: int, step: float, along: complex) -> float:
        moved = numbers.copy()
        moved[at] += step * along
        after = weighed(moved)
        if [x.size for x in after] != [x.size for x in before]:
            return float("nan")
        # Element by element: a step of one among thousands is lost in a difference of sums.
        return sum(float((x - y).sum()) for x, y in zip(after, before)) / step

    for at, along in product(range(min(gradient.size, _MOST_STEPS)), (1, 1j) if dtype.startswith("complex") else (1,)):
        slopes = [slope(at, step, along) for step in (1e-3, -1e-3, 5e-4, -5e-4)]
        given, largest = float(gradient[at].real if along == 1 else gradient[at].imag), max(map(abs, slopes))
        spread = max(slopes) - min(slopes)
        if spread <= 0.01 * largest and abs(given - slopes[-1]) > max(10 * spread, 0.001 * max(largest, abs(given))) and max(largest, abs(given)) > 1e-5:
            return True
    return False


def _reads_elsewhere(kind, item: Item) -> list[Fault]:
    """Which numbers change with what is none of the call's business: the memory behind an input's storage, or, where
    each element stands for itself, the elements beside it."""
    if not isinstance(item.case, Case):
        return []
    others = []
    for junk in _JUNK:
        others.append(kind.observe(torch, replace(item, case=memory.with_behind(item.case, junk))))
    if item.expected.raised:
        return [Fault(ANYTHING, "raised by what lies behind an input")] if not all(got.raised for got in others) else []
    if item.pointwise:
        others += [kind.observe(torch, item, partial(one_by_one, company)) for company in (0, _COMPANY)]
        if any(isinstance(x, float) and x != x for x in item.case.args):
            others.append(kind.observe(torch, item, _with_tensors_of_nan))
    numbers = [replace(item.expected, values=got.values, gradients=got.gradients, second=got.second)
               for got in others if not got.raised]
    # By assert_close's tolerance: double-precision runs of a call that reads elsewhere do so too.
    return [fault for got in numbers for fault in kind.faults(item, got)
            if not fault.phase or kind.excuses_for(fault, item, got, []) is None]


def _heeds_company(kind, item: Item) -> list[Fault]:
    """Which gradients of a module that answers element by element depend on what stands beside each: on whether a loop over vectors took it."""
    if not isinstance(item.case, ModuleCase) or item.expected.raised:
        return []
    found = []
    for company in (0, _COMPANY):
        got = kind.observe(torch, item, partial(one_by_one, company))
        faults = [] if got.raised else kind.faults(item, got)
        found += faults if all(fault.property == "gradient" for fault in faults) else []
    return found


def _heeds_size(kind, item: Item) -> list[Fault]:
    """What an optimizer comes to where all its sums of halves are taken by the loop over vectors. The one over single elements, which takes
    small parameters and the ends of large ones, rounds the products too."""
    if not isinstance(item.case, OptimizerCase):
        return []
    with _SumsByVectors():
        got = kind.observe(torch, item)
    return kind.faults(item, got) + journals.differing(item.expected, got)


class _SumsByVectors(TorchFunctionMode):
    """Takes `x + alpha y` of halves in the company of as many further elements as a vector has."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name, alpha = getattr(func, "__name__", ""), (kwargs or {}).get("alpha")
        x, y = (*args, None, None)[:2]
        halves = isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and x.shape == y.shape and x.dtype == y.dtype in (torch.float16, torch.bfloat16)
        if name.rstrip("_") not in ("add", "sub") or alpha is None or not halves:
            return func(*args, **(kwargs or {}))
        x_more, y_more = (torch.cat([t.reshape(-1), t.new_zeros(_COMPANY + 1)]) for t in (x, y))
        result = getattr(x_more, name.rstrip("_"))(y_more, alpha=alpha)[:x.numel()].reshape(x.shape)
        return x.copy_(result) if name.endswith("_") else result


def _reads_by_other_strides(kind, item: Item) -> list[Fault]:
    """Which numbers are others where the same inputs are row-major: of an operation that takes no heed of strides."""
    case = item.case
    if not isinstance(case, Case) or case.relation not in ("call", "autocast", "out") or item.expected.raised or is_plain(case) or any(map(_BY_MEMORY.search, item.target.paths)):
        return []
    got = kind.observe(torch, replace(item, case=plain(case)))
    if got.raised:
        return []
    written = item.expected.written | {key: value for key, value in got.written.items() if key in item.expected.written}  # there is no memory around an out=
    got = replace(item.expected, values=got.values, written=written, gradients=got.gradients, second=got.second)
    reruns = kind.reruns(torch, item)
    return [fault for fault in kind.faults(item, got) if not fault.phase or kind.excuses_for(fault, item, got, reruns) is None]


_LEAF = re.compile(r"leaf Variable that requires grad is being used in an in-place operation")
_INTERNAL = re.compile(r"INTERNAL ASSERT FAILED|DispatchKey \w+ doesn't correspond to a device")
_MOST_STEPS = 64  # elements of an input that are moved one by one
_BY_MEMORY = re.compile(r"strided|storage|resize|set_|empty|view")  # whose answer is one of the memory
_JUNK = b"A" * 1024, b"\xc1" * 1024, b"\1\0\0\0" * 256  # behind a storage: large numbers, above and below most others, and ones of int32
_MOST_ALONE = 4096  # elements that are asked for one by one
_COMPANY = 63  # elements beside one, enough for the loops over vectors


def one_by_one(company: int, function):
    """`function`, an element-wise one, asked of each element alone, or in `company`: of a 2 and copies of itself. Of many elements it is asked so of
    the first ones: each is a call of its own, and a node of the graph."""
    def alone(*args, out=None, **kwargs):
        tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
        shape = torch.broadcast_shapes(*(x.shape for x in tensors))
        if not shape or 0 in shape:
            return function(*args, **kwargs)

        def of(begin, end, company):
            def own(x):
                if not isinstance(x, torch.Tensor) or not x.dim():
                    return x
                part = x.expand(shape).reshape(-1)[begin:end]
                return torch.cat([part.new_full((min(company, 1),), 2), part.expand(company) if company else part])
            return function(*map(own, args), **{key: own(x) for key, x in kwargs.items()})

        found = [of(i, i + 1, company)[-1] for i in range(min(shape.numel(), _MOST_ALONE))]
        rest = [of(len(found), None, 0)] if len(found) < shape.numel() else []
        result = torch.cat([torch.stack(found), *rest]).reshape(shape)
        return result if out is None else result.to(out.dtype)

    return alone


def _with_tensors_of_nan(function):
    """`function`, an element-wise one, asked with a tensor in the place of every NaN, so that each has numbers beside it: what those left behind a
    polynomial of NaN shows, whose loop sets nothing."""
    def beside(*args, **kwargs):
        given = [x for x in args if isinstance(x, torch.Tensor)]
        dtype = next((x.dtype for x in given if x.is_floating_point()), None)
        shape = torch.broadcast_shapes(*(x.shape for x in given))
        return one_by_one(_COMPANY, function)(*(torch.full(shape, x, dtype=dtype) if isinstance(x, float) and x != x else x for x in args), **kwargs)

    return beside


def _warns_of_no_out(item: Item) -> list[Fault]:
    """Whether PyTorch warns of an `out=` that is resized where none was given, or one of no elements, of which it does not warn: of memory of its own, as in
    `ldexp` of halves and in `ihfftn` along one axis."""
    case = item.case
    if not isinstance(case, Case) or case.relation not in ("call", "out") or "UserWarning" not in item.expected.warned:
        return []
    outs = [leaf for leaf in leaves(case.kwargs.get("out")) if case.relation == "out" and isinstance(leaf, TensorSpec)]
    if any(0 not in spec.size for spec in outs):
        return []
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        _called(item, **{"out": torch.empty(0, dtype=getattr(torch, outs[0].dtype))} if len(outs) == 1 else {})
    fault = Fault("out" if outs else "warning", "warning: of an out= that nobody gave" if outs else "warnings: of an out= that nobody gave")
    return [fault for warning in shown if "An output with one or more elements was resized" in str(warning.message)]


def _called(item: Item, **given):
    """What the call returns."""
    decoder = Decoder(torch, item.case.storages)
    with torch.no_grad():  # so that an in-place call may write to a leaf
        return item.target.resolve(torch)(*decoder.decode(item.case.args), **(decoder.decode(item.case.kwargs) | given))


def _lies_outside(item: Item) -> list[Fault]:
    """Whether a result reaches beyond its own storage, as after `resize_as_` of a tensor that repeats elements, or is an error now."""
    if not isinstance(item.case, Case) or item.case.relation in ("out", "autocast") or item.expected.raised:
        return []
    try:
        result = _called(item)
    except RuntimeError as error:  # as of LAPACK, which converged before
        return [Fault(ANYTHING, f"raised {error}")]
    tensors = [t for t in flatten(result, torch)[1] if isinstance(t, torch.Tensor) and t.numel()]
    reach = [1 + t.storage_offset() + sum((n - 1) * s for n, s in zip(t.shape, t.stride())) for t in tensors]
    return [Fault(ANYTHING, "lies outside its memory") for t, last in zip(tensors, reach)
            if last * t.element_size() > t.untyped_storage().nbytes()]
