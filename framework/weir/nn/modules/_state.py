"""Saving a module's state and putting it back, under PyTorch's names."""

import warnings
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from itertools import chain

import weir
from weir import Tensor
from weir.nn.parameter import Parameter
from weir.utils.hooks import add_hook

_EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict(strict=False)` could not match."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    __str__ = __repr__


class StateMixin:
    """`state_dict` and `load_state_dict` of Module."""

    _version = 1

    def state_dict(self, *args, destination=None, prefix: str = "", keep_vars: bool = False):
        """An OrderedDict from dotted names to tensors; they share storage with the module.

        `keep_vars=False` detaches them. The versions of all modules stand in its `_metadata`.
        """
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args):])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._table("state_dict_pre").values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._table("state_dict").values():
            result = hook(self, destination, prefix, metadata)
            if result is not None and getattr(hook, "_from_public_api", False):
                raise RuntimeError(f"state_dict post-hook must return None, but {hook} returned {type(result)}")
            destination = destination if result is None else result
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, tensor in chain(self._parameters.items(), self._persistent_buffers().items()):
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _overrides(self, "get_extra_state"):
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def _persistent_buffers(self):
        return {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}

    def get_extra_state(self):
        """State beside tensors, for `state_dict`; override together with `set_extra_state`."""
        raise RuntimeError("get_extra_state: override it to save extra state")

    def set_extra_state(self, state):
        """Takes back what `get_extra_state` returned."""
        raise RuntimeError("set_extra_state: override it to load extra state")

    def load_state_dict(self, state_dict, strict: bool = True, assign: bool = False):
        """Copies tensors into the parameters and buffers of the same names.

        `assign` takes over the given tensors themselves. Returns (missing_keys, unexpected_keys). Raises
        TypeError for no mapping and RuntimeError for wrong shapes, or for unmatched names when `strict`.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        self._load_tree(state_dict, metadata or {}, "", strict, assign, missing, unexpected, errors)
        if strict and unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if strict and missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            text = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_tree(self, state_dict, metadata, prefix, strict, assign, missing, unexpected, errors):
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        self._load_from_state_dict(state_dict, prefix, local, True, missing, unexpected, errors)
        for name, child in self._modules.items():
            if child is None:
                continue
            inner = f"{prefix}{name}."
            part = {k: v for k, v in state_dict.items() if k.startswith(inner)}
            child._load_tree(part, metadata, inner, strict, assign, missing, unexpected, errors)
        keys = _IncompatibleKeys(missing, unexpected)
        for hook in self._table("load_state_dict_post").values():
            if hook(self, keys) is not None:
                raise AssertionError("load_state_dict post hooks change the keys in place and return None")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for hook in self._table("load_state_dict_pre").values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        state = {k: v for k, v in {**self._parameters, **self._persistent_buffers()}.items() if v is not None}
        for name, tensor in state.items():
            key = prefix + name
            if key in state_dict:
                self._load_tensor(name, tensor, key, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        self._load_extra(state_dict, prefix + _EXTRA_STATE, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys += [k for k in state_dict if k.startswith(prefix) and k != prefix + _EXTRA_STATE
                                and not self._knows(k[len(prefix):], state)]

    def _knows(self, name, state):
        head, dot, _ = name.partition(".")
        return name in state if not dot else head in self._modules

    def _load_extra(self, state_dict, key, strict, missing_keys, unexpected_keys):
        if _overrides(self, "set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _load_tensor(self, name, tensor, key, value, assign, error_msgs):
        if not isinstance(value, Tensor):
            error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                              f"object from checkpoint but received {type(value)}")
            return
        if tensor.dim() == 0 and value.dim() == 1 and value.numel() == 1:
            value = value[0]  # files from before 0-d tensors
        if value.shape != tensor.shape:
            error_msgs.append(f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
                              f"the shape in current model is {tensor.shape}.")
            return
        if tensor.is_meta and not value.is_meta and not assign:
            warnings.warn(f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model, which is "
                          "a no-op. (Did you mean to pass `assign=True`?)", stacklevel=2)
        try:
            with weir.no_grad():
                if assign:
                    setattr(self, name, _taken_over(tensor, value))
                else:
                    tensor.copy_(value)
        except Exception as error:  # told with the others, once all that fits is loaded
            error_msgs.append(f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and '
                              f"whose dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}.")

    def register_state_dict_post_hook(self, hook):
        """`hook(module, state_dict, prefix, local_metadata)` runs after this module was saved, changes state_dict in place and returns None."""
        hook._from_public_api = True
        return add_hook(self._own_table("state_dict"), hook)

    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError("Cannot register the same function as the state dict post hook that was previously registered via "
                               "register_state_dict_post_hook")
        return add_hook(self._own_table("state_dict"), hook)

    def register_state_dict_pre_hook(self, hook):
        """`hook(module, prefix, keep_vars)` runs before this module is saved."""
        return add_hook(self._own_table("state_dict_pre"), hook)

    def register_load_state_dict_pre_hook(self, hook):
        """`hook(module, state_dict, prefix, ...)` runs before this module is loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return add_hook(self._own_table("load_state_dict_pre"), _OfModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook):
        """`hook(module, incompatible_keys)` runs after this module was loaded."""
        return add_hook(self._own_table("load_state_dict_post"), hook)


class _OfModule:
    """A hook that is given its module, which it does not keep alive. Pickled with it."""

    def __init__(self, hook, module):
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args):
        return self.hook(self.module(), *args)

    def __getstate__(self):
        return {"hook": self.hook, "module": self.module()}

    def __setstate__(self, state):
        self.__init__(state["hook"], state["module"])


def _taken_over(tensor, value):
    """`value` as what stands in the place of a module's `tensor`: a parameter stays one, and requires grad where it did."""
    if not isinstance(tensor, Parameter):
        return value
    return value.requires_grad_(tensor.requires_grad) if isinstance(value, Parameter) else Parameter(value, requires_grad=tensor.requires_grad)


def _overrides(module, name):
    return getattr(type(module), name) is not getattr(StateMixin, name)


def _quoted(keys):
    return ", ".join(f'"{k}"' for k in keys)
