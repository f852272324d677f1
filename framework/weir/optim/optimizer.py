"""Optimizer: parameter groups, state, hooks; a subclass writes the update of one parameter."""

from collections import OrderedDict, defaultdict
from copy import deepcopy
from functools import partial, wraps
from itertools import chain

import weir
from weir import Tensor
from weir._trace import paused
from weir.optim._outside import *  # noqa: F401,F403  what optimizers written outside take from here
from weir.optim.halves import step_halves
from weir.utils._foreach_utils import _group_tensors_by_device_and_dtype
from weir.utils.hooks import add_hook


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()

_hooks_of_all: dict = {"pre": OrderedDict(), "post": OrderedDict()}


def register_optimizer_step_pre_hook(hook):
    """hook(optimizer, args, kwargs) -> None or (args, kwargs), before every step of every optimizer. A handle whose `remove()` ends it."""
    return add_hook(_hooks_of_all["pre"], hook)


def register_optimizer_step_post_hook(hook):
    """hook(optimizer, args, kwargs), after every step of every optimizer. A handle whose `remove()` ends it."""
    return add_hook(_hooks_of_all["post"], hook)


def _hooked(step):
    """`step` between the hooks of its optimizer; a `step` that calls its base's runs them once."""
    @wraps(step)
    def between(*args, **kwargs):
        self, *_ = args
        self._opt_called = True  # schedules ask for it
        if self.__dict__.get("_stepping"):
            return step(*args, **kwargs)
        for hook in (*_hooks_of_all["pre"].values(), *self._hooks["pre"].values()):
            result = hook(self, args, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
                args, kwargs = result
        self._stepping = True
        try:
            loss = step(*args, **kwargs)
        finally:
            self._stepping = False
        for hook in (*self._hooks["post"].values(), *_hooks_of_all["post"].values()):
            hook(self, args, kwargs)
        return loss
    between.hooked = True
    return between


class Optimizer:
    """Base of all optimizers.

    `params`: tensors, pairs of name and tensor, or dicts with "params" and options that override `defaults`.
    Raises TypeError for a single tensor and ValueError for an empty list or non-leaf tensors.
    """

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def __init__(self, params, defaults: dict):
        if isinstance(params, Tensor):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                            + weir.typename(params))
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._hooks = {"pre": OrderedDict(), "post": OrderedDict(), "state_dict_pre": OrderedDict(),
                       "state_dict_post": OrderedDict(), "load_pre": OrderedDict(), "load_post": OrderedDict()}
        self._patch_step_function()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    #: Options that came later than the first files with the states of optimizers: off where a file does not name them.
    _LATER_OPTIONS = {"amsgrad": False, "capturable": False, "differentiable": False, "foreach": None, "fused": None, "maximize": False,
                      "nesterov": False}
    #: What of a parameter's state is a tensor now and was a number in such files.
    _LATER_TENSORS = ("step", "mu_product", "eta", "mu")

    def __setstate__(self, state):
        """Takes over attributes, those of older files too; subclasses of programs' own extend it."""
        self.__dict__.update(state)
        self.__dict__.setdefault("_hooks", defaultdict(OrderedDict))
        for group in self.param_groups:
            for name, default in self.defaults.items():
                if name not in group and default is not required:
                    group[name] = self._LATER_OPTIONS.get(name, default)
            for p in group["params"]:
                for name in self._LATER_TENSORS:
                    if isinstance(self.state.get(p, {}).get(name), (int, float)):
                        self.state[p][name] = weir.tensor(float(self.state[p][name]), dtype=weir.float32)

    def add_param_group(self, param_group: dict) -> None:
        """Adds parameters with options of their own. Raises ValueError when one is already in a group."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors "
                            "in sets will change between runs. Please use a list instead.")
        params = [params] if isinstance(params, Tensor) else list(params)
        params = self._without_names(params, param_group)
        param_group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + weir.typename(p))
            if not (self.defaults.get("differentiable") or p.is_leaf):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len({id(p) for p in params}) != len(params):
            import warnings
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
                          "error; see github.com/pytorch/pytorch/issues/40967 for more information", stacklevel=3)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _without_names(self, params, group):
        """The parameters of (name, parameter) pairs, whose names go into the group. ValueError where only some have names."""
        named = [isinstance(p, tuple) for p in params]
        if any(named) and not all(named):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if any(named):
            group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        before = self.param_groups[0] if self.param_groups else None
        if before is not None and ("param_names" in before) != ("param_names" in group):
            has, lacks = ("with", "without") if "param_names" in group else ("without", "with")
            raise ValueError("all optimizer param groups should be with/without names. cannot add param group "
                             f"{has} names to the optimizer {lacks} names")
        return params

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of all parameters, or zeroes them in place."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if set_to_none:
                    p.grad = None
                else:
                    p.grad = weir.zeros_like(p.grad)

    @_hooked
    def step(self, closure=None):
        """Updates every parameter that has a gradient. `closure` recomputes and returns the loss, which is returned."""
        return self._step(closure)

    def _patch_step_function(self):
        """Hooks for a class with a `step` of its own. Optimizers around others, which do not call __init__, call this."""
        self.__dict__.setdefault("_hooks", defaultdict(OrderedDict))
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            kind.step = _hooked(kind.step)

    def _step(self, closure=None):
        loss = None
        if closure is not None:
            with weir.enable_grad():
                loss = closure()
        for group in self.param_groups:
            params = weir._C._with_gradients(group["params"])
            if params and group.get("capturable"):
                raise AssertionError("If capturable=True, params and state must be on an accelerator, and there is none.")
            if group.get("fused") and not all(p.is_floating_point() and not p.is_meta for p in params):
                raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of supported devices: ['cpu']")
            # Source: PyTorch, which records by what the optimizer was made with: options that it loads do not change that.
            with weir.set_grad_enabled(bool(group.get("differentiable") and self.defaults.get("differentiable"))):
                (self._step_differentiably if group.get("differentiable") else self._step_group)(params, group)
        return loss

    #: Whether gradients reach a learning rate that is a tensor, with differentiable=True.
    _differentiable_rate = False

    def _step_differentiably(self, params, group) -> None:
        """The update as part of the graph: state is made anew, so that what earlier steps saved stays."""
        lr = group.get("lr")
        if isinstance(lr, Tensor) and lr.requires_grad and not self._differentiable_rate:
            raise TypeError(f"{type(self).__name__}: the learning rate must be a number, or a tensor that does not require grad")
        for p in params:
            state = self.state[p]
            state.update({name: value.clone() for name, value in state.items() if isinstance(value, Tensor)})
            update = self._update_parts if p.is_complex() and not self._takes_complex else self._update
            update(p, -p.grad if group.get("maximize") else p.grad, state, group)

    def _step_group(self, params, group) -> None:
        """Updates the parameters of one group."""
        if self._sparse_gradients:
            params = self._step_sparse(params, group)
        if group.get("fused") and self._fused_in_single:
            params = step_halves(self, params, group)
        for p in self._update_many(params, group, group["lr"]) if self._op else params:
            update = self._update_parts if p.is_complex() and not self._takes_complex else self._update
            update(p, -p.grad if group.get("maximize") else p.grad, self.state[p], group)
            if not self.state[p]:
                del self.state[p]  # what needs none has no entry

    #: Whether fused=True means more digits beside half precision.
    _fused_in_single = False

    #: Set with the first sparse tensor: gradients may then be sparse.
    _sparse_gradients = False

    def _step_sparse(self, params, group) -> list:
        """Updates the parameters with sparse gradients; returns the others. RuntimeError where the optimizer has no such update."""
        sparse = [p for p in params if p.grad.is_sparse]
        for p in sparse:
            self._update_sparse(p, -p.grad if group.get("maximize") else p.grad, self.state[p], group)
        return [p for p in params if not p.grad.is_sparse] if sparse else params

    def _update_sparse(self, p, grad, state, group) -> None:
        """Updates one parameter in place from a sparse gradient."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    #: The op of the core that updates many parameters in one call: in eager mode and in traced steps. None: there is none.
    _op = None

    def _op_arguments(self, group) -> tuple[tuple, dict]:
        """The names of the state that the op takes, in its order, and its options."""
        raise NotImplementedError

    def _start(self, p, state, group) -> None:
        """Makes the state of a parameter where it is not there yet."""

    def _begin(self, p, group) -> None:
        """`_start`, of a complex parameter as `_update` is called."""
        if p.is_complex() and not self._takes_complex:
            self._on_parts(self.state[p], p, lambda parts: self._start(as_parts(p), parts, group))
        else:
            self._start(p, self.state[p], group)

    def _kept(self, names) -> list:
        """Where the op finds those tensors of a parameter, in its order: pairs of {parameter: {name: tensor}} and name."""
        return [(self.state, name) for name in names]

    def _update_many(self, params, group, rate) -> list:
        """One call of the core for all parameters; returns those it does not take. `rate`: a number, or a tensor of one."""
        names, options = self._op_arguments(group)
        if not isinstance(rate, Tensor):
            with paused():
                rate = weir.tensor(float(rate), dtype=weir.float64)
        call = partial(weir._C._optimizer_update, self._op, params, self._kept(names), rate, options)
        lacking, left = call()
        if lacking:
            with paused():
                for i in lacking:
                    self._begin(params[i], group)
            lacking, left = call()
            if lacking:
                held = self.state[params[lacking[0]]]
                wanting = next(name for name in names if held.get(name) is None)
                raise TypeError(f"{type(self).__name__}: expected a tensor as {wanting}, got None") if wanting in held else KeyError(wanting)
        return [params[i] for i in left]

    #: Whether `_update` can be traced, which takes the rate and the step count as tensors then. What has an op can be.
    _traces = False

    def _traced_group(self, params, group, rate) -> None:
        """The update as ops that a trace records; `rate` is a tensor, so that it may change without a new trace."""
        if group.get("fused") and self._fused_in_single:
            params = step_halves(self, params, {**group, "lr": rate, "differentiable": False})
        for p in self._update_many(params, group, rate) if self._op else params:
            with paused():
                self._begin(p, group)
            update = self._update_parts if p.is_complex() and not self._takes_complex else self._update
            update(p, -p.grad if group.get("maximize") else p.grad, self.state[p], {**group, "lr": rate, "differentiable": False})

    #: Whether `_update` takes complex parameters itself; else their parts are updated as real numbers, as in PyTorch.
    _takes_complex = False

    def _update_parts(self, p, grad, state, group) -> None:
        """Updates a complex parameter as the real tensor of its parts, with its state seen likewise."""
        self._on_parts(state, p, lambda parts: self._update(as_parts(p), as_parts(grad), parts, group))

    @staticmethod
    def _on_parts(state, p, function) -> None:
        """Calls `function` with the state seen as the parts of complex tensors; what it puts there becomes complex again."""
        parts = {name: as_parts(value) for name, value in state.items()}
        before = dict(parts)
        function(parts)
        for name, value in parts.items():
            if value is not before.get(name):
                paired = isinstance(value, Tensor) and value.shape == (*p.shape, 2)
                state[name] = weir.view_as_complex(value) if paired else value

    def _update(self, p, grad, state, group) -> None:
        """Updates one parameter in place."""
        raise NotImplementedError

    @staticmethod
    def profile_hook_step(func):
        """Kept for PyTorch's interface: returns `func`."""
        return func

    def state_dict(self) -> dict:
        """State by position and groups with positions for parameters; tensors are shared, not copied."""
        for hook in self._hooks["state_dict_pre"].values():
            hook(self)
        order = {id(p): i for i, p in enumerate(chain(*(g["params"] for g in self.param_groups)))}
        groups = [{**{k: v for k, v in group.items() if k != "params"},
                   "params": [order[id(p)] for p in group["params"]]} for group in self.param_groups]
        state = {order[id(p)] if isinstance(p, Tensor) else p: value for p, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._hooks["state_dict_post"].values():
            replaced = hook(self, result)
            result = result if replaced is None else replaced
        return result

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over state and options; tensors are shared with `state_dict`, not copied. Raises ValueError when the groups do not match."""
        state_dict = dict(state_dict)
        for hook in self._hooks["load_pre"].values():
            replaced = hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        own, saved = self.param_groups, deepcopy(state_dict["param_groups"])
        if len(own) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(own, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        positions = chain(*(g["params"] for g in saved))
        by_position = dict(zip(positions, chain(*(g["params"] for g in own))))
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            p = by_position.get(key)
            state[key if p is None else p] = value if p is None else _cast(p, value)
        names = [{"param_names": old["param_names"]} if "param_names" in old else {} for old in own]
        self.__setstate__({"state": state, "param_groups": [{**name, **new, "params": old["params"]} for name, old, new in zip(names, own, saved)]})
        for hook in self._hooks["load_post"].values():
            hook(self)

    def register_step_pre_hook(self, hook):
        """`hook(optimizer, args, kwargs)` runs before each step."""
        return add_hook(self._hooks["pre"], hook)

    def register_step_post_hook(self, hook):
        """`hook(optimizer, args, kwargs)` runs after each step."""
        return add_hook(self._hooks["post"], hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """`hook(optimizer)` runs before state_dict."""
        return add_hook(self._hooks["state_dict_pre"], hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """`hook(optimizer, state_dict)` may replace the state_dict."""
        return add_hook(self._hooks["state_dict_post"], hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """`hook(optimizer, state_dict)` may replace what is loaded."""
        return add_hook(self._hooks["load_pre"], hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """`hook(optimizer)` runs after loading."""
        return add_hook(self._hooks["load_post"], hook, prepend=prepend)


def _cast(p, value, key=None):
    """State as the parameter wants it: its dtype for floating tensors, but `step` stays as it is. Tensors are shared where nothing changes."""
    if isinstance(value, Tensor):
        return value.to(p.dtype) if key != "step" and p.is_floating_point() else value
    if isinstance(value, dict):
        return {k: _cast(p, v, k) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(_cast(p, v) for v in value)
    return value


def check(**ranges) -> None:
    """Raises ValueError for an option below 0: `check(lr=..., eps=...)` under PyTorch's words."""
    words = {"lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value",
             "momentum": "momentum value", "rho": "rho value", "alpha": "alpha value", "lr_decay": "lr_decay value",
             "initial_accumulator_value": "initial_accumulator_value value",
             "momentum_decay": "momentum_decay value"}
    for name, value in ranges.items():
        if name == "lr" and isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not value >= 0.0:
            raise ValueError(f"Invalid {words[name]}: {value}")


def check_betas(betas) -> None:
    """Raises ValueError unless both betas lie in [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def rate_of(group):
    """The learning rate: a number, or a tensor where a differentiable step has a gradient for it or a trace goes on."""
    lr = group["lr"]
    if not isinstance(lr, Tensor):
        return float(lr)
    if weir._C._is_tracing():
        return rate_tensor(group)
    return lr if group.get("differentiable") and lr.requires_grad else float(lr)


def times(a, x):
    """a x for a number, or for a tensor without axes that stands for one: it decides no dtype and is as exact as a number."""
    return (a * _exact(x, a)).to(a.dtype) if _stands_for_number(x) else a * x


def over(a, x):
    """a / x, as `times`."""
    return (a / _exact(x, a)).to(a.dtype) if _stands_for_number(x) else a / x


def _stands_for_number(x) -> bool:
    return isinstance(x, Tensor) and not x.requires_grad


def _exact(x, a):
    """The number as kernels of a's dtype take one."""
    return x.to(weir.float64 if a.dtype in (weir.float64, weir.complex128) else weir.float32)


def move(p, direction, rate) -> None:
    """p -= rate direction, in place."""
    if not isinstance(rate, Tensor):
        p.add_(direction, alpha=-rate)
    elif rate.requires_grad:
        p.sub_(direction * rate)
    else:  # rounds the rate, and then once, as the line for numbers does
        p.addcmul_(direction, _exact(-rate, p).to(p.dtype) if wider(p) is not p else _exact(-rate, p))


def quotient(p, numerator, denominator, rate) -> None:
    """p -= rate numerator / denominator, in place. Of halves too, no step of it leaves float32."""
    if not isinstance(rate, Tensor):
        p.addcdiv_(numerator, denominator, value=-rate)
    elif rate.requires_grad:
        p.sub_(numerator / denominator * rate)
    else:
        p.copy_(wider(p) + times(wider(numerator) / wider(denominator), -rate))


def wider(x):
    """x, of halves in float32."""
    return x.float() if x.dtype in (weir.float16, weir.bfloat16) else x


def shrink(p, factor) -> None:
    """p *= factor, in place."""
    p.copy_(times(p.clone(), factor)) if isinstance(factor, Tensor) else p.mul_(factor)


def as_parts(x):
    """A complex tensor as its parts, which share its memory; anything else as it is."""
    return weir.view_as_real(x) if isinstance(x, Tensor) and x.is_complex() else x


def decayed(grad, p, weight_decay):
    """grad + weight_decay p."""
    return grad.add(p, alpha=weight_decay) if weight_decay else grad


def rate_tensor(group) -> Tensor:
    """The learning rate of a group as a float64 tensor without axes, for an update that reads no value."""
    rate = group["lr"]
    return rate.detach().double().reshape(()) if isinstance(rate, Tensor) else weir.tensor(float(rate), dtype=weir.float64)


def next_step(state):
    """Counts a step in state["step"] (a float32 scalar, as in PyTorch) and returns the count: in a trace as a float64 tensor."""
    if "step" not in state:
        state["step"] = weir.tensor(0.0, dtype=weir.float32)
    state["step"] += 1
    return value_of(state["step"])


def value_of(scalar):
    """A scalar of the state as a number; in a trace, which reads none, as a float64 tensor without axes."""
    return scalar.to(weir.float64, copy=True) if weir._C._is_tracing() else scalar.item()
