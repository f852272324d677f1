"""Modules whose forward runs again in the backward pass. Source: torch.distributed.algorithms._checkpoint.checkpoint_wrapper."""
import enum
import functools
from abc import ABC, abstractmethod

from weir.autograd.graph import save_on_cpu
from weir.nn import Module
from weir.utils.checkpoint import checkpoint

_INNER = "_checkpoint_wrapped_module"


class CheckpointImpl(enum.Enum):
    """The kind of checkpoint."""

    REENTRANT, NO_REENTRANT = range(2)


class ActivationWrapper(Module, ABC):
    """A module whose forward does something else with what backward needs. Its state has the names it has without; attributes are the inner module's."""

    def __init__(self, mod):
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_without_prefix)
        self.register_load_state_dict_pre_hook(_with_prefix)

    @abstractmethod
    def forward(self, *args, **kwargs):
        raise ValueError("Subclasses should implement forward().")

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__(_INNER), name)

    def __getitem__(self, key):
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args, **kwargs):
        for name, p in super().named_parameters(*args, **kwargs):
            yield name.replace(f"{_INNER}.", ""), p


class OffloadWrapper(ActivationWrapper):
    """A module whose saved tensors wait on the CPU."""

    def forward(self, *args, **kwargs):
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module under checkpoint."""

    def __init__(self, mod, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        options = {"use_reentrant": checkpoint_impl is CheckpointImpl.REENTRANT} if checkpoint_fn is None else {}
        self.checkpoint_fn = functools.partial(checkpoint_fn or checkpoint, **options, **checkpoint_fn_kwargs)

    def forward(self, *args, **kwargs):
        if self.checkpoint_impl is CheckpointImpl.REENTRANT and kwargs:  # that kind takes positions only
            names = list(kwargs)
            inner = self._checkpoint_wrapped_module
            return self.checkpoint_fn(lambda *all_: inner(*all_[len(names):], **dict(zip(names, all_))), *kwargs.values(), *args)
        return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)


def _without_prefix(module, state, prefix, metadata):
    for key in [k for k in state if k.startswith(f"{prefix}{_INNER}.")]:
        state[prefix + key[len(prefix) + len(_INNER) + 1:]] = state.pop(key)
    return state


def _with_prefix(module, state, prefix, *rest):
    for key in [k for k in state if k.startswith(prefix) and not k.startswith(f"{prefix}{_INNER}.")]:
        state[f"{prefix}{_INNER}.{key[len(prefix):]}"] = state.pop(key)


def checkpoint_wrapper(module, checkpoint_impl=CheckpointImpl.NO_REENTRANT, checkpoint_fn=None, **checkpoint_fn_kwargs):
    """module under checkpoint."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def offload_wrapper(module):
    """module, whose saved tensors wait on the CPU."""
    return OffloadWrapper(module)


def apply_activation_checkpointing(model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda _: True, auto_wrap_policy=None):
    """Puts the submodules that check_fn accepts under checkpoint, in place, the inner ones first."""
    if auto_wrap_policy is not None:
        raise NotImplementedError("apply_activation_checkpointing: weir has no wrap policies, give check_fn")

    def visit(parent):
        for name, child in list(parent.named_children()):
            visit(child)
            if check_fn(child):
                setattr(parent, name, checkpoint_wrapper_fn(child))
    visit(model)
