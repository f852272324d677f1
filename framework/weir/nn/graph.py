"""nn.Graph: code written in eager mode, run as a static program. Source of the interface: OneFlow's nn.Graph.

    class Train(nn.Graph):
        def __init__(self, model, optimizer, schedule):
            super().__init__()
            self.model = model
            self.add_optimizer(optimizer, lr_sch=schedule)

        def build(self, x, y):
            loss = functional.cross_entropy(self.model(x), y)
            loss.backward()
            return loss

    step = Train(model, optimizer, schedule)
    loss = step(x, y)          # the first call traces; the others run the plan

The gradients of a step are the graph's own: optimizers added to it need no zero_grad, and their parameters' `.grad` is left
alone. Randomness draws from the default generator in eager's order, so the numbers are eager's.

A number that an op takes from a tensor among the arguments (`x.narrow(0, start, 2)`) is part of what a plan is made for, and so is the place
of an argument in its memory where `as_strided` asks for it: another one makes another plan. No other value can be read while a graph is traced.
"""

import json
from collections import OrderedDict

import weir
from weir import _C
from weir._graph_config import GraphConfig as GraphConfig
from weir._prefetch import prefetch as prefetch
from weir._trace import ModuleGuard, Structure, modes, tracing

Untraceable, DynamicShape = _C._Untraceable, _C._DynamicShape  # what cannot be traced: RuntimeErrors that name file and line
_MOST_PLANS = 16  # least recently used ones go first
_NOT_CONSTANT = ("params", "lr", "initial_lr")  # of a group's options: those that a plan reads anew, or not at all


class GraphModule:
    """A module inside a graph: the module itself in every respect, with settings of the graph on top."""

    def __init__(self, module):
        self.__dict__["_module"] = module
        self.__dict__["activation_checkpointing"] = False

    def __call__(self, *args, **kwargs):
        if self.activation_checkpointing and weir.is_grad_enabled():
            from weir.utils.checkpoint import checkpoint
            return checkpoint(self._module, *args, **kwargs)
        return self._module(*args, **kwargs)

    def to(self, *args, **kwargs):
        """Given GraphModule, this object; else the module's own `to`."""
        if args and args[0] is GraphModule:
            return self
        self._module.to(*args, **kwargs)
        return self

    @property
    def config(self):
        return self

    def __getattr__(self, name):
        return getattr(self._module, name)

    def __setattr__(self, name, value):
        if name in self.__dict__:
            self.__dict__[name] = value
        else:
            setattr(self._module, name, value)

    def __len__(self):
        return len(self._module)

    def __iter__(self):
        return iter(self._module)

    def __getitem__(self, index):
        return self._module[index]

    def __repr__(self):
        return f"GraphModule({self._module!r})"


class _Step:
    """One plan with what it depends on beyond its key, and how its results are put together. `traced`: before all passes.

    `gradients` and `reshaped` say which results go into the `.grad` of a parameter, and which an argument is to become.
    """

    def __init__(self, traced, taken, whole, results, guard, gradients, reshaped, config, freeze):
        self.traced, self.taken, self.whole = traced, taken, whole
        self.plan = _C._Plan(traced, add_to_output=config.fusions["add_to_output"], cast_scale=config.fusions["cast_scale"],
                             freeze_weights=freeze, memory_budget=None if config.memory_budget == "auto" else config.memory_budget,
                             saves_memory=config.memory_budget == "auto")
        self.results, self.guard, self.gradients, self.reshaped = results, guard, gradients, reshaped


