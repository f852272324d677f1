"""Calls that take more than arguments: objects that are built and then used, files that are broken, functions of functions."""

import tempfile
from pathlib import Path

from fuzz_transformed import rule, transformed


def more_targets(left_out):
    """label -> (kind, target) of what `fuzz_calls.surface` does not list as a plain function or method."""
    import weir
    from weir import distributions, nn, optim
    found = {}

    def classes(prefix, module, base, kind):
        for name in dir(module):
            value = getattr(module, name)
            if isinstance(value, type) and issubclass(value, base) and name not in left_out:
                found[prefix + name] = (kind, value)

    classes("nn.", nn, nn.Module, "module")
    classes("optim.", optim, optim.Optimizer, "optimizer")
    classes("optim.lr_scheduler.", optim.lr_scheduler, optim.lr_scheduler.LRScheduler, "scheduler")
    classes("distributions.", distributions, distributions.Distribution, "distribution")
    classes("distributions.", distributions, distributions.Transform, "transform")
    for name in ("vmap", "grad", "jacrev", "jacfwd", "vjp", "jvp", "hessian", "functional_call", "linearize"):
        if hasattr(weir.func, name):
            found["func." + name] = ("function", getattr(weir.func, name))
    # As often as so many functions: much happens there.
    for times, kinds in ((20, ("get", "set", "out", "backward", "legacy", "sparse", "graph", "storage")), (10, ("file", "hook", "interchange", "rule")), (200, ("transformed",))):
        for kind in kinds:
            for i in range(times):
                found[f"{kind} {i}"] = (kind, None)
    return found


def small(value, draw):
    """Arguments of modules: small numbers, so that what they build fits."""
    return draw.choice((1, 2, 3, 4)) if isinstance(value, draw.weir.Tensor) else value


def like_default(parameter, draw):
    """A value of the kind that the parameter's default is, or its name says."""
    default = parameter.default
    if default is parameter.empty or default is None:
        return draw.choice((1, 2, 3, 4, 4, 5, 8)) if draw.chance(0.8) else small(draw.anything(), draw)
    if isinstance(default, bool):
        return draw.chance(0.5)
    if isinstance(default, int):
        return draw.choice((0, 1, 2, 3, 5, -1))  # not more: a stack of 2**31 layers is built here as it is in PyTorch
    if isinstance(default, float):
        return draw.choice((0.0, 0.1, 0.5, 1.0, 1e-5, -1.0, 1e30))
    if isinstance(default, (tuple, list)):
        return tuple(draw.choice((0, 1, 2, 3)) for _ in default)
    return default if draw.chance(0.7) else draw.anything()


def built(draw, cls, args):
    """An instance of cls: by its signature most of the time, else of whatever was drawn."""
    import inspect
    if draw.chance(0.3):
        return cls(*(small(a, draw) for a in args))
    words = {}
    for name, p in list(inspect.signature(cls).parameters.items()):
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or name in ("device", "dtype"):
            continue
        if p.default is p.empty or draw.chance(0.3):
            words[name] = like_default(p, draw)
    return cls(**words)


def module(call):
    draw, weir = call.draw, call.draw.weir
    made = built(draw, call.target, call.args)
    parts = [p for p in made.parameters() if p.dim() > 1][:1]
    inputs = [draw.tensor() for _ in range(draw.choice((1, 1, 2, 3)))]
    if parts and draw.chance(0.7):  # of a shape that the first weight takes
        n = parts[0].shape[1] * getattr(made, "groups", 1) if not isinstance(getattr(made, "groups", 1), weir.Tensor) else parts[0].shape[1]
        rank = draw.choice((parts[0].dim(), parts[0].dim(), 2, 3))
        inputs = [weir.randn(*([draw.choice((1, 2, 5))] + [n] + [draw.choice((1, 4, 7))] * (rank - 2)), requires_grad=draw.chance(0.3))
                  if rank > 2 and draw.chance(0.6) else weir.randn(*[draw.choice((1, 2, 5)) for _ in range(rank - 1)], n) for _ in inputs]
    if draw.chance(0.2):
        made.eval()
    return made(*inputs)


