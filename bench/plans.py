"""What group `graph` times: small programs, as a plan where the framework has `nn.Graph`, else as they are written.

Each entry takes the framework and the case's inputs, weights first, and gives a program of the last ones, `count` of them.
"""


def mlp_step(t, weights):
    """Four small layers: forward, backward and Adam. Answers the loss."""
    optimizer = t.optim.Adam(weights, lr=1e-3)

    def program(x, target):
        for i in range(0, len(weights), 2):
            x = t.nn.functional.linear(x, weights[i], weights[i + 1])
            x = x if i + 2 == len(weights) else t.relu(x)
        loss = (x - target).square().mean()
        loss.backward()
        return loss
    return program, optimizer


def chain(t, weights):
    """Ten element-wise ops, one after the other."""
    def program(x):
        x = ((x * 1.5 + 0.5).relu().square() - 1).abs().sqrt()
        return (x * 0.3).neg() + 2
    return program, None


def rms_norm(t, weights):
    """As programs write it themselves."""
    return lambda x: x * t.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weights[0], None


def softmax(t, weights):
    """As programs write it themselves."""
    def program(x):
        e = (x - x.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)
    return program, None


def residual_block(t, weights):
    """Two convolutions with batch norms of known statistics, and the shortcut."""
    F = t.nn.functional
    first, second = weights[:5], weights[5:]

    def step(x, w, scale, shift, mean, var):
        return F.batch_norm(F.conv2d(x, w, padding=1), mean, var, scale, shift)
    return lambda x: t.relu(step(t.relu(step(x, *first)), *second) + x), None


def encoder_layer(t, weights):
    """Self-attention of 12 heads and feed-forward, each added to its input and normalised."""
    F = t.nn.functional
    qkv, out, inner, outer, scale, shift = weights

    def program(x):
        n, s, h = x.shape
        q, k, v = (p.view(n, s, 12, h // 12).transpose(1, 2) for p in F.linear(x, qkv).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, s, h)
        x = F.layer_norm(x + F.linear(mixed, out), (h,), scale, shift)
        return F.layer_norm(x + F.linear(F.gelu(F.linear(x, inner)), outer), (h,), scale, shift)
    return program, None


ALL = {f.__name__: f for f in (mlp_step, chain, rms_norm, softmax, residual_block, encoder_layer)}


def by_name(name: str, t, args: list, count: int):
    """The program of that name over the first of `args`, a function of the last `count`. Raises KeyError for none."""
    program, optimizer = ALL[name](t, args[:-count])
    if optimizer is None:
        program = t.no_grad()(program)
    if hasattr(t.nn, "Graph"):
        return _plan(t, program, optimizer)
    if optimizer is None:
        return program

    def step(*given):
        optimizer.zero_grad()
        result = program(*given)
        optimizer.step()
        return result
    return step


def _plan(t, program, optimizer):
    class Plan(t.nn.Graph):
        def __init__(self):
            super().__init__()
            if optimizer is None:
                self.config.freeze_weights()
            else:
                self.add_optimizer(optimizer)

        def build(self, *given):
            return program(*given)
    return Plan()
