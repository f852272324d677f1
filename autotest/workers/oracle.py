"""The oracle worker: PyTorch, its op database, and the answers it expects.

Run as `python -m weir_autotest.workers.oracle FD DTYPE MAX_SAMPLES`. Requests are ("list",),
("prepare", OpKey) and ("adjudicate", Target, Case, seed).
"""

import random
import sys
import warnings
import zlib

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from ..cases import ship, target
from ..cases.case import Case, Encoder, Unmappable
from ..cases.protocol import UNINITIALISED, ErrorSample, Omission, OpKey, Plan, Reference, Sample
from ..cases.values import Raised
from ..check.reference import promoted
from . import opinfo
from .execute import Execution
from .worker import connect, serve

#: Exception classes too general to be an answer.
_GENERAL = {"Exception", "BaseException", "object"}

_PERTURBATIONS = 4


class Oracle:
    """Answers requests about the entries of the op database in one dtype.

    `max_samples` limits the samples per op, spread evenly over all of them; 0 means all.
    """

    def __init__(self, dtype: str, max_samples: int = 0):
        self._dtype = getattr(torch, dtype)
        self._max_samples = max_samples

    def keys(self) -> list[OpKey]:
        """Every op that supports the dtype. Left out: jiterator, which needs a CUDA compiler."""
        return [OpKey(i, op.name, op.variant_test_name) for i, op in enumerate(op_db)
                if self._dtype in op.dtypes and not op.name.startswith("jiterator")]

    def prepare(self, key: OpKey) -> Plan:
        """The samples of an op with expected outcomes. Faults of the oracle become omissions."""
        op = op_db[key.position]
        has_backward = op.supports_autograd and self._dtype in op.supported_backward_dtypes("cpu")
        plan = Plan(key, target.of_op(op, torch), default_tolerance=_default_tolerance(op, self._dtype),
                    has_backward=has_backward, has_errors=op.error_inputs_func is not None)
        function = plan.target.resolve(torch)
        self._add_samples(plan, op, function)
        if plan.has_errors:
            _add_errors(plan, op, function)
        return plan

    def _add_samples(self, plan: Plan, op, function) -> None:
        _reseed(f"{plan.key}.{self._dtype}")
        try:
            samples = list(opinfo.samples(op, self._dtype, plan.has_backward))
        except Exception as error:
            return _omit(plan, 0, "ORACLE-ERROR", f"sample_inputs raised {Raised.of(error)}")
        for index in _spread(len(samples), self._max_samples):
            _add_sample(plan, index, samples[index], function, op.name in UNINITIALISED)

    def adjudicate(self, where: target.Target, case: Case, seed: int) -> Reference:
        """Reruns `case` in double precision: exactly, then on perturbed inputs."""
        function = where.resolve(torch)
        rng = np.random.default_rng(seed)
        runs = [Execution(torch, function, promoted(case, noise)) for noise in [None] + [rng] * _PERTURBATIONS]
        forward = [run.forward() for run in runs]
        return Reference(forward, [run.backward() for run in runs] if case.cotangents else [])


def _add_sample(plan: Plan, index: int, sample, function, uninitialised: bool) -> None:
    try:
        encoder, case = _encode(sample)
    except Unmappable as error:
        return _omit(plan, index, "UNMAPPABLE", str(error))
    execution = Execution(torch, function, case)
    before = _reseed(f"{plan.key}.{index}")
    forward = execution.forward()
    # A call that moves the generator is random. This sees through probabilities and training flags.
    drawn = not torch.equal(before, torch.get_rng_state())
    if forward.unmappable:
        return _omit(plan, index, "UNMAPPABLE", forward.unmappable)
    if forward.raised:
        return _omit(plan, index, "ORACLE-ERROR", f"torch raised {forward.raised}")
    entry = Sample(index, case, forward, random=drawn or uninitialised)
    plan.samples.append(entry)
    if plan.has_backward and execution.differentiable():
        _add_backward(plan, entry, execution, encoder)


