"""What is copied, pickled, saved and loaded: tensors and what holds them, and modules' state dicts; as functions of a framework and a plan.

As in `recording`, a plan is constants only, and what a function returns is all that can be seen.
"""

import copy
import io
import pickle
from collections import OrderedDict

import numpy

THINGS = ("tensor", "leaf", "parameter", "frozen", "row", "transposed", "stepped", "expanded", "pair", "same", "dict", "noted", "computed", "module", "size",
          "dtype", "scalar", "generator", "ordered")
WAYS = ("deepcopy", "copy", "pickle", "save", "old save", "clone and copy", "array", "asarray")
HOOKS = ("state before", "state after", "load before", "load after")
CHANGES = ("dropped", "renamed", "extra", "plain", "reversed", "bare", "longer", "wider", "whole", "number", "nothing", "parameter", "one", "numbered", "array",
           "meta")


def copies(W, x, thing="tensor", way="deepcopy", protocol=2, times=1, weights_only=True, mapped="nothing", write=False):
    """`thing`, made of x, and what comes of it `way`: what it is, and what it shares with the original and within itself."""
    original = _thing(W, x, thing)
    made = original
    for _ in range(times):
        made = _again(W, made, way, protocol, weights_only, mapped)
    seen = [*_described(W, made), made is original]
    tensors, before = _tensors_in(W, made), _tensors_in(W, original)
    places, old = ([t.untyped_storage().data_ptr() for t in some] for some in (tensors, before))
    seen += [[next(i for i, other in enumerate(tensors) if other is t) for t in tensors], [places.index(place) for place in places],
             [place in old for place, t in zip(places, tensors) if t.numel()]]
    if write and tensors:
        with W.no_grad():
            tensors[0].fill_(1)
        seen += [t.detach().clone() for t in (*tensors, *before)]
    return seen


def states(W, x, weight, changes=(), strict=True, assign=False, keep=False, prefix="", hooks=(), nested=False, twice=False):
    """The state dict of a small module, changed, and loaded into a second one."""
    log = []
    source, target = _module(W, weight, nested), _module(W, weight * 0, nested)
    for kind in hooks:
        _hook(target if kind.startswith("load") else source, kind, log)
    state = source.state_dict(prefix=prefix, keep_vars=keep)
    if twice:
        state = source.state_dict(destination=state, prefix="again.")
    seen = [list(state), type(state).__name__, *(getattr(v, "requires_grad", None) for v in state.values()),
            sorted((key, entry.get("version")) for key, entry in getattr(state, "_metadata", {}).items())]
    for change in changes:
        state = _changed(W, state, change, x)
    before = dict(target.named_parameters(remove_duplicate=False))
    found = target.load_state_dict(state, strict=strict, assign=assign)
    seen += [sorted(found.missing_keys), sorted(found.unexpected_keys), type(found).__name__]
    after = dict(target.named_parameters(remove_duplicate=False))
    seen += [list(after), *(after[name] is before.get(name) for name in after), *(p.requires_grad for p in after.values())]
    seen += [type(p).__name__ for p in after.values()]
    result = target(x)
    return [result, *(v.detach().clone() for v in target.state_dict().values() if isinstance(v, W.Tensor)), *seen, *log]


# Things, and what can be told of them.

def _thing(W, x, thing):
    base = x.detach().clone()
    leaf = base.clone().requires_grad_() if base.is_floating_point() or base.is_complex() else base
    flat = base.reshape(-1)
    return {"tensor": lambda: base, "leaf": lambda: leaf, "parameter": lambda: W.nn.Parameter(base, requires_grad=leaf.requires_grad),
            "frozen": lambda: W.nn.Parameter(base, requires_grad=False), "row": lambda: base[-1:], "transposed": lambda: base.t(),
            "stepped": lambda: flat[::2], "expanded": lambda: base.expand(2, *base.shape), "pair": lambda: [base, flat[1:]],
            "same": lambda: [base, base, (base,)], "dict": lambda: {"a": base, "b": [leaf, 3, None], 4: (2.5, "text")},
            "noted": lambda: _noted(base), "computed": lambda: leaf * 2, "module": lambda: _classes_of(W, base), "size": lambda: base.shape,
            "dtype": lambda: base.dtype, "scalar": lambda: base.sum(),
            "generator": lambda: W.Generator().manual_seed(3), "ordered": lambda: OrderedDict(b=base, a=flat)}[thing]()


def _classes_of(W, values):
    """A module of the framework's own classes, which pickles find again."""
    module = W.nn.Sequential(W.nn.PReLU(2), W.nn.Sequential(W.nn.BatchNorm1d(2), W.nn.Dropout(0.1)))
    module.extra = W.nn.ParameterList([W.nn.Parameter(values, requires_grad=False)])
    module[1][0].again = module[0].weight
    return module.eval()


def _noted(t):
    t.note = [1, "two"]
    return t