def optimizer(call):
    weir, draw = call.draw.weir, call.draw
    parameters = [weir.nn.Parameter(weir.ones(draw.choice((0, 1, 3, 40)))) for _ in range(draw.choice((1, 2, 3)))]
    numbers = [a for a in call.args if isinstance(a, (int, float))]
    made = call.target(parameters, *numbers[:1])
    for step in range(3):
        for p in parameters:
            p.grad = draw.choice((weir.ones_like(p.detach()), None))
        made.step(*(() if "LBFGS" not in call.label else (lambda: weir.tensor(1.0),)))
        if draw.chance(0.3) and made.state:
            state = draw.choice(list(made.state.values()))
            if state:
                state[draw.choice(list(state))] = draw.anything()
        if draw.chance(0.1):
            group = made.param_groups[0]
            group[draw.choice(sorted(group))] = draw.anything()
    state = made.state_dict()
    if draw.chance(0.3):
        state[draw.choice(list(state))] = draw.anything()
        made.load_state_dict(state)
    return state


def scheduler(call):
    weir, draw = call.draw.weir, call.draw
    over = weir.optim.SGD([weir.nn.Parameter(weir.ones(2))], lr=0.1)
    made = call.target(over, *call.args) if draw.chance(0.5) else call.target(over, *(draw.choice((1, 2, 5, 0.5, [1, 3], lambda e: 0.9)) for _ in range(draw.choice((1, 2)))))
    for _ in range(4):
        over.step()
        made.step(*((draw.anything(),) if draw.chance(0.1) else ()))
    made.load_state_dict(made.state_dict())
    return made.get_last_lr()


def distribution(call):
    weir, draw = call.draw.weir, call.draw

    def value():
        return draw.choice((draw.tensor, lambda: weir.rand(draw.size()), lambda: weir.eye(draw.choice((1, 2, 3))), draw.number, draw.anything))()
    args = [value() for _ in range(draw.choice((1, 1, 2, 2, 3)))]
    if draw.chance(0.2):
        args.insert(0, weir.distributions.Normal(weir.zeros(draw.size()), 1.0))
    made = call.target(*args, **({"validate_args": False} if draw.chance(0.4) else {}))
    asked = draw.choice(("sample", "rsample", "log_prob", "cdf", "icdf", "entropy", "mean", "variance", "mode", "enumerate_support", "expand", "perplexity"))
    found = getattr(made, asked)
    if not callable(found):
        return found
    return found(*(() if asked in ("entropy", "enumerate_support", "perplexity") else (draw.ints(),) if asked in ("sample", "rsample", "expand") else (value(),)))


def transform(call):
    made = call.target(*call.args)
    y = made(call.draw.tensor())
    return made.log_abs_det_jacobian(made.inv(y), y)


def function(call):
    draw, name = call.draw, call.label.removeprefix("func.")
    names = [draw.choice(("sin", "exp", "sum", "cumsum", "sort", "max", "t", "abs", "mul", "softmax", "nonzero", "item", "clone", "add_", "unbind"))
             for _ in range(draw.choice((1, 1, 2, 3)))]

    def body(x, *more):
        for n in names:
            x = getattr(x, n)(*([0] if n in ("cumsum", "softmax", "mul") or draw.chance(0.1) else more[:1]))
            x = x[0] if isinstance(x, tuple) else x
        return x.sum() if name in ("grad", "hessian") and draw.chance(0.9) else x
    inputs = [draw.tensor().detach() for _ in range(draw.choice((1, 1, 1, 2)))]
    inputs = [t if t.numel() < 200 else draw.weir.ones(3) for t in inputs]  # of 40,000 a hessian is honest work for an hour
    if name == "functional_call":
        module = draw.weir.nn.Linear(2, 2)
        return call.target(module, {draw.choice(("weight", "bias", "x")): draw.choice((draw.tensor(), draw.weir.eye(2), draw.anything()))}, inputs[0])
    if name in ("vjp", "jvp", "linearize"):
        made = call.target(body, *((tuple(inputs), tuple(inputs if draw.chance(0.8) else [draw.tensor()])) if name == "jvp" else inputs))
        return made[1](made[0] if draw.chance(0.8) else draw.tensor()) if name == "vjp" else made[0]
    words = {k: draw.choice((0, 1, -1, None, 7, (0, None))) for k in ("in_dims", "out_dims", "argnums", "chunk_size") if draw.chance(0.1)}
    return call.target(body, **words)(*inputs)


