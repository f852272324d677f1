"""Calls within vmap, derivatives and forward mode, and custom Functions with rules for them."""


def tried(f):
    """What f gives, or nothing where it refuses: what a program does that goes on. An error that was half set is for the fuzzer to see."""
    try:
        return f()
    except SystemError:
        raise
    except Exception:
        return None


def absurd(draw, usual):
    """`usual` mostly: a place of an axis, or what a program may give for one by mistake."""
    if draw.chance(0.95):
        return usual
    return draw.choice((None, 0, 1, -1, 2, 7, -8, 2**31, 2**62, 2**63, -2**63, True, 1.0, "0", (), (0,), (0, None), (0, 0, 0), [0], {"x": 0}, draw.anything()))


def hold_on(draw, tensor, kept):
    """What a function may do with an example or a dual besides computing: look at its memory, change it, keep it."""
    weir = draw.weir
    if draw.chance(0.3):
        kept.append(tensor)
    asked = draw.choice(("numpy", "__dlpack__", "untyped_storage", "data_ptr", "tolist", "item", "resize_", "set_", "requires_grad_", "detach_", "backward",
                         "share_memory_", "register_hook", "data", "view", "deepcopy", "repr", "zero_", "as_strided", "out", "shared", "hash", "copy_", "swap", "grad"))
    special = {"set_": lambda: tensor.set_(draw.tensor().detach()), "register_hook": lambda: tensor.register_hook(lambda g: kept.append(g)),
               "data": lambda: setattr(tensor, "data", draw.choice((draw.tensor().detach(), tensor.detach() * 2))),
               "view": lambda: kept.append(tensor.view(draw.choice((weir.int32, weir.uint8, weir.float64, weir.complex64)))),
               "deepcopy": lambda: kept.append(__import__("copy").deepcopy(tensor)), "repr": lambda: repr(tensor), "resize_": lambda: tensor.resize_(draw.size()),
               "as_strided": lambda: kept.append(tensor.as_strided((2, 2), (draw.choice((1, 0, 2**40, -1)), 1), draw.choice((0, 1, 100, 2**62)))),
               "out": lambda: weir.add(tensor, 1, out=draw.choice((kept or [tensor])[-1:] + [weir.empty(0), draw.tensor().detach()])),
               "shared": lambda: (lambda mine: (kept.append(mine), kept.append(mine.view(-1)), mine.add_(tensor)))(weir.zeros(tensor.shape)),
               "copy_": lambda: (kept or [draw.tensor().detach()])[-1].copy_(tensor), "hash": lambda: hash(tensor),
               "swap": lambda: weir.utils.swap_tensors(tensor, (kept or [draw.tensor()])[-1]),
               "grad": lambda: setattr(tensor, "grad", draw.choice((tensor, draw.tensor())))}
    tried(special.get(asked, lambda: getattr(tensor, asked)()))