def _add_backward(plan: Plan, entry: Sample, execution: Execution, encoder: Encoder) -> None:
    case = entry.case
    case.cotangents = [(i, encoder.encode(_cotangent(execution.output(i)))) for i in execution.differentiable()]
    backward = execution.backward()
    if backward.raised or backward.unmappable:
        case.cotangents = None
        state = "UNMAPPABLE" if backward.unmappable else "ORACLE-ERROR"
        reason = backward.unmappable or f"torch raised {backward.raised}"
        plan.omissions.append(Omission("bwd", entry.index, state, reason))
    else:
        entry.backward = backward


def _add_errors(plan: Plan, op, function) -> None:
    _reseed(f"{plan.key}.errors")
    try:
        errors = list(op.error_inputs("cpu"))
    except Exception as error:
        plan.omissions.append(Omission("err", 0, "ORACLE-ERROR", f"error_inputs raised {Raised.of(error)}"))
        return
    for index, error_input in enumerate(errors):
        try:
            _, case = _encode(error_input.sample_input)
        except Unmappable as error:
            plan.omissions.append(Omission("err", index, "UNMAPPABLE", str(error)))
            continue
        raised = Execution(torch, function, case).forward().raised
        if raised is None:
            plan.omissions.append(Omission("err", index, "ORACLE-ERROR", "torch accepts this input"))
            continue
        accepted = frozenset(raised.names) - _GENERAL | {_type_name(error_input.error_type)}
        plan.errors.append(ErrorSample(index, case, accepted, str(raised)))


def _type_name(error_type) -> str:
    return error_type.__name__ if isinstance(error_type, type) else "RuntimeError"


def _omit(plan: Plan, index: int, state: str, reason: str) -> None:
    """Records a sample that is lost for the forward and the backward cell."""
    plan.omissions.append(Omission("fwd", index, state, reason))
    if plan.has_backward:
        plan.omissions.append(Omission("bwd", index, state, reason))


def _encode(sample) -> tuple[Encoder, Case]:
    encoder = Encoder(torch)
    args = encoder.encode((sample.input, *sample.args))
    process = sample.output_process_fn_grad
    # SampleInput's own default is the identity; everything else is worth shipping.
    identity = process is None or process.__qualname__.startswith("SampleInput.__init__")
    return encoder, Case(args, encoder.encode(sample.kwargs), encoder.storages,
                         process=None if identity else _shippable(process))


def _shippable(process):
    spec = ship.pack(process)
    try:
        ship.build(spec, torch)
    except ship.Unresolved:
        return None  # skipped on both sides
    return spec


def _cotangent(output):
    if output.dtype.is_complex:
        return torch.randn(output.shape, dtype=torch.complex128).to(output.dtype)
    return torch.randn(output.shape, dtype=torch.float64).to(output.dtype)


def _reseed(text: str):
    """Seeds every generator the samples use from `text`; returns torch's generator state."""
    seed = zlib.crc32(text.encode())
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)
    return torch.get_rng_state()


def _spread(count: int, limit: int) -> list[int]:
    """At most `limit` of `count` indices, evenly spread, the first included."""
    if limit <= 0 or count <= limit:
        return list(range(count))
    return [i * count // limit for i in range(limit)]


def _default_tolerance(op, dtype) -> tuple:
    """assert_close's rtol and atol for `dtype`, widened by the op's own CPU overrides."""
    rtol, atol = torch.testing._comparison.default_tolerances(dtype)
    for decorate in op.decorators:
        if getattr(decorate, "device_type", None) not in (None, "cpu"):
            continue
        for override in getattr(decorate, "decorators", [decorate]):
            if type(override).__name__ == "toleranceOverride" and dtype in override.d:
                rtol, atol = max(rtol, override.d[dtype].rtol), max(atol, override.d[dtype].atol)
    return rtol, atol


def main(descriptor: str, dtype: str, max_samples: str) -> None:
    """Serves requests until the driver closes the pipe."""
    warnings.simplefilter("ignore")
    connection = connect(descriptor)
    oracle = Oracle(dtype, int(max_samples))
    requests = {"list": oracle.keys, "prepare": oracle.prepare, "adjudicate": oracle.adjudicate}
    connection.send(("ready", str(torch.__version__)))
    serve(connection, requests)


if __name__ == "__main__":
    main(*sys.argv[1:])