def key(draw):
    made = tuple(draw.anything() for _ in range(draw.choice((1, 1, 2, 3))))
    return made if len(made) > 1 else made[0]


def get(call):
    return call.draw.tensor()[key(call.draw)]


def set_(call):
    t = call.draw.tensor().detach()
    t[key(call.draw)] = call.draw.anything()
    return t


def out(call):
    weir, draw = call.draw.weir, call.draw
    x = draw.tensor().detach()
    name = draw.choice(("add", "mul", "cat", "matmul", "cumsum", "sort", "gather", "index_select", "sum", "max", "where", "tril", "topk"))
    into = draw.choice((x, x.detach()[:1] if x.dim() else x, weir.empty(0), draw.tensor().detach(), weir.empty(5)[1:3]))
    return getattr(weir, name)(x, *call.args[:2], out=into)


def backward(call):
    weir, draw = call.draw.weir, call.draw
    x = draw.tensor().detach().to(weir.float32).requires_grad_()
    y = x
    for _ in range(draw.choice((1, 2, 3))):
        y = getattr(y, draw.choice(("exp", "sum", "t", "contiguous", "clone", "abs", "cumsum", "sort", "unbind", "split", "detach", "relu",
                                    "mean", "flatten", "view_as", "var", "max", "softmax", "prod", "squeeze")))(*([0] if draw.chance(0.5) else []))
        if isinstance(y, tuple):
            y = draw.choice(y)
    if draw.chance(0.3):
        getattr(y, draw.choice(("add_", "mul_", "resize_", "zero_", "t_", "detach_", "squeeze_")))(*([2] if draw.chance(0.5) else []))
    return weir.autograd.grad(y.sum(), x, create_graph=draw.chance(0.3), allow_unused=True)


def legacy(call):
    return call.draw.weir.Tensor(*call.args)


def sparse(call):
    """A sparse tensor of places and sizes that may be absurd, and something done with it."""
    weir, draw = call.draw.weir, call.draw
    n, dims = draw.choice((0, 1, 2, 3, 5)), draw.choice((1, 2, 2, 3))
    places = weir.tensor([[draw.choice((0, 1, 2, 3)) if draw.chance(0.95) else draw.choice((-1, 2**40, 2**62, -2**62)) for _ in range(n)] for _ in range(dims)],
                         dtype=weir.int64).reshape(dims, n)
    values = weir.rand(n, requires_grad=draw.chance(0.3)) if draw.chance(0.8) else draw.tensor()
    size = () if draw.chance(0.3) else ([draw.choice((4, 5, 8)) if draw.chance(0.95) else draw.integer() for _ in range(dims)],)
    if draw.chance(0.3) and dims == 2:
        s = weir.sparse_csr_tensor(draw.choice((weir.tensor([0, 1, 2]), weir.tensor([0, 2, 1]), weir.tensor([0, 2**62, 2]), places[:1].reshape(-1))),
                                   places[0], values, *size)
    else:
        s = weir.sparse_coo_tensor(places, values, *size)
    asked = draw.choice(("coalesce", "to_dense", "indices", "values", "t", "sum", "to_sparse_csr", "neg", "matmul", "add", "mul", "clone", "transpose", "float",
                         "index_select", "__getitem__", "sparse_mask", "backward", "to_sparse", "crow_indices", "narrow", "unsqueeze", "detach", "pow", "sparse_resize_"))
    if asked == "backward":
        s.to_dense().sum().backward()
        return values.grad
    found = getattr(s, asked)
    return found(*(draw.choice((s, weir.rand(4, 4), weir.rand(5, 4), 0, 1, draw.anything())) for _ in range(draw.choice((0, 0, 1, 1, 2, 3)))))


