"""The properties `vmap` and `forward`: a batch of examples gives what each gives alone, and forward mode what the backward pass gives.

Both ask the subject against itself, and know no operation: examples are the call's own tensors with other numbers of their kind, and a derivative in
a direction u is right where <v, J u> = <J' v, u> for a cotangent v. A subject may refuse either by a named error, but not answer otherwise.
"""

import zlib
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..cases import dtypes, ship
from ..cases.case import Case, Decoder, TensorSpec, map_tree, row_major, seen, tensors_of
from ..cases.protocol import Item
from ..cases.values import Raised, Value, flatten, to_value
from ..check import tolerance
from ..check.properties import Fault
from ..check.reference import PERTURBATIONS, nudged, promoted, working_epsilon
from .graphs import same_numbers
from .trial import cotangent

EVERY = 8  # of the calls that could be asked so, how many are
#: Beside the properties, charged to nobody: how many of the absent ones are so because shapes or Python values depend on numbers.
DYNAMIC = "dynamic shape in a batch"
#: Of the sizes of all terms of the two products: what rounding in double precision may leave of a derivative that is known to half of its digits.
BOUND = 2.0**-26
_CANCELLED = 2.0**-40  # what rounding leaves of a derivative whose terms cancel
_BATCHED = 0.7  # how often a tensor differs between examples
_LARGEST = 1 << 20  # bytes of a call's tensors: a batch and its reruns take many times that


def asked(item: Item) -> list[str]:
    """Which of the two the case puts to the subject: what draws nothing, whose numbers mean something, and writes into no input but as a call in place."""
    case, expected = item.case, item.expected
    if item.index % EVERY or case.relation not in ("call", "inplace") or expected.raised or item.draws or (item.random and case.process is None):
        return []
    specs = [spec for spec in tensors_of(case) if not spec.numpy]
    own = {specs[0].id} if specs and case.relation == "inplace" else set()
    if not specs or expected.spoiled or set(expected.written) - own or sum(len(data) for _, data in case.storages) > _LARGEST:
        return []
    grown = own and expected.values and expected.values[0] is not None and prod(expected.values[0].shape) != prod(specs[0].size)  # which no tangent does
    return ["vmap", *(["forward"] if isinstance(expected.gradients, list) and expected.gradients and not grown else [])]


def faults(W, item: Item, function, got, checks: set) -> list[Fault]:
    """What is wrong with the call in a batch and in forward mode, of those that are among `checks`; alone it gave `got`."""
    found = []
    for name in asked(item) if not got.raised and not got.unmappable else ():
        if name not in checks:
            continue
        if not hasattr(getattr(W, "func", None), "vmap" if name == "vmap" else "jvp"):
            found.append(Fault(name, "no such transform", absent=True))
        else:
            found += (_Batch if name == "vmap" else _Forward)(W, item, function).faults()
    return found


def in_answers(fault: Fault) -> bool:
    """Whether it is a fault of answers that differ, and no error."""
    return not fault.absent and (" of example " in fault.reason or "<v, J u>" in fault.reason)


@dataclass
class _Answer:
    """What a call gave: nesting, tensors, Python values; or its error."""

    structure: str = ""
    values: tuple = ()
    plain: tuple = ()
    raised: Raised | None = None


class _Transformed:
    """The call of a case as a function of its tensors."""

    def __init__(self, W, item: Item, function):
        self._W, self._item, self._function = W, item, function
        given = [spec for spec in tensors_of(item.case) if not spec.numpy]
        self._specs = [replace(spec, requires_grad=False) for spec in given]
        self._by = [at for at, spec in enumerate(given) if spec.requires_grad]
        self._rng = np.random.default_rng(zlib.crc32(repr((item.case.args, item.case.kwargs, item.case.storages)).encode()))

    def _tensors(self, case: Case) -> list:
        decoder = Decoder(self._W, case.storages)
        return [decoder.decode(replace(spec, requires_grad=False)) for spec in tensors_of(case) if not spec.numpy]

    def _call(self, case: Case, tensors):
        """The call on these tensors in place of the case's own; where it writes into the first, on a copy."""
        given = {spec.id: tensor for spec, tensor in zip(self._specs, tensors)}
        rest = Decoder(self._W, case.storages)

        def leaf(value):
            return given[value.id] if isinstance(value, TensorSpec) and not value.numpy else rest.decode(value)
        args, kwargs = map_tree(leaf, case.args), map_tree(leaf, case.kwargs)
        if case.relation == "inplace":
            args = (args[0].clone(), *args[1:])
        result = self._function(*args, **kwargs)
        return ship.build(case.process, self._W)(result) if case.process is not None else result

    def _smooth(self, case: Case, tensors):
        """The tensors differentiated by, and the floating results as a function of them."""
        def at(*chosen):
            moved = list(tensors)
            for place, tensor in zip(self._by, chosen):
                moved[place] = tensor
            found = [leaf for leaf in flatten(self._call(case, moved), self._W)[1] if isinstance(leaf, self._W.Tensor)]
            return tuple(leaf for leaf in found if leaf.is_floating_point() or leaf.is_complex())
        return tuple(tensors[place] for place in self._by), at

    def _gradients(self, case: Case, tensors) -> tuple:
        chosen, at = self._smooth(case, tensors)
        results, pull = self._W.func.vjp(at, *chosen)
        return tuple(pull(tuple(cotangent(result, self._W) for result in results)))


