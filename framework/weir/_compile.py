"""`compile`: a function or module that runs as traced plans, and in eager mode, with a named reason, where it cannot.

A plan is made per kind of call: shapes, dtypes, layouts, values that are no tensors, modes, and whatever plain state of
modules, closures and globals the code can reach. Where gradients are wanted a call is two plans, forward and backward, and
one node on the tape. Nothing is guessed: what a trace cannot hold falls back to eager mode.
"""

import builtins
import functools
import random
import types
import warnings

import weir
from weir import _C
from weir._lazy import np
from weir._trace import ModuleGuard, PythonState, Structure, _simple, modes, tracing
from weir.nn import Module

_MOST_PLANS = 32
_PACKAGE = weir.__name__


class _Refused(Exception):
    """Why a call cannot run as a plan."""


class OptimizedModule(Module):
    """What `compile` makes of a module: the module under the name `_orig_mod`, also in `state_dict`, as in PyTorch."""

    def __init__(self, module, compiled):
        super().__init__()
        self._orig_mod = module
        self.training = module.training
        self.__dict__["_compiled"] = compiled

    def forward(self, *args, **kwargs):
        return self._compiled(*args, **kwargs)

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


class Reach:
    """The plain values, tensors and modules that a function or module can reach, and whether they are as they were."""

    _DEPTH = 6

    def __init__(self, root):
        self._root = root
        self._gather()

    def _gather(self):
        self.modules, self.tensors, self._seen, self._held = [], [], set(), []
        self._watch = _C._Watch()
        self._facts = self._of(self._root, 0)
        self._guard = ModuleGuard(self.modules)
        self._memory = [ModuleGuard._place(t) for t in self.tensors]

    def change(self):
        """None, or in words what is not as it was."""
        if change := self._guard.change():
            return change
        if self._watch is not None and self._watch.same():
            return None
        self._watch = _C._Watch()
        change = self._slow_change()
        if change:
            self._watch = None
        return change

    def _slow_change(self):
        before, modules, tensors, memory = self._facts, self.modules, self.tensors, self._memory
        self.modules, self.tensors, self._seen = [], [], set()
        now = self._of(self._root, 0)
        same = len(tensors) == len(self.tensors) and all(a is b for a, b in zip(tensors, self.tensors))
        self.modules, self.tensors = modules, tensors
        if now != before:
            return "a global, a closure variable or an attribute changed" + _first_difference(before, now)
        if not same or [ModuleGuard._place(t) for t in tensors] != memory:
            return "a tensor that the function reaches was replaced"
        return None

    def _of(self, value, depth):
        if _simple(value):
            return ("float", value.hex()) if isinstance(value, float) else (type(value).__name__, value)
        if isinstance(value, weir.Tensor):
            self.tensors.append(value)
            self._watching("tensor", value)
            return ("tensor",)
        if id(value) in self._seen or depth > self._DEPTH:
            return ("again", id(value))
        if isinstance(value, (list, tuple, set, frozenset)) and len(value) <= 64:
            self._note(value)
            if type(value) is list:
                self._watching("list", value)
            elif isinstance(value, (list, set)):
                self._watch = None  # it has no places to watch: every call looks closer
            return (type(value).__name__, tuple(self._of(v, depth + 1) for v in value))
        if isinstance(value, dict) and len(value) <= 64:
            self._note(value)
            self._watching("dict", value)
            return ("dict", tuple((repr(k), self._of(v, depth + 1)) for k, v in value.items()))
        if isinstance(value, (list, tuple, set, frozenset, dict)):
            self._watch = None
            return ("large", id(value), len(value))
        if isinstance(value, Module):
            self._note(value)
            self.modules.append(value)
            rest = [(k, self._of(v, depth + 1)) for m in value.modules() for k, v in m.__dict__.items()
                    if not k.startswith("_") and not _simple(v) and not isinstance(v, types.FunctionType)]
            return ("module", id(value), tuple(rest), self._classes(value, depth))
        if isinstance(value, types.MethodType):
            return ("method", self._of(value.__func__, depth), self._of(value.__self__, depth + 1))
        if isinstance(value, functools.partial):
            return ("partial", self._of(value.func, depth + 1), self._of(value.args, depth + 1), self._of(value.keywords, depth + 1))
        if isinstance(value, types.FunctionType):
            return self._function(value, depth)
        return ("object", id(value), self._plain(value))

    def _watching(self, what, *values):
        if self._watch is not None:
            getattr(self._watch, what)(*values)

    def _note(self, value):
        self._seen.add(id(value))
        self._held.append(value)

    def _plain(self, value):
        state = getattr(value, "__dict__", None)
        if not isinstance(state, dict) or isinstance(value, (types.ModuleType, type)):
            return None
        self._watching("dict", state)
        return tuple((k, v) for k, v in state.items() if _simple(v))

    def _function(self, f, depth):
        if (f.__module__ or "").split(".")[0] in (_PACKAGE, "torch"):
            return ("own", id(f))
        self._note(f)
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._watching("attribute", f, name)
        cells = []
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            self._watching("cell", cell)
            try:
                cells.append((name, self._of(cell.cell_contents, depth + 1)))
            except ValueError:  # not filled yet
                cells.append((name, None))
        for n in _names(f.__code__):
            self._watching("entry", f.__globals__, n)
        names = tuple((n, self._of(f.__globals__[n], depth + 1)) for n in _names(f.__code__) if n in f.__globals__
                      and not isinstance(f.__globals__[n], (types.ModuleType, type)))
        return ("function", id(f.__code__), tuple(cells), names, self._of(f.__defaults__, depth + 1), self._of(f.__kwdefaults__, depth + 1))

    def _classes(self, module, depth):
        facts = []
        for cls in {type(m): None for m in module.modules()}:
            for base in cls.__mro__:
                if base.__module__.split(".")[0] in (_PACKAGE, "torch", "builtins") or id(base) in self._seen:
                    continue
                self._note(base)
                self._watching("type", base)
                facts += [(k, self._of(v, depth + 1)) for k, v in vars(base).items()
                          if isinstance(v, (types.FunctionType, list, dict)) or (_simple(v) and not k.startswith("__"))]
        return tuple(facts)