def graph(call):
    """A function run as it is, compiled and as an nn.Graph, several times, with arguments that may change."""
    weir, draw = call.draw.weir, call.draw
    names = [draw.choice(("sin", "exp", "sum", "cumsum", "relu", "t", "mul", "add", "softmax", "clone", "add_", "mul_", "unbind", "split", "view_as", "contiguous",
                          "sort", "mean", "flatten", "expand_as", "resize_", "nonzero", "item", "detach", "transpose", "squeeze", "matmul"))
             for _ in range(draw.choice((1, 2, 3, 4)))]
    numbers = [draw.choice(((), (), (0,), (1,), (0, -1), (2,))) for _ in names]

    def body(x, *more):
        for name, args in zip(names, numbers):
            x = getattr(x, name)(*args) if args or not more else getattr(x, name)(*more[:1])
            x = x[0] if isinstance(x, (tuple, list)) and x else x
        return x
    if draw.chance(0.5):
        run = weir.compile(body)
    else:
        class Built(weir.nn.Graph):
            def build(self, *args):
                return body(*args)
        run = Built()
    args = [draw.tensor() for _ in range(draw.choice((1, 1, 2)))]
    result = run(*args)
    for _ in range(draw.choice((1, 2))):
        if draw.chance(0.4):
            args = [draw.tensor() for _ in args]
        elif draw.chance(0.3) and args[0].dim():
            args[0] = args[0].detach()
            args[0].resize_(draw.size())
        result = run(*args)
    return result


def storage(call):
    draw = call.draw
    t = draw.tensor().detach()
    s = draw.choice((t.untyped_storage, t.storage))()
    asked = draw.choice(("resize_", "__getitem__", "__setitem__", "fill_", "tolist", "clone", "copy_", "set_", "nbytes", "type", "float", "cpu", "data_ptr", "share_memory_", "view"))
    if asked == "set_":
        owner = draw.tensor().detach()
        owner.set_(s, *(draw.choice((draw.integer(), draw.ints())) for _ in range(draw.choice((0, 1, 2, 3)))))
        return owner
    if asked == "view":
        s.resize_(draw.choice((0, 1, 8, 64))) if hasattr(s, "resize_") else None
        return t + 1
    result = getattr(s, asked)(*call.args[:draw.choice((0, 1, 2))])
    return [result, t]