def transformed(call):
    """Another call within vmap, derivatives and forward mode, nested, with places of axes that may be absurd."""
    import _weir
    from weir.autograd import forward_ad
    from weir.utils._pytree import tree_flatten, tree_leaves, tree_unflatten
    draw, weir, kept = call.draw, call.draw.weir, []
    for k in range(5):  # most calls are refused as they are: rather one that is not
        if tried(call.within(k).make) is not None:
            break
    inner = call.within(k)
    print("within:", inner, flush=True)
    leaves, spec = tree_flatten((inner.args, inner.kwargs))
    places = [i for i, x in enumerate(leaves) if isinstance(x, weir.Tensor) and x.device.type == "cpu" and x.numel() < 100]
    tensors = [leaves[i].detach() for i in places] or [weir.ones(3)]

    def body(*given):
        for i, x in zip(places, given):
            leaves[i] = x
        inner.args, inner.kwargs = tree_unflatten(list(leaves), spec)
        if draw.chance(0.15):
            hold_on(draw, draw.choice(given), kept)
        result = inner.make()
        if draw.chance(0.1) and isinstance(result, weir.Tensor):
            hold_on(draw, result, kept)
        found = [x for x in tree_leaves(result) if isinstance(x, weir.Tensor)]
        return result if draw.chance(0.05) else tuple(found) if len(found) != 1 else found[0]

    def number(f):
        def of(*given):
            floating = [x for x in tree_leaves(f(*given)) if isinstance(x, weir.Tensor) and x.is_floating_point()]
            return sum((x.sum() for x in floating), weir.zeros(()))
        return of

    def mapped(f, tensors):
        size = draw.choice((0, 1, 2, 3, 3)) if draw.chance(0.98) else 2**40  # which nothing holds, but nothing itself
        shared = [draw.chance(0.25) for _ in tensors]
        if all(shared):
            shared[0] = False
        dims, batch = [], []
        for x, own in zip(tensors, shared):
            at = draw.choice((0, 0, x.dim(), -1))
            dims.append(absurd(draw, None if own else at))
            if size > 3:
                x = x if own else x.expand(size, *x.shape).movedim(0, at) if x.dim() else x.expand(size)
            elif not own:
                x = weir.stack([x] * size, at) if size else weir.zeros((0, *x.shape), dtype=x.dtype).movedim(0, at)
            batch.append(x)
        words = {"randomness": draw.choice(("error", "same", "different", "different"))}
        if size <= 3 and draw.chance(0.1):  # 2^40 parts of one example would be computed, as asked
            words["chunk_size"] = absurd(draw, draw.choice((1, 2)))
        return weir.func.vmap(f, absurd(draw, tuple(dims)), absurd(draw, draw.choice((0, 0, 0, -1, 1))), **words), batch

    def derived(f, tensors):
        """f's derivative by one of its arguments."""
        at = next((i for i, x in enumerate(tensors) if x.is_floating_point()), 0)
        kind = draw.choice(("grad", "grad", "vjp", "jvp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "dual", "dual", "backward", "graph"))

        def run(*given):
            x = given[at]

            def alone(x):
                return f(*given[:at], x, *given[at + 1:])
            other = weir.ones_like(x) if draw.chance(0.9) else draw.tensor()
            if kind in ("grad", "hessian"):
                return getattr(weir.func, kind)(number(f), absurd(draw, at))(*given)
            if kind in ("jacrev", "jacfwd"):
                return getattr(weir.func, kind)(f, absurd(draw, at), **({"chunk_size": absurd(draw, 2)} if draw.chance(0.2) else {}))(*given)
            if kind == "vjp":
                value, pull = weir.func.vjp(alone, x)
                return pull(value if draw.chance(0.9) else draw.tensor())
            if kind == "linearize":
                return weir.func.linearize(alone, x)[1](other)
            if kind == "jvp":
                return weir.func.jvp(alone, (x,), (other,))
            if kind == "backward":
                x = x.detach().requires_grad_()
                return weir.autograd.grad(number(alone)(x), x, create_graph=draw.chance(0.5))
            if kind == "graph":
                return weir.compile(alone)(x)
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(x, other)
                if draw.chance(0.15):
                    hold_on(draw, dual, kept)
                result = alone(dual)
                if draw.chance(0.2):
                    kept.append(result)
                return [tuple(forward_ad.unpack_dual(y)) if y.is_floating_point() else y for y in tree_leaves(result) if isinstance(y, weir.Tensor)]
        return run

    run, depth = body, draw.choice((1, 1, 2, 2, 3))
    for _ in range(depth):
        if draw.chance(0.5) or not any(x.is_floating_point() for x in tensors) and draw.chance(0.95):
            run, tensors = mapped(run, tensors)
        else:
            run = derived(run, tensors)
    before, next_vmap = len(forward_ad._levels), _weir._next_vmap()
    try:
        if draw.chance(0.1):
            tensors = [t.requires_grad_() if t.is_floating_point() and not t.is_inference() else t for t in tensors]
        result = run(*tensors)
        return [x for x in tree_leaves(result) if isinstance(x, weir.Tensor)]
    finally:
        assert len(forward_ad._levels) == before and next_vmap <= _weir._next_vmap()
        for x in kept:  # what has left its vmap or level is a tensor still
            if isinstance(x, weir.Tensor):
                hold_on(draw, x, [])
                tried(lambda: (x + 1, x.sum(), x.detach().clone().tolist()))


def rule(call):
    """A Function of the program's own, with rules for vmap and forward mode that may return what they should not."""
    weir, draw = call.draw.weir, call.draw
    given = [draw.anything() for _ in range(3)]

    class Own(weir.autograd.Function):
        generate_vmap_rule = draw.chance(0.3)

        @staticmethod
        def forward(*args):
            x = args[-2] if len(args) > 1 else args[0]
            return draw.choice((lambda: x * 2, lambda: x, lambda: (x, x * 3), lambda: x.view(-1), lambda: given[0], lambda: x.mul_(2)))()

        @staticmethod
        def backward(ctx, *g):
            return draw.choice((g[0], g, None, given[1], (g[0], None), (given[2],)))

        @staticmethod
        def jvp(ctx, *t):
            return draw.choice((t[0], t, None, given[1], (t[0], None), (given[2],), lambda: 1))
    if draw.chance(0.7):
        def setup_context(ctx, inputs, output):
            draw.choice((lambda: None, lambda: ctx.save_for_backward(inputs[0]), lambda: ctx.save_for_forward(inputs[0], output), lambda: ctx.save_for_forward(given[0]),
                         lambda: ctx.mark_dirty(inputs[0]), lambda: ctx.mark_non_differentiable(output), lambda: ctx.set_materialize_grads(False)))()
        Own.setup_context = staticmethod(setup_context)
    if draw.chance(0.6):
        def vmap(info, in_dims, *args):
            places = draw.choice((0, in_dims[0], None, 1, -1, 2**62, (0,), (0, None), given[1]))
            return draw.choice(((args[0], places), ((args[0], args[0]), places), (given[0], places), (args[0] * 2, places), args[0], given[2], None))
        Own.vmap = staticmethod(vmap)
    run, x = (lambda *a: Own.apply(*a)), weir.rand(3, draw.choice((1, 2)))
    for _ in range(draw.choice((1, 1, 2))):
        kind, before = draw.choice(("vmap", "vmap", "jvp", "grad")), run
        if kind == "vmap":
            run = weir.func.vmap(before, absurd(draw, 0), absurd(draw, 0), draw.choice(("error", "different")))
        elif kind == "jvp":
            run = lambda x, *more, f=before: weir.func.jvp(lambda x: f(x, *more), (x,), (weir.ones_like(x),))[draw.choice((0, 1))]  # noqa: E731
        else:
            run = weir.func.grad(lambda x, *more, f=before: f(x, *more).sum())
    return run(x, *given[:draw.choice((0, 0, 1))])
