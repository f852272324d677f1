"""Cases about objects as text: a line for tables, a script for people who want to rerun them."""

from .objects import ModuleCase, OptimizerCase, SchedulerCase, tensors
from .render import arguments, standing_alone, summary as shape


def summary(label: str, case, limit: int = 160) -> str:
    """`torch.nn.Linear(2, 3) on (float32[1, 2])`, cut to `limit` characters."""
    text = f"{label}({arguments(getattr(case, 'args', ()), case.kwargs, shape)}) {_SUMMARIES[type(case)](case)}"
    return text if len(text) <= limit else text[:limit - 3] + "..."


def script(item, failure) -> str:
    """A script that shows one failing object, in either framework by changing its import."""
    case = item.case
    return standing_alone(failure, tensors(case), case, _SCRIPTS[type(case)](item.target.label, case, failure))


def _name(spec) -> str:
    return f"t{spec.id}"


def _value(tree) -> str:
    """A tree of descriptors and constants as code."""
    return arguments((tree,), {}, _name)


def _module(label: str, case: ModuleCase, failure) -> list[str]:
    call = arguments(case.inputs, case.named, _name)
    inputs = "".join(f"{_name(spec)}, " for spec in tensors(case) if spec.requires_grad)
    shown = {"state": "out" if "reloaded" in failure.reason else "module, module.state_dict()",
             "gradient": f"torch.autograd.grad(out.sum(), [{inputs}*module.parameters()], allow_unused=True)"}
    cast = "" if case.dtype.name == "float32" else f".to({_value(case.dtype)})"
    return [f"module = {label}({arguments(case.args, case.kwargs, _name)}){cast}",
            *([f"module({call})"] if case.lazy else []),
            *([f"module.load_state_dict({_value(case.state)})"] if case.state else []),
            f"module.train({failure.reason.startswith('train')})", f"out = module({call})",
            f"print({shown.get(failure.property, 'out')})"]


def _optimizer(label: str, case: OptimizerCase, failure) -> list[str]:
    groups, kwargs = _value(case.groups), arguments((), case.kwargs, _name)
    names = ", ".join(_name(spec) for group in case.groups for spec in group["params"])
    loss = f"lambda: sum((p.detach() * p.grad).sum() for p in [{names}] if p.grad is not None)" if case.closure else ""
    bare = _value([{"params": group["params"]} for group in case.groups])
    return [f"optimizer = {label}({', '.join(filter(None, [groups, kwargs]))})",
            f"for at, grads in enumerate({_value(case.gradients)}):",
            *_resumed(case.resume, [f"saved, optimizer = optimizer.state_dict(), {label}({bare})",
                                    "optimizer.load_state_dict(saved)"]),
            f"    for parameter, grad in zip([{names}], grads):",
            "        parameter.grad = grad", f"    optimizer.step({loss})",
            "print(optimizer.state_dict())" if "state_dict" in failure.reason else f"    print({names})"]


def _scheduler(label: str, case: SchedulerCase, failure) -> list[str]:
    groups = f"[{{'params': [torch.zeros(1, requires_grad=True)], 'lr': rate}} for rate in {case.rates}]"
    made = f"{label}({', '.join(filter(None, ['optimizer=optimizer', arguments((), case.kwargs, _name)]))})"
    metric = f"{case.metrics}[at]" if case.metrics else ""
    return [f"optimizer = torch.optim.SGD({groups}, lr=0.1, momentum=0.9)", f"scheduler = {made}",
            f"for at in range({case.steps}):",
            *_resumed(case.resume, [f"saved, scheduler = scheduler.state_dict(), {made}",
                                    "scheduler.load_state_dict(saved)"]),
            "    optimizer.step()", f"    scheduler.step({metric})",
            "    print([(group['lr'], group['momentum']) for group in optimizer.param_groups])"]


def _resumed(at: int, lines: list[str]) -> list[str]:
    return [f"    if at == {at}:", *(f"        {line}" for line in lines)] if at else []


_SCRIPTS = {ModuleCase: _module, OptimizerCase: _optimizer, SchedulerCase: _scheduler}
_SUMMARIES = {ModuleCase: lambda case: f"on ({arguments(case.inputs, case.named, shape)})",
              OptimizerCase: lambda case: f"{len(case.gradients)} steps of {arguments((case.groups,), {}, shape)}",
              SchedulerCase: lambda case: f"{case.steps} steps from {case.rates}"}
