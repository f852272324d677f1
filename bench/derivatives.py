"""What group `func` times: derivatives of functions, and functions of batches.

Each entry takes the framework and gives a function of the case's inputs that answers a tensor or a tuple of them.
"""


def _net(t, w1, b1, w2, b2, x):
    hidden = t.tanh(t.nn.functional.linear(x, w1, b1))
    return t.nn.functional.linear(hidden, w2, b2)


def _loss(t, weights, x, target):
    return (_net(t, *weights, x) - target).pow(2).mean()


def per_sample_gradients(t):
    def call(*args):
        *weights, x, target = args
        return t.func.vmap(t.func.grad(lambda w, a, b: _loss(t, w, a, b)), in_dims=(None, 0, 0))(tuple(weights), x, target)
    return call


def per_picture_gradients(t):
    def loss(kernel, weight, x):
        hidden = t.relu(t.nn.functional.conv2d(x[None], kernel, padding=1))
        return t.nn.functional.linear(hidden.flatten(1), weight).pow(2).mean()
    return lambda kernel, weight, x: t.func.vmap(t.func.grad(loss, argnums=(0, 1)), in_dims=(None, None, 0))(kernel, weight, x)


def ensemble(t):
    return lambda *args: t.func.vmap(lambda *a: _net(t, *a), in_dims=(0, 0, 0, 0, None))(*args)


def jacrev(t):
    return lambda *args: t.func.jacrev(lambda x: _net(t, *args[:-1], x))(args[-1])


def jacfwd(t):
    return lambda *args: t.func.jacfwd(lambda x: _net(t, *args[:-1], x))(args[-1])


def hessian(t):
    return lambda *args: t.func.hessian(lambda x: _net(t, *args[:-1], x).pow(2).sum())(args[-1])


def jvp(t):
    return lambda *args: t.func.jvp(lambda x: _net(t, *args[:-2], x), (args[-2],), (args[-1],))


def hessian_vector(t):
    def call(*args):
        *weights, x, target, direction = args
        return t.func.jvp(t.func.grad(lambda w: _loss(t, (w, *weights[1:]), x, target)), (weights[0],), (direction,))
    return call


def by_name(name: str):
    """The entry of that name. Raises KeyError for none."""
    return {f.__name__: f for f in (per_sample_gradients, per_picture_gradients, ensemble, jacrev, jacfwd, hessian, jvp, hessian_vector)}[name]
