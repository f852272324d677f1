"""Random programs of views, in-place writes, reductions and gradients: traced, optimised and run twice, they leave what eager mode
leaves in results, arguments and outside tensors, bit for bit."""

import random

import pytest
import weir


class Program:
    """Steps chosen by a seed, so that every run does the same. `outside` are tensors that the program reaches by itself."""

    def __init__(self, seed, outside):
        self.seed, self.outside = seed, outside

    def __call__(self, a, b):
        rng = random.Random(self.seed)
        pool = [a, b, *self.outside]
        for _ in range(rng.randint(4, 25)):
            made = self.step(rng, pool)
            if made is not None:
                pool.append(made)
            if len(pool) > 14:
                pool.pop(rng.randrange(4, len(pool)))
        return [t * 1 if any(t is s for s in (a, b, *self.outside)) else t for t in rng.sample(pool, 4)]

    def step(self, rng, pool):
        x = rng.choice(pool)
        mates = [t for t in pool if t.shape == x.shape]
        y = rng.choice(mates)
        return rng.choice(self.STEPS)(self, rng, x, y)

    def view(self, rng, x, y):
        return rng.choice([lambda: x.t(), lambda: x[rng.randrange(x.shape[0])].unsqueeze(0).expand(2, -1), lambda: x[:, 1:], lambda: x[::2],
                           lambda: x.reshape(-1).view(-1, 2) if x.numel() % 2 == 0 else x, lambda: x.unfold(0, 2, 1)[0] if x.shape[0] > 1 else x,
                           lambda: x.diagonal().unsqueeze(0)])()

    def pointwise(self, rng, x, y):
        return rng.choice([lambda: x + y, lambda: x * 0.5, lambda: x - y, lambda: x.sigmoid(), lambda: weir.where(x > y, x, y), lambda: x.relu(),
                           lambda: x.tanh() * y, lambda: x.clamp(-1, 1), lambda: (x > 0).float(), lambda: x.abs().sqrt(), lambda: x.bfloat16().float()])()

    def reduction(self, rng, x, y):
        return rng.choice([lambda: x.sum(0, keepdim=True).expand_as(x), lambda: x.softmax(-1), lambda: x.cumsum(0), lambda: x - x.mean(), lambda: x @ y.t(),
                           lambda: weir.cat([x, y], 0), lambda: x.amax(1, keepdim=True) + x, lambda: x.sort(-1)[0],
                           lambda: x - x.mean(-1, keepdim=True), lambda: weir.layer_norm(x, x.shape[-1:], y[0])])()

    def write(self, rng, x, y):
        if 0 in x.stride():
            return x.clone()
        if x._base is not None and y._base is not None and x is not y:
            y = y.clone()
        elif x is not y and x._storage_ptr() == y._storage_ptr():
            y = y.clone()
        rng.choice([lambda: x.add_(y), lambda: x.mul_(0.75), lambda: x.copy_(y), lambda: x.fill_(rng.random()), lambda: x.zero_(), lambda: x.relu_(),
                    lambda: x.uniform_(), lambda: x[:1].add_(1), lambda: x.masked_fill_(y > 0, 0.25), lambda: x.sub_(y.sum())])()

    def fresh(self, rng, x, y):
        return rng.choice([lambda: weir.zeros(*x.shape), lambda: weir.rand(*x.shape), lambda: weir.full(tuple(x.shape), 1.5), lambda: x.clone(),
                           lambda: weir.ones_like(x), lambda: weir.tensor([[1.0, 2.0], [3.0, 4.0]]), lambda: weir.dropout(x, 0.5, True)])()

    def gradient(self, rng, x, y):
        p = x.detach().clone().requires_grad_()
        loss = rng.choice([lambda: (p * y.detach()).sigmoid().sum(), lambda: p.softmax(-1).pow(2).sum(), lambda: (p @ p.t()).tanh().mean()])()
        return weir.autograd.grad(loss, p)[0]

    STEPS = [view, view, pointwise, pointwise, pointwise, reduction, write, write, fresh, gradient]


def inputs(seed):
    weir.manual_seed(seed)
    shapes = random.Random(seed)
    n, m = shapes.randint(2, 6), shapes.randint(2, 6)
    a = weir.randn(n, m) if seed % 2 else weir.randn(m, n).t()
    return a, weir.randn(n, m), [weir.randn(n, m), weir.randn(m, n)]


@pytest.mark.parametrize("seed", range(300))
def test_random_program(seed):
    a, b, outside = inputs(seed)
    eager_a, eager_b, eager_outside = inputs(seed)
    program, twin = Program(seed, outside), Program(seed, eager_outside)
    with weir._trace.tracing() as trace:
        graph = trace.finish(program(*trace.arguments([a, b])))
    plan = weir._C._Plan(graph, row_block=(None, 1, 40)[seed % 3])
    plan.graph.check()
    for run in range(2):
        weir.manual_seed(run)
        got = plan.run([a, b])
        weir.manual_seed(run)
        expected = twin(eager_a, eager_b)
        everything = zip([*got, a, b, *outside], [*expected, eager_a, eager_b, *eager_outside])
        for i, (x, y) in enumerate(everything):
            assert x.shape == y.shape and x.dtype == y.dtype, i
            assert x.detach().numpy().tobytes() == y.detach().numpy().tobytes(), i