class _Batch(_Transformed):
    """The call inside `func.vmap`, and its gradients there, against those of each example."""

    def faults(self) -> list[Fault]:
        case = self._item.case
        first = self._specs[0].storage if case.relation == "inplace" else self._specs[self._rng.integers(len(self._specs))].storage
        self._differing = {spec.storage for spec in self._specs if self._rng.random() < _BATCHED} | {first}
        # Of nothing no strides are kept.
        self._dims = [-int(self._rng.integers(2) and 0 not in spec.size) if spec.storage in self._differing else None for spec in self._specs]
        self._lay_out()
        found = self._judged("values", lambda case, tensors: self._call(case, tensors))
        if not found and self._by and "forward" in asked(self._item):
            found = self._judged("gradients", self._gradients)
        return found

    def _lay_out(self) -> None:
        """The batch and its examples as data. A tensor's examples lie one behind the other, each as the call has it, or side by side. An example
        alone has what lies around it there too, since a call may look at that, and its strides."""
        case, count = self._item.case, len(_WAYS)
        numbers = [[way(self._rng, dtype, data) if at in self._differing else data for way in _WAYS] for at, (dtype, data) in enumerate(case.storages)]
        self._batch = [(dtype, b"".join(numbers[at]) if at in self._differing else data) for at, (dtype, data) in enumerate(case.storages)]
        examples = [[(dtype, numbers[at][k]) for at, (dtype, _) in enumerate(case.storages)] for k in range(count)]
        self._stacked, lone = [], {}
        for spec, dim in zip(self._specs, self._dims):
            kind = dtypes.numpy_dtype(spec.dtype)
            apart = len(case.storages[spec.storage][1]) // kind.itemsize
            if dim == -1:
                parts = np.stack([seen(np.frombuffer(data, kind), spec) for data in numbers[spec.storage]], -1).tobytes()
                wide = (*spec.size, count)
                lone[spec.id] = replace(spec, stride=row_major(wide)[:-1], offset=0, storage=len(self._batch))
                self._stacked.append(replace(lone[spec.id], size=wide, stride=row_major(wide)))
                self._batch.append((spec.dtype, parts))
                for k in range(count):
                    examples[k].append((spec.dtype, parts[k * kind.itemsize:]))
            else:
                self._stacked.append(spec if dim is None else replace(spec, size=(count, *spec.size), stride=(apart, *spec.stride)))

        def leaf(value):
            if not isinstance(value, TensorSpec) or value.id not in lone:
                return value
            return replace(lone[value.id], requires_grad=value.requires_grad)
        args, kwargs = map_tree(leaf, case.args), map_tree(leaf, case.kwargs)
        self._examples = [replace(case, args=args, kwargs=kwargs, storages=storages) for storages in examples]

    def _judged(self, what: str, function) -> list[Fault]:
        alone = [self._alone(example, function) for example in self._examples]
        together, refusal = self._together(function)
        refusing = [answer.raised for answer in alone if answer.raised]
        if any(raised.names[0] == "Unmappable" for raised in refusing):
            return []
        if refusing:
            return [] if refusal else [Fault("vmap", f"{what}: an example alone raises {refusing[0]}, the batch does not")]
        dynamic = len({_kind(answer) for answer in alone}) > 1 or any(answer.plain for answer in alone)
        if refusal:
            dynamic = dynamic or "dynamic shape" in refusal.message
            if not _named(refusal, "vmap", "detach views"):  # as PyTorch says of tensors constructed of a batch
                return [Fault("vmap", f"{what}: the batch raises {refusal}, no example alone does")]
            return [Fault("vmap", f"{what}: refused: {refusal}", absent=True), *([Fault(DYNAMIC, str(refusal), absent=True)] if dynamic else [])]
        for at, (one, many) in enumerate(zip(alone, together)):
            if wrong := self._other(one, many, self._examples[at], function):
                return [Fault("vmap", f"{what} of example {at} of a batch, in_dims={tuple(self._dims)}: {wrong}")]
        return []

    def _alone(self, case: Case, function) -> _Answer:
        try:
            return _answer(function(case, self._tensors(case)), self._W)
        except Exception as error:
            return _Answer(raised=Raised.of(error))

    def _together(self, function) -> tuple[list, Raised | None]:
        """The answers of the batch, one for each example; or its error."""
        W, shown = self._W, {}

        def of_one(*tensors):
            shown["structure"], leaves = flatten(function(self._item.case, tensors), W)
            shown["plain"] = [leaf for leaf in leaves if not isinstance(leaf, W.Tensor)]
            return tuple(leaf for leaf in leaves if isinstance(leaf, W.Tensor))
        try:
            decoder = Decoder(W, self._batch)
            results = W.func.vmap(of_one, in_dims=tuple(self._dims))(*[decoder.decode(spec) for spec in self._stacked])
            plain = tuple(to_value(leaf, W) for leaf in shown["plain"])
            return [_Answer(shown["structure"], tuple(to_value(result[at], W) for result in results), plain) for at in range(len(self._examples))], None
        except Exception as error:
            return [], Raised.of(error)

    def _other(self, one: _Answer, many: _Answer, case: Case, function) -> str:
        """How the answer of a batch differs from the example's own, "" for not at all."""
        if (one.structure, one.plain) != (many.structure, many.plain):
            return f"{many.structure} and {many.plain}, alone {one.structure} and {one.plain}"
        runs: list = []
        for at, (t, w) in enumerate(zip(one.values, many.values)):
            if w == t or same_numbers(w, t, signed_zeros=False):
                continue
            if (w.dtype, w.shape) != (t.dtype, t.shape):
                return f"{at}: {w}, alone {t}"
            if w.dtype in dtypes.EPSILON and not runs:
                runs = [self._alone(nudged(case, self._rng), function) for _ in range(PERTURBATIONS)]
            accepted = _near(w, t, [run.values[at] for run in runs if not run.raised and _kind(run) == _kind(one)])
            if not accepted.all():
                return f"{at}: {tolerance.describe(w.array(), t.array(), ~accepted)}"
        return ""


