"""Modules as functions of their parameters."""
import copy
from contextlib import contextmanager

import weir
from weir import Tensor


@contextmanager
def swapped(module, tensors, tie_weights, strict):
    """The module with other tensors in the place of its own, put back at the end."""
    own = {}
    for table in ("_parameters", "_buffers"):
        for path, child in module.named_modules(remove_duplicate=False):
            for name, value in getattr(child, table).items():
                own[f"{path}.{name}" if path else name] = (getattr(child, table), name, value)
    unexpected = [n for n in tensors if n not in own]
    missing = [n for n in own if n not in tensors and own[n][2] is not None] if strict else []
    if unexpected and strict or missing:
        raise RuntimeError("Error(s) in loading the parameters and buffers for functional_call:"
                           + (f"\n\tUnexpected key(s): {', '.join(unexpected)}." if unexpected else "")
                           + (f"\n\tMissing key(s): {', '.join(missing)}." if missing else ""))
    if unexpected:
        raise KeyError(f"functional_call: the module has no {', '.join(unexpected)}")
    chosen = dict(tensors)
    if tie_weights:
        of_id = {id(own[n][2]): t for n, t in tensors.items() if own[n][2] is not None}
        for name, (_, _, value) in own.items():
            if value is not None and id(value) in of_id:
                chosen.setdefault(name, of_id[id(value)])
    try:
        for name, tensor in chosen.items():
            table, key, _ = own[name]
            table[key] = tensor
        yield
    finally:
        for name in chosen:
            table, key, value = own[name]
            if name in tensors and table[key] is not tensors[name] and isinstance(tensors, dict):
                tensors[name] = table[key]  # a buffer that the call replaced, as batch norm's counter
            table[key] = value


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the given tensors in the place of its parameters and buffers, by dotted name.

    parameter_and_buffer_dicts: a dict or several, whose names must differ. KeyError for a name that the module has not.
    """
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
