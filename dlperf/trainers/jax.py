"""JAX: the models as functions of a dictionary of arrays, a whole step compiled by `jax.jit`."""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from .functional import BN_EPS, BN_MOMENTUM, LN_EPS, FunctionalTrainer


class Net:
    """The layers of a model. Products run in `dtype`, statistics and losses in float32, as with Flax's `dtype`.

    `updates` collects what batch norm's running statistics become.
    """

    relu, softmax, tanh, mean = map(staticmethod, (jax.nn.relu, jax.nn.softmax, jnp.tanh, jnp.mean))
    reshape, transpose, matmul = map(staticmethod, (jnp.reshape, jnp.transpose, jnp.matmul))

    def __init__(self, values: dict, dtype, key):
        self.values, self.dtype, self.key, self.updates = values, dtype, key, {}

    def cast(self, name):
        return self.values[name].astype(self.dtype)

    def linear(self, x, name, bias=None):
        return x @ self.cast(f"{name}.weight").T + self.cast(bias or f"{name}.bias")

    def conv(self, x, name, stride):
        w = self.cast(f"{name}.weight")
        return lax.conv_general_dilated(x.astype(self.dtype), w, (stride, stride), [(w.shape[0] // 2,) * 2] * 2,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def batch_norm(self, x, name):
        wide = x.astype(jnp.float32)
        mean, var, count = wide.mean((0, 1, 2)), wide.var((0, 1, 2)), x.size // x.shape[-1]
        for end, value in (("mean", mean), ("var", var * count / (count - 1))):
            old = self.values[f"{name}.running_{end}"]
            self.updates[f"{name}.running_{end}"] = lax.stop_gradient(old + BN_MOMENTUM * (value - old))
        return self._scaled((wide - mean) * lax.rsqrt(var + BN_EPS), name)

    def layer_norm(self, x, name):
        wide = x.astype(jnp.float32)
        return self._scaled((wide - wide.mean(-1, keepdims=True)) * lax.rsqrt(wide.var(-1, keepdims=True) + LN_EPS), name)

    def _scaled(self, x, name):
        return (x * self.values[f"{name}.weight"] + self.values[f"{name}.bias"]).astype(self.dtype)

    def max_pool(self, x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])

    def gelu(self, x):
        return jax.nn.gelu(x, approximate=False)

    def embedding(self, name, ids):
        return self.cast(f"{name}.weight")[ids]

    def take(self, x, rows):
        return x[rows]

    def dropout(self, x, rate):
        if not rate:
            return x
        self.key, key = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)

    def cross_entropy(self, scores, labels):
        logs = jax.nn.log_softmax(scores.astype(jnp.float32))
        return -jnp.take_along_axis(logs, labels[:, None], 1).mean()


class Trainer(FunctionalTrainer):
    """Parameters, running statistics and optimizer state are dictionaries; the step donates the old ones."""

    version = jax.__version__

    def place(self, trained, stats):
        jax.config.update("jax_platforms", "cpu")
        self.state = jax.tree.map(jnp.array, (trained, stats)) + (self._slots(trained),)
        self.dtype = {"fp32": jnp.float32, "bf16": jnp.bfloat16}[self.spec["precision"]]
        self.key = jax.random.key(self.spec["seed"])
        self.program = jax.jit(self._program, donate_argnums=0)

    def ready(self, array):
        return jnp.asarray(array)

    def update(self, batch):
        self.key, key = jax.random.split(self.key)
        self.state, loss, gradients = jax.block_until_ready(self.program(self.state, batch, key))
        return float(loss), gradients

    def _program(self, state, batch, key):
        trained, stats, slots = state

        def loss_of(trained):
            net = Net({**trained, **stats}, self.dtype, key)
            return self.module.functional_loss(net, batch, self.config), net.updates

        (loss, stats), gradients = jax.value_and_grad(loss_of, has_aux=True)(trained)
        trained, slots = {"SGD": sgd, "AdamW": adamw}[self.module.OPTIMIZER](trained, gradients, slots, **self.settings)
        return (trained, stats, slots), loss, list(gradients.values()) if self.spec["gate"] else None

    def _slots(self, trained):
        zeros = partial(jax.tree.map, jnp.zeros_like)
        return zeros(trained) if self.module.OPTIMIZER == "SGD" else (jnp.zeros((), jnp.int32), zeros(trained), zeros(trained))


def sgd(values, gradients, momenta, lr, momentum, weight_decay):
    """Returns new values and momenta, as torch.optim.SGD makes them."""
    momenta = jax.tree.map(lambda w, g, m: momentum * m + g + weight_decay * w, values, gradients, momenta)
    return jax.tree.map(lambda w, m: w - lr * m, values, momenta), momenta


def adamw(values, gradients, slots, lr, betas, eps, weight_decay):
    """Returns new values and (step, first moments, second moments), as torch.optim.AdamW makes them."""
    step, first, second = slots[0] + 1, *slots[1:]
    first = jax.tree.map(lambda g, m: betas[0] * m + (1 - betas[0]) * g, gradients, first)
    second = jax.tree.map(lambda g, v: betas[1] * v + (1 - betas[1]) * g * g, gradients, second)
    a, b = (1 - jnp.float32(beta) ** step for beta in betas)
    values = jax.tree.map(lambda w, m, v: w * (1 - lr * weight_decay) - lr / a * m / (jnp.sqrt(v / b) + eps), values, first, second)
    return values, (step, first, second)