class _Forward(_Transformed):
    """Forward mode in double precision against the backward pass."""

    def faults(self) -> list[Fault]:
        W, case = self._W, promoted(self._item.case)
        try:
            chosen, at = self._smooth(case, self._tensors(case))
            results, pull = W.func.vjp(at, *chosen)
            cotangents, directions = self._drawn(results), self._drawn(chosen)
            pulled = pull(cotangents)
        except Exception as error:  # with the dtypes of double precision it is another call, or one without a gradient
            return [Fault("forward", f"not in double precision: {Raised.of(error)}", absent=True)]
        try:
            primals, pushed = W.func.jvp(at, chosen, directions)
        except Exception as error:
            raised = Raised.of(error)
            return [Fault("forward", f"refused: {raised}", absent=_named(raised, "forward", "jvp", "unsupported operation"))]  # as PyTorch says of duals that repeat elements
        for place, (one, other) in enumerate(zip(results, primals)):
            a, b = to_value(one, W), to_value(other, W)
            if a != b and not same_numbers(a, b, signed_zeros=True):
                return [Fault("forward", f"value {place}: other bits than without tangents")]
        forward, backward = self._terms(cotangents, pushed), self._terms(pulled, directions)
        if not (np.isfinite(forward).all() and np.isfinite(backward).all()):
            return []  # no product tells where an infinity came from
        coarsest = max(working_epsilon(case), *(dtypes.EPSILON[dtypes.name_of(result.dtype)] for result in results))  # of a call that rounds to its own dtype
        bound = max(BOUND, 4 * tolerance.ULPS * coarsest) * (np.abs(forward).sum() + np.abs(backward).sum()) + _CANCELLED
        gap = abs(forward.sum() - backward.sum())
        if gap <= bound or gap <= bound + tolerance.AMPLIFICATION * self._moved(case, cotangents, directions, backward.sum()):
            return []
        return [Fault("forward", f"<v, J u> = {forward.sum():.12g}, <J' v, u> = {backward.sum():.12g}")]

    def _moved(self, case: Case, cotangents, directions, product: float) -> float:
        """By how much an epsilon in the inputs moves <J' v, u>: of a matrix that is nearly singular no digit may be known."""
        moves = [0.0]
        for _ in range(PERTURBATIONS):
            near = nudged(case, self._rng)
            try:
                chosen, at = self._smooth(near, self._tensors(near))
                terms = self._terms(self._W.func.vjp(at, *chosen)[1](cotangents), directions)
            except Exception:  # such a matrix may be refused beside the case
                continue
            moves.append(abs(terms.sum() - product))
        return max((move for move in moves if np.isfinite(move)), default=0.0)

    def _drawn(self, tensors) -> tuple:
        """Normal numbers in the shape and dtype of each tensor."""
        found = []
        for tensor in tensors:
            numbers = self._rng.standard_normal((2, *tensor.shape))
            found.append(self._W.from_numpy(np.asarray(numbers[0] + 1j * numbers[1] if tensor.is_complex() else numbers[0])).to(tensor.dtype))
        return tuple(found)

    def _terms(self, ours, theirs) -> np.ndarray:
        """The terms of the real product of two lists of tensors."""
        with np.errstate(all="ignore"):
            pairs = [(to_value(a, self._W).array().reshape(-1), to_value(b, self._W).array().reshape(-1)) for a, b in zip(ours, theirs)]
            return np.concatenate([np.zeros(0), *((a.conj() * b).real.astype(np.float64) for a, b in pairs)])


