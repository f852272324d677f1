"""`torch.compile`: ops run one by one, as without it, which gives the same numbers."""
import functools
import warnings

import weir
from weir.nn import Module

_warned = False


class OptimizedModule(Module):
    """What `compile` makes of a module: the module under the name `_orig_mod`, also in `state_dict`, as in PyTorch."""

    def __init__(self, module):
        super().__init__()
        self._orig_mod = module
        self.training = module.training

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def train(self, mode=True):
        self.training = mode
        self._orig_mod.train(mode)
        return self

    def __len__(self):
        return len(self._orig_mod)

    def __getitem__(self, index):
        return self._orig_mod[index]


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """`model`, a function or module, that computes the same. Nothing is compiled: it warns once and runs as it is.

    `fullgraph`, `dynamic`, `mode` and `options` choose among equal results and are not looked at; a `backend` that is a
    function is never called. Raises RuntimeError when both mode and options are given.
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                 options=options, disable=disable)
    global _warned
    if not _warned and not disable:
        _warned = True
        warnings.warn("torch.compile: weir runs ops one by one; the result is the same", stacklevel=2)
    if isinstance(model, Module):
        return OptimizedModule(model)
    if not callable(model):
        raise TypeError(f"torch.compile: expected a function or module, got {weir.typename(model)}")

    @functools.wraps(model)
    def compiled(*args, **kwargs):
        return model(*args, **kwargs)
    compiled._torchdynamo_orig_callable = model
    return compiled
