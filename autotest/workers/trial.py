"""One generated case in one framework, and everything a user could observe about it.

Oracle and subject run this same code. What a framework cannot be asked (a version counter it does not have) is None
and is not compared.
"""

import math
import warnings
from contextlib import nullcontext

import numpy as np

from ..cases import dtypes, ship
from ..cases.case import Case, Decoder, Unmappable, cotangents, gradient_inputs, tensors_of
from ..cases.observed import CANNOT_BUILD, Observation
from ..cases.values import Raised, flatten, to_value

_ROOM = 1024  # elements
_MOST = 1 << 23  # elements of a result: a batch holds those of all its cases, and their gradients, several times


def _text(warning) -> str:
    """What a warning says, without the place in the framework's own source that it names."""
    return str(warning.message).split(" (Triggered internally at ")[0]


class Trial:
    """Runs `case` with `function` in framework `W`. Faults of the framework become part of the observation."""

    def __init__(self, W, function, case: Case):
        self._W = W
        self._function = function
        self._case = case
        self._decoder = Decoder(W, case.storages)
        self._around: dict = {}  # what an `out=` is a part of, by descriptor id
        self._seen = Observation()

    def run(self) -> Observation:
        try:
            args, kwargs = self._inputs()
        except Exception as error:
            self._seen.raised = Raised((CANNOT_BUILD,), f"cannot build the inputs: {type(error).__name__}: {error}")
            return self._seen
        before = self._versions()
        try:
            with warnings.catch_warnings(record=True) as shown, self._context():
                warnings.simplefilter("always")
                result = self._function(*args, **kwargs)
        except Exception as error:
            self._seen.raised = Raised.of(error)
            return self._seen
        self._seen.warned = tuple(sorted(kind for kind, _ in {(warning.category.__name__, _text(warning)) for warning in shown}))
        try:
            self._observe(result, before)
        except Unmappable as error:
            self._seen.unmappable = str(error)
        except Exception as error:
            self._seen.raised = Raised.of(error)
        return self._seen

    def _inputs(self) -> tuple:
        args, kwargs = self._decoded()
        return self._writable(args), kwargs

    def _decoded(self) -> tuple:
        args, kwargs = self._decoder.decode(self._case.args), self._decoder.decode(self._case.kwargs)
        if self._case.relation == "out" and "out" in kwargs:
            self._own_outs(kwargs)
        return args, kwargs

    def _writable(self, args: tuple) -> tuple:
        """An in-place call on a leaf that requires a gradient is an error in itself: it gets a copy."""
        if self._case.relation == "inplace" and args and getattr(args[0], "requires_grad", False):
            return (args[0].clone(), *args[1:])
        return args

    def _own_outs(self, kwargs: dict) -> None:
        """Gives `out=` tensors memory of the framework's own: memory that came from NumPy cannot grow. One that is a part of larger
        memory stays that."""
        outs = kwargs["out"] if isinstance(kwargs["out"], tuple) else (kwargs["out"],)
        specs = self._case.kwargs["out"] if isinstance(kwargs["out"], tuple) else (self._case.kwargs["out"],)
        owned = tuple(self._owned(out, spec) for out, spec in zip(outs, specs))
        self._decoder.tensors.update({spec.id: out for spec, out in zip(specs, owned)})
        kwargs["out"] = owned if isinstance(kwargs["out"], tuple) else owned[0]

    def _owned(self, out, spec):
        if not spec.offset:
            own = out.clone()
            return own if own.is_contiguous() else self._with_room(own)
        self._around[spec.id] = self._decoder.bases[spec.storage].clone()
        return self._W.as_strided(self._around[spec.id].detach(), spec.size, spec.stride, spec.offset)

    def _with_room(self, own):
        """The same in memory that goes on behind it: a kernel that takes strides for others, as PyTorch's `tril` does, must not write to the allocator's."""
        reach = 1 + sum((size - 1) * stride for size, stride in zip(own.shape, own.stride())) if own.numel() else 0
        room = self._W.empty((reach + own.numel() + _ROOM,), dtype=own.dtype)
        return self._W.as_strided(room, own.shape, own.stride(), 0).copy_(own)

    def _context(self):
        if self._case.relation != "autocast":
            return nullcontext()
        if not hasattr(self._W, "autocast"):
            raise NotImplementedError("no autocast")
        return self._W.autocast("cpu", dtype=self._W.bfloat16)

    def _observe(self, result, before: dict) -> None:
        seen, W = self._seen, self._W
        seen.structure, outputs = flatten(result, W)
        if most := next((n for leaf in outputs if isinstance(leaf, W.Tensor) and (n := math.prod(leaf.shape)) > _MOST), 0):
            raise Unmappable(f"result of {most} elements, more than are looked at")
        seen.values = [to_value(leaf, W) for leaf in outputs]
        tensors = [leaf if isinstance(leaf, W.Tensor) else None for leaf in outputs]
        seen.strides = [tuple(t.stride()) if _has(t, "stride") else None for t in tensors]
        seen.requires_grad = [t.requires_grad if _has(t, "requires_grad") else None for t in tensors]
        seen.aliases = [self._alias(t) if t is not None else None for t in tensors]
        after = self._versions()
        seen.versions = {key: after[key] - before[key] for key in before}
        storage = {spec.id: spec.storage for spec in tensors_of(self._case)}
        spoiled = self._decoder.changed() - {storage[key] for key, moved in seen.versions.items() if moved}
        seen.spoiled = tuple(sorted(spoiled))
        seen.written = {key: to_value(self._decoder.tensors[key], W) for key, moved in seen.versions.items() if moved or storage[key] in spoiled}
        seen.written |= {-1 - key: to_value(base, W) for key, base in self._around.items()}
        seen.lacks = self._lacks(tensors)
        if self._case.process is not None:
            outputs = flatten(ship.build(self._case.process, W)(result), W)[1]
            seen.determined = [to_value(leaf, W) for leaf in outputs]
        if self._case.differentiate and "gradient" not in seen.lacks:
            self._differentiate([leaf for leaf in outputs if isinstance(leaf, W.Tensor)])
        self._write_through(tensors)

    def _lacks(self, outputs: list) -> tuple:
        lacks = () if hasattr(self._W, "autograd") else ("requires_grad", "gradient", "gradgrad")
        lacks += () if hasattr(self._W, "set_warn_always") else ("warning",)
        tensors = [t for t in (*outputs, *self._decoder.tensors.values()) if t is not None]
        return lacks + tuple(name for name, attribute in (("version", "_version"), ("stride", "stride"))
                             if tensors and not _has(tensors[0], attribute))

    def _versions(self) -> dict:
        return {key: tensor._version for key, tensor in self._decoder.tensors.items() if _has(tensor, "_version")}

    def _alias(self, tensor):
        for key, candidate in self._decoder.tensors.items():
            if candidate is tensor:
                return ("same", key)
        if tensor.numel() == 0:
            return None
        place = home(tensor)
        for storage, base in self._decoder.bases.items():
            if place is not None and place == home(base):
                return ("view", storage)
        return None

    # Gradients.

    def _differentiate(self, outputs: list) -> None:
        outputs = [t for t in outputs if t.requires_grad]
        inputs = [self._decoder.decode(spec) for spec in gradient_inputs(self._case)]
        if not outputs or not inputs:
            return
        second = self._case.differentiate > 1
        grads = gradients(self._W, outputs, inputs, second, self._case.sway)
        if second and isinstance(grads, Raised) and grads.names[0] == "NotImplementedError":
            self._seen.second, second = grads, False  # no second derivatives: the first ones are asked for all the same
            grads = gradients(self._W, outputs, inputs, sway=self._case.sway)
        self._seen.gradients = grads if isinstance(grads, Raised) else [to_value(grad, self._W) for grad in grads]
        if second and not isinstance(grads, Raised):
            again = [grad for grad in grads if grad is not None and grad.requires_grad]
            if again:
                found = gradients(self._W, again, inputs, sway=self._case.sway)
                self._seen.second = found if isinstance(found, Raised) else [to_value(g, self._W) for g in found]

    # Write-through.

    def _write_through(self, outputs: list) -> None:
        for tensor, alias in zip(outputs, self._seen.aliases):
            if alias is None or alias[0] != "view":
                continue
            base = self._decoder.bases[alias[1]].detach()
            self._seen.through += [self._write(tensor, base, 1), self._write(base, tensor, 0)]

    def _write(self, into, onto, number):
        """Fills `into` and shows `onto`; where the write is refused, the name of the error."""
        try:
            with self._W.no_grad():
                into.fill_(number)
            return to_value(onto, self._W)
        except Exception as error:
            return type(error).__name__