def file(call):
    """A saved file with some of its bytes changed, cut or repeated."""
    weir, draw = call.draw.weir, call.draw
    kind = draw.choice(("zip", "legacy", "safetensors"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.safetensors" if kind == "safetensors" else "x.pt")
        if kind == "safetensors":
            weir.save({"a": weir.ones(3), "b": weir.zeros(2, 2)}, path)
        else:
            value = {"a": draw.tensor().detach(), "b": [draw.tensor().detach(), 3, "x"], "m": weir.nn.Linear(2, 2).state_dict()}
            weir.save(value, path, _use_new_zipfile_serialization=kind == "zip")
        data = bytearray(path.read_bytes())
        for _ in range(draw.choice((1, 1, 2, 8))):
            at = draw.random.randrange(len(data)) if data else 0
            how = draw.random.random()
            if how < 0.6 and data:
                data[at] = draw.random.randrange(256)
            elif how < 0.8:
                del data[at:at + draw.choice((1, 8, 100, len(data)))]
            else:
                data[at:at] = data[:draw.choice((1, 8, 100))]
        path.write_bytes(data)
        found = weir.load(path, **({"mmap": True} if draw.chance(0.3) else {}))
    return list(found.values()) if isinstance(found, dict) else found


def hook(call):
    """Functions and hooks of the program's own that return what they should not."""
    weir, draw = call.draw.weir, call.draw
    given = [draw.anything() for _ in range(3)]

    class Own(weir.autograd.Function):
        @staticmethod
        def forward(ctx, x, *more):
            if draw.chance(0.5):
                ctx.save_for_backward(*([x] if draw.chance(0.7) else given))
            if draw.chance(0.2):
                ctx.mark_dirty(x)
            if draw.chance(0.2):
                ctx.mark_non_differentiable(*given[:1])
            return draw.choice((x * 2, x, (x, x * 3), x.view(-1), given[0], None))

        @staticmethod
        def backward(ctx, *g):
            ctx.saved_tensors
            return draw.choice((g[0], g, None, given[1], (g[0], None), (given[2],)))
    x = weir.rand(draw.choice((1, 3, 4)), requires_grad=True)
    if draw.chance(0.3):
        x.register_hook(lambda g: draw.choice((None, g * 2, given[0], g[:1])))
    y = Own.apply(x * 1 if draw.chance(0.6) else x, *given[:draw.choice((0, 0, 1))])
    y = y[0] if isinstance(y, tuple) else y
    if draw.chance(0.3):
        y.register_hook(lambda g: draw.choice((None, g * 2, given[1], weir.rand(2))))
    if draw.chance(0.2):
        y.grad_fn.register_prehook(lambda g: draw.choice((None, g, given)))
    if draw.chance(0.2):
        with weir.autograd.graph.saved_tensors_hooks(lambda t: draw.choice((t, given[0], t.numpy)), lambda t: draw.choice((t, given[1]))):
            y = (y * y).exp()
    y.backward(*(given[:1] if draw.chance(0.3) else (weir.ones_like(y),)))
    return x.grad


def interchange(call):
    """Arrays and capsules of others, and of what says that it is one."""
    weir, draw, numpy = call.draw.weir, call.draw, call.draw.numpy

    class Says:
        def __init__(self, words):
            self.__dict__.update(words)
    t = draw.tensor().detach()
    how = draw.random.random()
    if how < 0.2:
        capsule = t.__dlpack__()
        return [weir.from_dlpack(capsule), weir.from_dlpack(capsule)]  # the second time it is used up
    if how < 0.4:
        array = numpy.ones(draw.size(), dtype=draw.choice(("f4", "f8", "i8", "O", "U3", "M8[s]", ">f4", "f2", "?", "c8", "V4")))
        return draw.choice((weir.from_numpy, weir.tensor, weir.as_tensor, weir.asarray, weir.Tensor))(draw.choice((array, array[::-1], array.T, array[..., None])))
    if how < 0.7:
        words = {"__array_interface__": {"shape": draw.choice(((2,), (2**40,), (-1,), draw.anything())), "typestr": draw.choice(("<f4", "|b1", "<x9", draw.anything())),
                                         "data": draw.choice((b"x" * 8, draw.anything())), "version": 3}}
        return weir.as_tensor(Says(words))
    return weir.frombuffer(draw.choice((bytearray(16), bytearray(0), b"abcdefgh", memoryview(bytearray(16))[::2], t.numpy() if t.dtype != weir.bfloat16 else b"")),
                           dtype=getattr(weir, draw.choice(("float32", "int64", "bool", "complex128"))), count=draw.integer(), offset=draw.integer())


MAKERS = {"module": module, "optimizer": optimizer, "scheduler": scheduler, "distribution": distribution, "transform": transform,
          "function": function, "get": get, "set": set_, "out": out, "backward": backward, "legacy": legacy, "sparse": sparse,
          "graph": graph, "storage": storage, "file": file, "hook": hook, "interchange": interchange, "transformed": transformed, "rule": rule}
