"""Module: parameters, buffers and submodules under names. Source: torch.nn.Module's documented protocol."""

from typing import Any, TypeVar

import weir
from weir import Tensor
from weir.nn.modules._cast import CastMixin
from weir.nn.modules._extras import ExtrasMixin
from weir.nn.modules._hooks import (HookMixin, _shared, register_module_backward_hook,  # noqa: F401
                                    register_module_buffer_registration_hook, register_module_forward_hook, register_module_forward_pre_hook,
                                    register_module_full_backward_hook, register_module_full_backward_pre_hook,
                                    register_module_module_registration_hook, register_module_parameter_registration_hook, registered)
from weir.nn.modules._state import StateMixin
from weir.nn.parameter import Buffer, Parameter


class Module(HookMixin, StateMixin, CastMixin, ExtrasMixin):
    """Base of all neural network modules: write `forward`, assign Parameters and Modules as attributes.

    Attributes named in `_parameters`, `_buffers` and `_modules` are found by plain attribute access.
    """

    training: bool
    T_destination = TypeVar("T_destination", bound=dict[str, Any])
    call_super_init = False  # whether classes behind Module in the order of bases are initialised, by what Module is given

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and (args or kwargs):
            unexpected = next(iter(kwargs), None)
            detail = f"got an unexpected keyword argument '{unexpected}'" if unexpected else (
                f"takes 1 positional argument but {len(args) + 1} were given")
            raise TypeError(f"{type(self).__name__}.__init__() {detail}")
        put = super().__setattr__  # past the rules below: there are no tables yet
        put("training", True)
        put("_parameters", {})
        put("_buffers", {})
        put("_non_persistent_buffers_set", set())
        put("_modules", {})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args, **kwargs):
        """What the module computes; every subclass writes its own."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args, **kwargs):
        if self._hooks is None:
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def __getattr__(self, name):
        state = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in state and name in state[table]:
                return state[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        state = self.__dict__
        if isinstance(value, Parameter):
            self._require_init("parameters")
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._require_init("module")
            self._forget(name, "_modules")
            state["_modules"][name] = registered("module", self, name, value) if _shared else value
        elif isinstance(value, Buffer):
            self._require_init("buffers")
            self.register_buffer(name, value, value.persistent)
        elif name in state.get("_parameters", ()):
            self._set_slot("_parameters", name, value, "parameter", "torch.nn.Parameter or None", ())
        elif name in state.get("_modules", ()):
            self._set_slot("_modules", name, value, "child module", "torch.nn.Module or None", ())
        elif name in state.get("_buffers", ()):
            self._set_slot("_buffers", name, value, "buffer", "torch.nn.Buffer, torch.Tensor or None", Tensor)
        else:
            super().__setattr__(name, value)

    def _require_init(self, what):
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name, keep):
        self.__dict__.pop(name, None)
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep:
                getattr(self, table).pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_slot(self, table, name, value, what, expected, accepted):
        if value is not None and not isinstance(value, accepted):
            raise TypeError(f"cannot assign '{weir.typename(value)}' as {what} '{name}' ({expected} expected)")
        self.__dict__[table][name] = value

    def __delattr__(self, name):
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __dir__(self):
        own = [*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules]
        return sorted(name for name in own if not name[:1].isdigit())

    def register_parameter(self, name: str, param) -> None:
        """Adds `param` (a Parameter or None) under `name`. Raises TypeError or KeyError for unfit ones."""
        self._require_init("parameter")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{weir.typename(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        if param is not None and param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                             "created explicitly.")
        self._parameters[name] = param if param is None or not _shared else registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor, persistent: bool = True) -> None:
        """Adds a tensor (or None) that is state but no parameter; `persistent=False` leaves it out of state_dict."""
        self._require_init("buffer")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{weir.typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = registered("buffer", self, name, tensor) if _shared else tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module) -> None:
        """Adds `module` (a Module or None) as the child `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{weir.typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = registered("module", self, name, module) if _shared else module

    def register_module(self, name: str, module) -> None:
        """add_module under its newer name."""
        self.add_module(name, module)

    def _check_name(self, what, name, table):
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {weir.typename(name)}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    def get_submodule(self, target: str):
        """The module at a dotted path; "" is this one. Raises AttributeError when there is none."""
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target: str):
        """The parameter at a dotted path."""
        return self._get_tensor(target, Parameter, "nn.Parameter")

    def get_buffer(self, target: str):
        """The buffer at a dotted path."""
        path, _, name = target.rpartition(".")
        buffer = self._get_tensor(target, Tensor, "buffer")
        if name not in self.get_submodule(path)._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def _get_tensor(self, target, kind, label):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        found = getattr(module, name)
        if not isinstance(found, kind):
            raise AttributeError(f"`{name}` is not an {label}")
        return found

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        """Pairs of dotted name and what get_members_fn(module) gives pairs of."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True):
        """Pairs of dotted name and Parameter; a shared one once."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True):
        """The Parameters in order of registration."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True):
        """Pairs of dotted name and buffer."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True):
        """The buffers in order of registration."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_children(self):
        """Pairs of name and direct submodule."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix: str = "", remove_duplicate: bool = True):
        """Pairs of dotted path and module, this one first, depth first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, path, remove_duplicate)

    def modules(self, remove_duplicate: bool = True):
        """All modules of the tree, this one first; each once, or as often as it stands there."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def train(self, mode: bool = True):
        """Sets training mode on the whole tree, by the children's own `train`, which a program may override. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        """Sets evaluation mode. Returns self."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True):
        """Sets `requires_grad` of all parameters. Returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets all gradients, or zeroes them in place."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad = weir.zeros_like(parameter.grad)

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses of the repr."""
        return ""

    def __repr__(self):
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): {_indent(repr(module))}" for name, module in self._modules.items()]
        lines = extra + children
        if not lines:
            return f"{self._get_name()}()"
        if len(extra) == 1 and not children:
            return f"{self._get_name()}({extra[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


def _indent(text):
    first, *rest = text.split("\n")
    return "\n".join([first] + ["  " + line for line in rest])


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