class Graph:
    """Subclass it, write `build`, call it. See the module's docstring."""

    def __init__(self):
        d = self.__dict__
        d["config"] = GraphConfig()
        d["_modules"] = OrderedDict()
        d["_optimizers"] = []      # pairs (optimizer, schedule or None)
        d["_rates"] = {}           # by (optimizer, group) position: the rate as a tensor that plans read
        d["_plans"] = OrderedDict()
        d["_needs"] = {}           # by kind of call: where in the arguments plans took numbers from, and whether they know these' places in memory
        d["_debug_level"] = -1
        d["name"] = type(self).__name__
        d["training"] = True
        d["traces"] = []           # why each trace was made

    def build(self, *args, **kwargs):
        """The program: forward, and for training the backward call. Runs once per plan."""
        raise NotImplementedError(f"{type(self).__name__}.build is not written")

    def __setattr__(self, name, value):
        if isinstance(value, (weir.nn.Module, GraphModule)):
            if "_modules" not in self.__dict__:
                raise AttributeError("cannot assign a module before Graph.__init__() call")
            self._modules[name] = value if isinstance(value, GraphModule) else GraphModule(value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name):
        modules = self.__dict__.get("_modules", {})
        if name in modules:
            return modules[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def add_optimizer(self, optim, *, lr_sch=None):
        """After build, `optim` updates the parameters that got a gradient; then `lr_sch` moves on by one step."""
        if not isinstance(optim, weir.optim.Optimizer):
            raise TypeError(f"add_optimizer: expected an Optimizer, got {weir.typename(optim)}")
        if lr_sch is not None and not hasattr(lr_sch, "step"):
            raise TypeError(f"add_optimizer: expected a learning rate schedule, got {weir.typename(lr_sch)}")
        own = any(getattr(type(optim), name) is not getattr(weir.optim.Optimizer, name) for name in ("step", "_step", "_step_group"))
        if not (optim._op or optim._traces) or own:
            raise NotImplementedError(f"nn.Graph: {type(optim).__name__} has no traced step: it reads values, needs a closure, or is a program of its own")
        _refuse_hooks(optim)
        self._optimizers.append((optim, lr_sch))

    # ---- running --------------------------------------------------------------------------------------------------
    def __call__(self, *args, **kwargs):
        given = Structure((args, kwargs))
        self._set_rates()
        step = self._plan_for(given)
        results = step.plan.run(given.tensors)
        if self._optimizers:
            _C._clear_autocast_cache()
        for p, i in step.gradients:
            _accumulate(p, results[i])
        if step.reshaped:
            results = self._reshape(given.tensors, step, results)
        for optim, schedule in self._optimizers:
            if schedule is not None:
                optim._opt_called = True  # by the plan
                schedule.step()
        return step.results.build(results)

    @staticmethod
    def _reshape(arguments, step, results):
        """Gives arguments the shape that the program gave them; results that are an argument's new memory are that argument's."""
        memory = {}
        for i, k in step.reshaped:
            fresh = results[k]
            _C._reshape_as(arguments[i], fresh)
            memory[fresh._storage_ptr()] = arguments[i]
        shown = []
        for r in results:
            owner = memory.get(r._storage_ptr()) if r is not None else None
            shown.append(r if owner is None or owner._storage_ptr() == r._storage_ptr()
                         else owner.detach().as_strided(r.shape, r.stride(), owner.storage_offset() + r.storage_offset()))
        return shown

    def _plan_for(self, given):
        kind = (given.key, _C._arguments_key(given.tensors), modes(), self.config._key())
        key = (kind, self._facts(kind, given))
        step = self._plans.get(key)
        change = step and (step.guard.change() or ("a frozen weight was written" if step.plan.stale else None))
        if step is None or change:
            reason = change or ("the first call" if not self._plans else "arguments, modes or options of a new kind" if kind not in self._needs
                                else "another number or place of an argument")
            self._plans.pop(key, None)
            step = self._trace(given, reason, self._needs.get(kind, (None, False))[1])
            step.kept = given.kept
            if step.taken or step.whole:
                taken, whole = self._needs.get(kind, ((), step.whole))
                self._needs[kind] = sorted({*(taken if whole == step.whole else ()), *step.taken}), step.whole
            self._plans[kind, self._facts(kind, given)] = step
            if len(self._plans) > _MOST_PLANS:
                (gone, _), _ = self._plans.popitem(last=False)
                if all(gone != of for of, _ in self._plans):
                    self._needs.pop(gone, None)
        else:
            self._plans.move_to_end(key)
        return step

    def _facts(self, kind, given):
        return _C._facts_of(*self._needs[kind], given.tensors) if kind in self._needs else b""

    def _set_rates(self):
        for i, (optimizer, _) in enumerate(self._optimizers):
            _refuse_hooks(optimizer)
            for j, group in enumerate(optimizer.param_groups):
                rate = group["lr"]
                if isinstance(rate, weir.Tensor):
                    self._rates[i, j] = (None, rate)
                    continue
                known = self._rates.get((i, j))
                if known is None or known[0] is None:
                    self._rates[i, j] = (rate, weir.tensor(float(rate), dtype=weir.float64))
                elif known[0] != rate:
                    known[1].fill_(rate)
                    self._rates[i, j] = (rate, known[1])

    def compile(self, *args, **kwargs):
        """Makes the plan for these arguments without running it."""
        self._set_rates()
        self._plan_for(Structure((args, kwargs)))

    # ---- tracing --------------------------------------------------------------------------------------------------
    def _all_modules(self):
        return [(name, m._module) for name, m in self._modules.items()]

    def _trace(self, given, reason, whole):
        modules = self._all_modules()
        parameters = [p for _, m in modules for p in m.parameters()]
        parameters += [p for o, _ in self._optimizers for g in o.param_groups for p in g["params"]]
        before = {id(p): (p, p.grad) for p in parameters}
        try:
            for p, _ in before.values():
                p.grad = None
            with tracing(modules) as trace:
                stand_ins = trace.arguments(given.tensors, True, whole)
                for i, t in enumerate(given.tensors):
                    if t.requires_grad:  # a view is cast anew by each op under autocast, another leaf once
                        stand_ins[i] = (stand_ins[i].expand_as(stand_ins[i]) if t._base is not None else stand_ins[i]).requires_grad_()
                args, kwargs = given.build(stand_ins)
                results = Structure(self._run_build(args, kwargs))
                self._update_parameters()
                stepped = {id(p) for o, _ in self._optimizers for g in o.param_groups for p in g["params"]}
                left = [(p, p.grad) for p, _ in before.values() if p.grad is not None and id(p) not in stepped]
                reshaped = trace.reshaped()
                graph = trace.finish(results.tensors + [g for _, g in left] + [stand_ins[i] for i in reshaped], True)
        except Untraceable:
            if not trace.asked_place():
                raise
        finally:
            for p, grad in before.values():
                p.grad = grad
        if trace.asked_place():  # where the arguments lie has to be known
            return self._trace(given, reason, True)
        first = len(results.tensors)
        guard = _Guard([m for _, m in modules], [o for o, _ in self._optimizers])
        self.traces.append(reason)
        step = _Step(graph, trace.taken(), whole, results, guard, [(p, first + i) for i, (p, _) in enumerate(left)],
                     [(i, first + len(left) + k) for k, i in enumerate(reshaped)], self.config,
                     self.config.frozen_weights and not self._optimizers)
        if self._debug_level >= 0:
            print(f"{self.name}: traced {len(graph)} nodes, {step.plan.arena_bytes} bytes, because of {reason}")
        if self._debug_level >= 1:
            print(graph)
        return step

    def _run_build(self, args, kwargs):
        parts = self.config.gradient_accumulation_steps
        with weir.autocast("cpu", dtype=self.config.amp_dtype, enabled=self.config.amp):
            if parts == 1:
                return self.build(*args, **kwargs)
            whole = Structure((args, kwargs))
            results = []
            for i in range(parts):
                a, k = whole.build([_part(t, i, parts) for t in whole.tensors])
                results.append(Structure(self.build(*a, **k)))
        for optimizer, _ in self._optimizers:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad = p.grad / parts
        joined = [weir.stack(ts) if ts[0].ndim == 0 else weir.cat(ts) for ts in zip(*(r.tensors for r in results))]
        return results[0].build(joined)

    def _update_parameters(self):
        with weir.no_grad():
            for i, (optimizer, _) in enumerate(self._optimizers):
                for j, group in enumerate(optimizer.param_groups):
                    params = [p for p in group["params"] if p.grad is not None]
                    together = [params] if self.config.fusions["model_update_ops"] else [[p] for p in params]
                    for some in together:
                        optimizer._traced_group(some, group, self._rates[i, j][1])

    # ---- state ----------------------------------------------------------------------------------------------------
    def state_dict(self):
        """Modules, optimizers, schedules and the random state: with it a program goes on bit for bit."""
        return OrderedDict(
            modules=OrderedDict((name, m.state_dict()) for name, m in self._all_modules()),
            optimizers=[o.state_dict() for o, _ in self._optimizers],
            lr_schedulers=[None if s is None else s.state_dict() for _, s in self._optimizers],
            random=weir.get_rng_state())

    def load_state_dict(self, state_dict, *, strict=True):
        """Takes over what state_dict returned. Raises where modules or optimizers are others."""
        own = dict(self._all_modules())
        if strict and set(own) != set(state_dict["modules"]):
            raise RuntimeError(f"load_state_dict: expected modules {sorted(own)}, got {sorted(state_dict['modules'])}")
        if len(self._optimizers) != len(state_dict["optimizers"]):
            raise ValueError(f"load_state_dict: expected {len(self._optimizers)} optimizers, got {len(state_dict['optimizers'])}")
        for name, state in state_dict["modules"].items():
            if name in own:
                own[name].load_state_dict(state, strict=strict)
        for (optimizer, schedule), o, s in zip(self._optimizers, state_dict["optimizers"], state_dict["lr_schedulers"]):
            optimizer.load_state_dict(o)
            if schedule is not None and s is not None:
                schedule.load_state_dict(s)
        weir.set_rng_state(state_dict["random"])

    def save(self, path, *args, **kwargs):
        """Writes the program for such arguments, with its weights, as a file that `load`, `weir-run` and C++ read."""
        self._set_rates()
        given = Structure((args, kwargs))
        step = self._plan_for(given)
        if step.taken or step.whole:
            raise RuntimeError("save: the program takes numbers from its arguments, or asks for their places in memory, which a file would hold as constants")
        if step.reshaped:
            raise RuntimeError("save: the program gives an argument another shape, which a file cannot say")
        if step.gradients:
            raise RuntimeError("save: gradients for .grad have no place in a file: add an optimizer, or leave backward out")
        step.traced.save(str(path), json.dumps({"arguments": given.plain(), "results": step.results.plain()}))

    # ---- to look at -----------------------------------------------------------------------------------------------
    def debug(self, v_level=0, **_):
        """-1: silent. 0: a line for each trace. 1: every node of it, with its Python line and module."""
        self.__dict__["_debug_level"] = v_level

    @property
    def plans(self):
        """The plans made so far, least recently used first."""
        return [step.plan for step in self._plans.values()]

    @property
    def num_plans(self):
        return len(self._plans)

    def train(self, mode=True):
        for _, m in self._all_modules():
            m.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def __repr__(self):
        lines = [f"{self.name}({self.config!r}"]
        lines += [f"  ({name}): {m!r}".replace("\n", "\n  ") for name, m in self._all_modules()]
        lines += [f"  optimizer {o!r}".replace("\n", "\n  ") + (f" with {type(s).__name__}" if s is not None else "")
                  for o, s in self._optimizers]
        for reason, step in zip(self.traces[-len(self._plans):], self._plans.values()):
            lines += [f"  plan of {len(step.plan.graph)} nodes, arena {step.plan.arena_bytes} bytes, traced because of {reason}"]
        if self._debug_level >= 1:
            lines += ["  " + str(step.plan.graph).replace("\n", "\n  ") for step in self._plans.values()]
        return "\n".join(lines) + ")"


class LoadedGraph:
    """A program from a file. Called with arguments nested as those it was saved with, of the same shapes and dtypes."""

    def __init__(self, path):
        self._model = _C._Model(str(path))
        structure = json.loads(self._model.structure)
        self._arguments = Structure.from_plain(structure["arguments"])
        self._results = Structure.from_plain(structure["results"])

    def __call__(self, *args, **kwargs):
        given = Structure((args, kwargs))
        if given.plain() != self._arguments.plain():
            raise ValueError(f"a loaded graph: expected arguments like {self._arguments.plain()}, got {given.plain()}")
        return self._results.build(self._model.run(given.tensors))

    @property
    def graph(self):
        return self._model.graph


def load(path):
    """The program that Graph.save wrote. ValueError for what is no such file. Nothing in a file is executed."""
    return LoadedGraph(path)


class _Guard(ModuleGuard):
    """As ModuleGuard, and the optimizers' state by identity and their options, but for the rates, by value."""

    def __init__(self, modules, optimizers):
        self._optimizers = list(optimizers)
        super().__init__(modules)
        self._states = [(self._state(o), self._options(o)) for o in optimizers]
        self._held = [v for o in optimizers for state in o.state.values() for v in state.values()]

    @staticmethod
    def _state(optimizer):
        return tuple((id(p), k, id(v)) for p, state in optimizer.state.items() for k, v in state.items())

    @staticmethod
    def _options(optimizer):
        return tuple((k, repr(v)) for group in optimizer.param_groups for k, v in group.items() if k not in _NOT_CONSTANT)

    def _watched(self, watch):
        for optimizer in self._optimizers:
            for name in ("state", "param_groups"):
                watch.attribute(optimizer, name)
            watch.dict(optimizer.state)
            for state in optimizer.state.values():
                watch.dict(state)
            watch.list(optimizer.param_groups)
            for group in optimizer.param_groups:
                watch.list(group["params"])
                for name in group:
                    if name not in _NOT_CONSTANT:
                        watch.entry(group, name)
        return super()._watched(watch)

    def _slow_change(self):
        for optimizer, (state, options) in zip(self._optimizers, self._states):
            if self._state(optimizer) != state:
                return f"the state of {type(optimizer).__name__} is held by other tensors"
            if self._options(optimizer) != options:
                return f"options of {type(optimizer).__name__} changed"
        return super()._slow_change()


def _refuse_hooks(optimizer):
    """A step hook is Python, which runs while a plan is traced and not in its runs."""
    if optimizer._hooks["pre"] or optimizer._hooks["post"]:
        raise NotImplementedError(f"nn.Graph: {type(optimizer).__name__} has step hooks, which no plan runs: call them around the graph")


def _part(t, i, parts):
    if t.ndim == 0 or t.shape[0] % parts:
        raise ValueError(f"gradient accumulation: an argument of shape {tuple(t.shape)} has no {parts} equal parts along dim 0")
    size = t.shape[0] // parts
    return t[i * size:(i + 1) * size]


def _accumulate(p, grad):
    p.grad = grad if p.grad is None else p.grad + grad