def _permuted(rng: np.random.Generator, dtype: str, data: bytes) -> bytes:
    numbers = np.frombuffer(data, dtypes.numpy_dtype(dtype))
    return numbers[rng.permutation(len(numbers))].tobytes()


def _halved(rng: np.random.Generator, dtype: str, data: bytes) -> bytes:
    numbers = np.frombuffer(data, dtypes.numpy_dtype(dtype))
    if dtype == "bfloat16":
        return ((dtypes.to_array(data, dtype) / 2).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    if numbers.dtype.kind not in "fc":
        return numbers[::-1].tobytes()
    return (numbers / numbers.dtype.type(2)).tobytes()


#: The numbers of each example: the call's own, the same in another order, and halves of them, of whole numbers the reverse order.
_WAYS = (lambda rng, dtype, data: data, _permuted, _halved)


def _answer(result, W) -> _Answer:
    structure, leaves = flatten(result, W)
    values = [(to_value(leaf, W), isinstance(leaf, W.Tensor)) for leaf in leaves]
    return _Answer(structure, tuple(v for v, of_tensor in values if of_tensor), tuple(v for v, of_tensor in values if not of_tensor))


def _kind(answer: _Answer) -> tuple:
    """All of an answer but its numbers."""
    return answer.structure, tuple((value.dtype, value.shape) for value in answer.values), answer.plain


def _named(raised: Raised, *words: str) -> bool:
    """Whether a subject says by this error that it does not transform the call."""
    return "NotImplementedError" in raised.names or any(word in raised.message.lower() for word in words)


def _near(w: Value, t: Value, runs: list) -> np.ndarray:
    """Where a number differs by no more than another order of the same terms makes it: as much as the example's own answers do where its inputs move by
    an epsilon (`tolerance.unsteady`), by norms a few roundings."""
    ours, own = w.array(), t.array()
    if w.number_dtype not in dtypes.EPSILON:
        return np.asarray(ours == own)
    epsilon, moved = dtypes.EPSILON[w.number_dtype], [run.array() for run in runs]
    with np.errstate(all="ignore"):
        bound = 4 * tolerance.ULPS * epsilon * tolerance.norm(own)
        accepted = tolerance.close(ours, own, epsilon) | tolerance.unsteady(ours, own, moved) | (np.abs(ours - own) <= bound)
    return accepted | (~np.isfinite(ours) & tolerance.lost(own, moved))