def _has(tensor, name: str) -> bool:
    return tensor is not None and hasattr(tensor, name)


def gradients(W, outputs: list, inputs: list, create_graph: bool = False, sway: tuple | None = None):
    """The gradients of `inputs` for fixed cotangents, None for those not used; what was raised, if so. `sway` as of a case."""
    try:
        cotangents = [cotangent(t, W, sway) for t in outputs]
        return W.autograd.grad(outputs, inputs, cotangents, allow_unused=True, create_graph=create_graph)
    except Exception as error:
        return Raised.of(error)


def cotangent(output, W, sway: tuple | None = None):
    """A gradient to send in: no two neighbours alike, and exact in every dtype but for the moves that `sway` asks for."""
    count = output.numel()
    numbers = _COTANGENTS[:count].copy() if count <= len(_COTANGENTS) else cotangents(count)
    if sway:
        seed, epsilon = sway
        numbers *= 1 + epsilon * np.random.default_rng(seed).uniform(-1, 1, count)
    return W.from_numpy(numbers.reshape(tuple(output.shape))).to(output.dtype)


_COTANGENTS = cotangents(1024)


def home(tensor):
    """The address of a tensor's storage: equal for all views of it."""
    if not hasattr(tensor, "data_ptr"):
        return None
    width = dtypes.numpy_dtype(dtypes.name_of(tensor.dtype)).itemsize
    return tensor.data_ptr() - tensor.storage_offset() * width