def _names(code):
    found = list(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            found += _names(c)
    return found


def _first_difference(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        for x, y in zip(a, b):
            if x != y:
                return _first_difference(x, y)
    return f": {str(a)[:60]} became {str(b)[:60]}"


class _Quiet:
    """While a trace is made: notes calls of print, and puts back what a trace that failed has changed."""

    def __init__(self, modules):
        self._states = [(m, {k: v for k, v in m.__dict__.items() if _simple(v)}) for root in modules for m in root.modules()]
        self._random, self._numpy = random.getstate(), np.random.get_state()
        self.printed = False

    def __enter__(self):
        self._print = builtins.print

        def note(*args, **kwargs):
            self.printed = True
        builtins.print = note
        return self

    def __exit__(self, *exception):
        builtins.print = self._print

    def put_back(self):
        for module, state in self._states:
            for k in [k for k, v in module.__dict__.items() if _simple(v) and k not in state]:
                del module.__dict__[k]
            module.__dict__.update(state)
        random.setstate(self._random)
        np.random.set_state(self._numpy)


def _leaves(outputs):
    """The leaves that the outputs' histories end in. Refuses histories that began before the trace."""
    seen, leaves, stack = set(), [], [o.grad_fn for o in outputs]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        stack += [n for n, _ in node.next_functions]
    return leaves, min((n._sequence_nr() for n in seen if not hasattr(n, "variable")), default=None)


class _Inference:
    """A plan whose results have no history."""

    def __init__(self, graph, results):
        self.plan, self.results = _C._Plan(graph), results

    def run(self, given):
        return self.results.build(self.plan.run(given.tensors))


class _Training:
    """A forward and a backward plan. `leaves` are what gradients flow to: positions of arguments, or tensors."""

    def __init__(self, graph, at, results, differentiable, leaves, given):
        forward, backward, self.num_saved, self.used, self.externals = _C._split_graph(graph, at, len(results.tensors), len(given.tensors))
        self.plan, self.backward = _C._Plan(forward), _C._Plan(backward)
        self.results, self.differentiable, self.leaves = results, differentiable, leaves
        self.num_arguments = len(given.tensors)
        self.likes = [weir.empty_like(results.tensors[i], device="meta") for i in differentiable]

    def run(self, given):
        made = self.plan.run(given.tensors)
        count = len(self.results.tensors)
        results, saved = made[:count], made[count:]
        kept = [(given.tensors[i], given.tensors[i]._version) for i in self.used] + [(t, t._version) for t in saved]
        kept += [(t, t._version) for t in self.externals]
        arguments = [None] * self.num_arguments
        for i in self.used:
            arguments[i] = given.tensors[i]

        def run_backward(node, *grads):
            for t, version in kept:
                if t._version != version:
                    raise RuntimeError("one of the variables needed for gradient computation has been modified by an inplace operation: "
                                       f"a tensor of {t.numel()} elements saved by a compiled function")
            if weir.is_grad_enabled():
                raise RuntimeError("a compiled function has no second derivatives: call the function itself for these")
            cotangents = [_laid_out(g, like) for g, like in zip(grads, self.likes)]
            return tuple(self.backward.run(arguments + saved + cotangents))

        inputs = [given.tensors[x] if isinstance(x, int) else x for x in self.leaves]
        _C._function_node(run_backward, weir.autograd.function.FunctionCtx(), "CompiledFunctionBackward", inputs, [results[i] for i in self.differentiable], [])
        return self.results.build(results)


def _laid_out(grad, like):
    if grad is None:
        return weir.zeros(like.shape, dtype=like.dtype) if like.is_contiguous() else weir.empty_strided(like.shape, like.stride(), dtype=like.dtype).zero_()
    if grad.stride() == like.stride() and not grad.is_conj() and not grad.is_neg():
        return grad
    return weir.empty_strided(like.shape, like.stride(), dtype=like.dtype).copy_(grad)


class Compiled:
    """A function with its plans. `reasons` says why plans were made, `fallbacks` why calls ran in eager mode."""

    def __init__(self, function, fullgraph=False):
        self._function, self._fullgraph = function, fullgraph
        self._plans, self._refused = {}, {}
        self.reasons, self.fallbacks = [], []
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args, **kwargs):
        if _C._is_tracing() or _switched_off:
            return self._function(*args, **kwargs)
        given = Structure((args, kwargs))
        key = (given.key, _C._arguments_key(given.tensors), modes())
        entry = self._plans.get(key)
        if entry is None and key in self._refused:
            return self._function(*args, **kwargs)
        change = entry and entry[1].change()
        if entry is None or change:
            try:
                entry = self._make(given, key, change or ("the first call" if not self._plans else "a call of a new kind"))
            except _Refused as refused:
                return self._fall_back(key, str(refused), args, kwargs)
        return entry[0].run(given)

    def _fall_back(self, key, reason, args, kwargs):
        if self._fullgraph:
            raise RuntimeError(f"compile(fullgraph=True): {self.__name__} cannot run as one plan: {reason}")
        self._plans.pop(key, None)
        self._refused[key] = reason
        if reason not in self.fallbacks:
            self.fallbacks.append(reason)
            warnings.warn(f"compile: {self.__name__} runs in eager mode: {reason}", stacklevel=4)
        return self._function(*args, **kwargs)

    def _make(self, given, key, reason):
        reach = Reach(self._function)
        quiet, state = _Quiet(reach.modules), PythonState()
        try:
            with quiet:
                made = self._trace(given, reach.modules)
            if quiet.printed:
                raise _Refused("it prints")
            if change := state.change() or reach.change():
                raise _Refused(change)
        except _Refused:
            quiet.put_back()
            raise
        except Exception as error:  # whatever the program raises, it raises again in eager mode, or works there
            quiet.put_back()
            raise _Refused(f"{type(error).__name__}: {error}") from error
        self.reasons.append(reason)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.pop(next(iter(self._plans)))
        self._plans[key] = (made, reach, given.kept)
        return self._plans[key]

    def _trace(self, given, modules):
        for t in given.tensors:
            if not t.is_leaf and t._base is not None:
                raise _Refused("an argument is a view with a history")
        with tracing([("", m) for m in modules]) as trace:
            trace.forbid_accumulation()
            stand_ins = trace.arguments(given.tensors)
            versions = [t._version for t in stand_ins]
            for t, s in zip(given.tensors, stand_ins):
                if t.requires_grad:
                    s.requires_grad_()
            first = (weir.ones(1, requires_grad=True) * 1).grad_fn if weir.is_grad_enabled() else None
            args, kwargs = given.build(stand_ins)
            results = Structure(self._function(*args, **kwargs))
            self._check_results(results, stand_ins)
            differentiable = [i for i, t in enumerate(results.tensors) if t.requires_grad]
            if not differentiable:
                return _Inference(trace.finish(results.tensors), results)
            if [t._version for t in stand_ins] != versions:
                raise _Refused("it writes into an argument and needs gradients")
            leaves, oldest = _leaves([results.tensors[i] for i in differentiable])
            if oldest is not None and oldest < first._sequence_nr():
                raise _Refused("it uses a tensor whose history began outside")
            at = len(trace)
            cotangents = [trace.late_argument(results.tensors[i]) for i in differentiable]
            grads = weir.autograd.grad([results.tensors[i] for i in differentiable], leaves, cotangents, allow_unused=True)
            numbers = {id(s): i for i, s in enumerate(stand_ins)}
            graph = trace.finish(results.tensors + list(grads))
        return _Training(graph, at, results, differentiable, [numbers.get(id(x), x) for x in leaves], given)

    @staticmethod
    def _check_results(results, stand_ins):
        if results.kept:
            raise _Refused(f"it returns a {type(results.kept[0]).__name__}")
        for t in results.tensors:
            if t.requires_grad and t.is_leaf:
                raise _Refused("it returns a leaf")
            if any(t is s for s in stand_ins):
                raise _Refused("it returns an argument as it is")
            if t.requires_grad and any(t._storage_ptr() == s._storage_ptr() for s in stand_ins):
                raise _Refused("it returns a view of an argument, with a history")


_switched_off = False


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False):
    """`model`, a function or module, that computes the same as a plan, traced at the first call of each kind.

    Calls that cannot be traced run in eager mode, with one warning per reason; with `fullgraph` they raise RuntimeError.
    `backend="eager"` and `disable` give the function as it is; `dynamic`, `mode` and `options` choose among equal results
    and are not looked at. Raises RuntimeError when both mode and options are given.
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
                                 options=options, disable=disable)
    if isinstance(model, Module):
        return OptimizedModule(model, model if disable or backend == "eager" else Compiled(model, fullgraph))
    if not callable(model):
        raise TypeError(f"torch.compile: expected a function or module, got {weir.typename(model)}")
    compiled = model if disable or backend == "eager" else Compiled(model, fullgraph)

    @functools.wraps(model)
    def run(*args, **kwargs):
        return compiled(*args, **kwargs)
    run._torchdynamo_orig_callable = model
    run._compiled = compiled
    return run


def _disable_dynamo(fn=None, recursive=True):
    """`torch.compiler.disable`."""
    from .compiler import disable
    return disable(fn, recursive)
