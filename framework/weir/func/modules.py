"""Modules as functions of their parameters."""
import copy
from contextlib import contextmanager

import weir
from weir import Tensor


_ABSENT = object()


def _owner(module, path):
    """(submodule, name) of a dotted name. AttributeError and TypeError where the way leads over no module."""
    *parents, name = path.split(".")
    for parent in parents:
        child = getattr(module, parent, _ABSENT)
        if child is _ABSENT:
            raise AttributeError(f"{type(module).__name__} has no attribute `{parent}`")
        if not isinstance(child, weir.nn.Module):
            raise TypeError(f"submodule `{parent}`: {child} is not an instance of torch.nn.Module")
        module = child
    return module, name


def _exchange(module, name, value):
    """Puts a tensor, None or nothing (_ABSENT) where the module keeps one, and returns what stood there. TypeError for another value."""
    if value is not _ABSENT and value is not None and not isinstance(value, Tensor):
        raise TypeError(f"{value} is not an instance of torch.Tensor")
    table = next((t for t in (module._parameters, module._buffers) if name in t), None)
    before = getattr(module, name, _ABSENT) if table is None else table[name]
    if before is not _ABSENT and before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if value is _ABSENT:
        delattr(module, name)
    elif table is not None:
        table[name] = value
    else:
        setattr(module, name, value)
    return before


def _chosen(module, tensors, tie_weights, strict):
    """The tensors by name, those of weights that are tied to a given one among them. ValueError where tied ones differ."""
    chosen = dict(tensors)
    if not tie_weights and not strict:
        return chosen
    own = {**dict(module.named_parameters(remove_duplicate=False)), **dict(module.named_buffers(remove_duplicate=False))}
    groups = {}
    for name, value in own.items() if tie_weights else ():
        groups.setdefault(id(value), []).append(name)
    for names in groups.values():
        given = [name for name in names if name in tensors]
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(f"functional_call got multiple values for keys {given}, which are tied. Consider using tie_weights=False")
        chosen.update((name, tensors[given[0]]) for name in names if given)
    if strict:
        wrong = {"Unexpected": [n for n in chosen if n not in own], "Missing": [n for n in own if n not in chosen]}
        if any(wrong.values()):
            raise RuntimeError("Error(s) in loading the parameters and buffers for functional_call:" + "".join(
                f"\n\t{kind} key(s): {', '.join(map(repr, names))}." for kind, names in wrong.items() if names))
    return chosen


@contextmanager
def swapped(module, tensors, tie_weights, strict):
    """The module with other tensors in the place of its own, put back at the end, whatever happens."""
    before = {}
    try:
        for name, tensor in _chosen(module, tensors, tie_weights, strict).items():
            before[name] = _exchange(*_owner(module, name), tensor)
        yield
    finally:
        for name, own in before.items():
            after = _exchange(*_owner(module, name), own)
            if name in tensors and isinstance(tensors, dict):
                tensors[name] = after  # a buffer that the call replaced, as batch norm's counter


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the given tensors in the place of its parameters, buffers and attributes, by dotted name.

    parameter_and_buffer_dicts: a dict or several, whose names must differ. Names that the module has not are set for the call, unless
    `strict`, which takes exactly the module's own (RuntimeError). tie_weights: what is one tensor in the module stays one.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.functional_call.html
    """
    if isinstance(module, weir.jit.ScriptModule):
        raise RuntimeError("functional_call: it cannot be used with Jitted modules")
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, (list, tuple)):
        names = [n for d in dicts for n in d]
        if len(set(names)) < len(names):
            raise ValueError(f"{sorted({n for n in names if names.count(n) > 1})} appeared in multiple dictionaries; behavior of "
                             "functional call is ambiguous")
        dicts = {n: t for d in dicts for n, t in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with swapped(module, dicts, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def stack_module_state(models):
    """(parameters, buffers) of modules of one kind, each stacked along a new first dim, by name."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")

    def stacked(dicts, learned):
        result = {}
        for name in dicts[0]:
            parts = [d[name] for d in dicts]
            if len({p.requires_grad for p in parts}) > 1:
                raise RuntimeError(f"stack_module_state: Expected {name} of all models to have the same .requires_grad.")
            result[name] = weir.stack([p.detach() for p in parts]).requires_grad_(learned and parts[0].requires_grad)
        return result
    return (stacked([dict(m.named_parameters()) for m in models], True),
            stacked([dict(m.named_buffers()) for m in models], False))


def replace_all_batch_norm_modules_(root):
    """root, its batch norms without running statistics, in place."""
    from weir.nn.modules.batchnorm import _BatchNorm
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