def _again(W, thing, way, protocol, weights_only, mapped):
    if way == "deepcopy":
        return copy.deepcopy(thing)
    if way == "copy":
        return copy.copy(thing)
    if way == "pickle":
        return pickle.loads(pickle.dumps(thing, protocol=protocol))
    if way == "clone and copy":
        return copy.deepcopy(thing.clone())
    if way in ("array", "asarray"):  # the one copies what the other may show in place
        return W.from_numpy(getattr(numpy, way)(thing)) if isinstance(thing, W.Tensor) else copy.copy(thing)
    file = io.BytesIO()
    W.save(thing, file, pickle_protocol=max(protocol, 2), _use_new_zipfile_serialization=way == "save" or isinstance(thing, W.Generator))
    file.seek(0)
    places = {"nothing": None, "name": "cpu", "device": W.device("cpu"), "table": {"cpu": "cpu"}, "function": lambda storage, place: storage}
    weights_only = weights_only and protocol < 3  # PyTorch's reader of weights warns of later ones, and does not know all of their operations
    return W.load(file, weights_only=weights_only, map_location=places[mapped])


def _described(W, thing) -> list:
    """Kinds, numbers and marks of all that `thing` holds."""
    if isinstance(thing, W.Tensor):
        return [type(thing).__name__, thing.detach(), thing.requires_grad, thing.is_leaf, tuple(thing.stride()), thing.storage_offset(),
                thing.untyped_storage().nbytes(), getattr(thing, "note", None)]
    if isinstance(thing, W.nn.Module):
        return [type(thing).__name__, thing.training, *(part for entry in thing.state_dict().items() for part in (entry[0], *_described(W, entry[1])))]
    if isinstance(thing, dict):
        return [type(thing).__name__, *(part for key, value in thing.items() for part in (str(key), *_described(W, value)))]
    if isinstance(thing, (list, tuple)):
        return [type(thing).__name__, len(thing), *(part for value in thing for part in _described(W, value))]
    if isinstance(thing, W.Generator):
        return [type(thing).__name__, thing.initial_seed(), W.rand(3, generator=thing).sum()]
    return [thing]


def _tensors_in(W, thing) -> list:
    if isinstance(thing, W.Tensor):
        return [thing]
    if isinstance(thing, W.nn.Module):
        return list(thing.parameters())
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
    return [t for value in inside for t in _tensors_in(W, value)]


# Modules and their states.

def _module(W, weight, nested):
    """A parameter, one that is another's, one that is None; a buffer, one that is not kept, one that is None; and a module inside."""
    class Small(W.nn.Module):
        def forward(self, x):
            return x * self.weight + self.shift

    def small():
        module = Small()
        values = weight.detach().clone()
        module.weight = W.nn.Parameter(values, requires_grad=values.is_floating_point() or values.is_complex())
        module.register_parameter("bias", None)
        module.register_buffer("shift", values.clone() + 1)
        module.register_buffer("scratch", values.clone(), persistent=False)
        module.register_buffer("nothing", None)
        return module

    module = small()
    if nested:
        module = W.nn.Sequential(OrderedDict(first=module, second=W.nn.Sequential(small())))
        module[1].shared = module.first.weight
    return module


def _hook(module, kind, log):
    if kind == "state before":
        module.register_state_dict_pre_hook(lambda m, prefix, keep: log.append(f"{kind} {prefix} {keep}"))
    elif kind == "state after":
        module.register_state_dict_post_hook(lambda m, state, prefix, metadata: log.append(f"{kind} {prefix} {len(state)} {sorted(metadata)}"))
    elif kind == "load before":
        module.register_load_state_dict_pre_hook(lambda m, state, prefix, metadata, strict, *rest:
                                                 log.append(f"{kind} {prefix} {len(state)} {strict} {[len(each) for each in rest]}"))
    else:
        module.register_load_state_dict_post_hook(lambda m, found: (log.append(f"{kind} {len(found.missing_keys)}"), found.missing_keys.clear()))


def _changed(W, state, change, x):
    """The state dict with one thing about it changed, as by someone who edits a checkpoint."""
    keys = list(state)
    what, key = change[0], keys[change[1] % len(keys)] if keys else ""
    if what == "plain":
        return dict(state)
    if what == "reversed":
        return OrderedDict(reversed(list(state.items())))
    if what == "bare":
        return [list(state.items())]
    if not keys:
        return state
    old = state.pop(key)
    new = {"dropped": lambda: None, "renamed": lambda: {f"other.{key}": old}, "longer": lambda: {key: W.cat([old, old])},
           "wider": lambda: {key: old.double()}, "whole": lambda: {key: old.long()}, "number": lambda: {key: 3.0}, "nothing": lambda: {key: None},
           "parameter": lambda: {key: W.nn.Parameter(old.detach(), requires_grad=False)}, "one": lambda: {key: old.reshape(-1)[:1]},
           "extra": lambda: {key: old, "extra": x.detach()}, "numbered": lambda: {key: old, 3: old}, "array": lambda: {key: old.detach().numpy()},
           "meta": lambda: {key: old.to("meta")}}[what]()
    state.update(new or {})
    return state
