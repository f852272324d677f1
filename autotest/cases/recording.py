"""What is recorded for gradients by users' own code: custom Functions, hooks, Parameters; as plain functions of a framework and a plan.

A plan is constants only, so that a call of one travels, is stored and shrinks as the call of an operation does. What a function
returns is all that can be seen: results, gradients, and what its callbacks wrote down.
"""

BINARY = ("add", "mul", "sub", "maximum", "div", "ldexp", "atan2")
UNARY = ("sin", "clone", "neg", "abs", "t", "flatten", "relu", "detach", "view_as")  # the last is the tensor itself, unchanged
BACKWARD = ("scaled", "saved", "none", "ones", "summed", "twice")


def function(W, x, y, forward=("add",), backward=("scaled", "scaled"), saved=("x",), marked=False, constant=-1, materialize=True,
             fed="itself", again=False):
    """A custom Function whose forward pass does `forward`, one result per name, and whose backward pass answers each input by a rule."""
    log = []

    class Custom(W.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, number):
            ctx.number = number
            ctx.set_materialize_grads(materialize)
            if marked:
                a.mul_(2)
                ctx.mark_dirty(a)
            results = [_applied(W, name, a, b) for name in forward]
            if marked:
                results[0] = a
            ctx.save_for_backward(*({"x": a, "y": b, "result": results[-1], "none": None}[name] for name in saved))
            if 0 <= constant < len(results):
                ctx.mark_non_differentiable(results[constant])
            log.append(len(ctx.needs_input_grad))
            return tuple(results) if len(results) > 1 else results[0]

        @staticmethod
        def backward(ctx, *grads):
            log.extend([float(len(ctx.saved_tensors)), *(g is None for g in grads), *ctx.needs_input_grad])
            g = next((g for g in grads if g is not None), None)
            return *(_answer(W, rule, g, ctx) for rule in backward), None

    given = {"itself": x, "copy": x.clone(), "view": x.view(x.shape), "part": x[:1]}[fed]
    results = Custom.apply(given, y, 3.0)
    results = results if isinstance(results, tuple) else (results,)
    seen = [*results, *(r.requires_grad for r in results), *(r.is_leaf for r in results), *(r._version for r in results), given._version]
    return [*seen, *_gradients(W, results, [t for t in (x, y) if t.requires_grad], again), *log]


def hooks(W, x, before="mul", after="sin", kinds=(("leaf", "double"),), removed=-1, kept=(), twice=False):
    """Hooks on a leaf, on what follows from it and on the last result; `kinds` pairs a place with what its hook does."""
    log = []
    leaf = x.detach().clone().requires_grad_()
    middle = _applied(W, before, leaf, leaf)
    last = _applied(W, after, middle, middle)
    places = {"leaf": leaf, "middle": middle, "last": last}
    handles = []
    for number, (place, what) in enumerate(kinds):
        t = places[place]
        if what == "accumulated":
            handles.append(t.register_post_accumulate_grad_hook(lambda p, number=number: log.extend([number, p.grad.sum()])))
        else:
            handles.append(t.register_hook(lambda g, what=what, number=number: log.append(number) or _changed(W, what, g)))
    for place in kept:
        places[place].retain_grad()
    if 0 <= removed < len(handles):
        handles[removed].remove()
    for _ in range(1 + twice):
        last.backward(W.ones_like(last), retain_graph=True)
    return [last, *(places[place].grad for place in ("leaf", *kept)), *(places[place].retains_grad for place in ("middle", "last")), *log]


def module_hooks(W, x, weight, kinds=(("forward", "log"),), always=False, first=False, removed=-1):
    """Hooks of a small module around its call and its backward pass."""
    log = []

    class Scaled(W.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = W.nn.Parameter(weight.detach().clone())

        def forward(self, x):
            return x * self.weight

    module, handles = Scaled(), []
    for number, (kind, what) in enumerate(kinds):
        def hook(m, *given, number=number, kind=kind, what=what):
            log.extend([number, len(given)])
            return _answered(W, kind, what, given)
        register = {"forward": module.register_forward_hook, "before": module.register_forward_pre_hook,
                    "backward": module.register_full_backward_hook, "before backward": module.register_full_backward_pre_hook}[kind]
        options = {"prepend": first} | ({"always_call": always} if kind == "forward" else {})
        handles.append(register(hook, **options))
    if 0 <= removed < len(handles):
        handles[removed].remove()
    result = module(x)
    found = _gradients(W, (result,), [t for t in (x,) if t.requires_grad] + [module.weight], False)
    return [result, *found, *log]


def parameters(W, x, grad=True, does=("iterate",)):
    """What becomes of a Parameter that is used as a tensor is, step by step."""
    p = W.nn.Parameter(x.detach().clone(), requires_grad=grad)
    seen = []
    for name in does:
        made = _made_of(W, name, p)
        for t in made if isinstance(made, (list, tuple)) else [made]:
            seen.append(t)
            if isinstance(t, W.Tensor):
                seen.extend([isinstance(t, W.nn.Parameter), t.requires_grad, t.is_leaf])
    return [*seen, p._version, len(list(W.nn.ParameterList([p, p]).parameters()))]


def _applied(W, name, a, b):
    if name in BINARY:
        return getattr(W, name)(a, b)
    return a if name == "view_as" else getattr(a, name)()


def _answer(W, rule, g, ctx):
    if g is None or rule == "none":
        return None
    saved = ctx.saved_tensors
    if rule == "saved" and saved and saved[0] is not None:
        return g * saved[0]
    return {"ones": lambda: W.ones_like(g), "summed": lambda: g.sum(), "twice": lambda: g + g}.get(rule, lambda: g * ctx.number)()


def _changed(W, what, g):
    return {"double": lambda: g * 2, "log": lambda: None, "zero": lambda: W.zeros_like(g), "sum": lambda: g.sum(), "write": lambda: g.mul_(2)}[what]()


def _answered(W, kind, what, given):
    """What a hook of a module returns: nothing, or its value in another size of numbers."""
    if what == "log":
        return None
    value = given[-1] if kind == "forward" else given[0]
    if kind == "forward":
        return value * 2
    doubled = tuple(None if t is None else t * 2 for t in value)
    return doubled[0] if kind == "before" and what == "one" else doubled


def _made_of(W, name, p):
    return {"iterate": lambda: list(p), "index": lambda: p[0], "slice": lambda: p[:1], "data": lambda: p.data, "detach": lambda: p.detach(),
            "clone": lambda: p.clone(), "in place": lambda: _in_place(W, p), "data in place": lambda: p.data.mul_(2), "view": lambda: p.view(-1),
            "deepcopy": lambda: __import__("copy").deepcopy(p), "length": lambda: len(p), "contains": lambda: 1 in p, "reversed": lambda: list(reversed(p)),
            "double": lambda: p.double(), "wrapped": lambda: W.nn.Parameter(p), "frozen": lambda: p.requires_grad_(False), "write": lambda: p.add_(1),
            "unbind": lambda: p.unbind(), "repr": lambda: len(repr(p)) > 0}[name]()


def _in_place(W, p):
    with W.no_grad():
        return p.mul_(2)


def _gradients(W, results, inputs, again):
    outputs = [r for r in results if r.requires_grad]
    if not outputs or not inputs:
        return []
    starts = [W.ones_like(r) for r in outputs]
    found = W.autograd.grad(outputs, inputs, starts, allow_unused=True, retain_graph=again)
    return [*found, *(W.autograd.grad(outputs, inputs, starts, allow_unused=True) if again else ())]
