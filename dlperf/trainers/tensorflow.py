"""TensorFlow: the models over `tf.Variable`s, a whole step traced by `tf.function`."""

import tensorflow as tf

from .functional import BN_EPS, BN_MOMENTUM, LN_EPS, FunctionalTrainer


class Net:
    """The layers of a model. Products run in `dtype`, statistics and losses in float32, as with Keras' mixed_bfloat16."""

    relu, softmax, tanh, gelu = map(staticmethod, (tf.nn.relu, tf.nn.softmax, tf.tanh, tf.nn.gelu))
    mean, reshape, transpose, matmul = map(staticmethod, (tf.reduce_mean, tf.reshape, tf.transpose, tf.matmul))
    take = staticmethod(tf.gather)

    def __init__(self, values: dict, dtype):
        self.values, self.dtype = values, dtype

    def cast(self, name):
        return tf.cast(self.values[name], self.dtype)

    def linear(self, x, name, bias=None):
        shape = [*x.shape[:-1], self.values[f"{name}.weight"].shape[0]]
        flat = tf.matmul(tf.reshape(x, (-1, x.shape[-1])), self.cast(f"{name}.weight"), transpose_b=True)
        return tf.reshape(tf.nn.bias_add(flat, self.cast(bias or f"{name}.bias")), shape)

    def conv(self, x, name, stride):
        w = self.cast(f"{name}.weight")
        half = w.shape[0] // 2
        return tf.nn.conv2d(tf.cast(x, self.dtype), w, stride, [(0, 0), (half, half), (half, half), (0, 0)])

    def batch_norm(self, x, name):
        y, mean, var, *_ = tf.raw_ops.FusedBatchNormV3(
            x=x, scale=self.values[f"{name}.weight"], offset=self.values[f"{name}.bias"], mean=[], variance=[],
            epsilon=BN_EPS)
        for end, value in (("mean", mean), ("var", var)):
            old = self.values[f"{name}.running_{end}"]
            old.assign_add(BN_MOMENTUM * (value - old))
        return y

    def layer_norm(self, x, name):
        wide = tf.cast(x, tf.float32)
        mean, var = tf.nn.moments(wide, -1, keepdims=True)
        y = tf.nn.batch_normalization(wide, mean, var, self.values[f"{name}.bias"], self.values[f"{name}.weight"], LN_EPS)
        return tf.cast(y, self.dtype)

    def max_pool(self, x):
        return tf.nn.max_pool2d(x, 3, 2, [(0, 0), (1, 1), (1, 1), (0, 0)])

    def embedding(self, name, ids):
        return tf.gather(self.cast(f"{name}.weight"), ids)

    def dropout(self, x, rate):
        return tf.nn.dropout(x, rate) if rate else x

    def cross_entropy(self, scores, labels):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.cast(scores, tf.float32)))


class Trainer(FunctionalTrainer):
    """Parameters, running statistics and optimizer state are variables, which the step assigns."""

    version = tf.__version__

    def place(self, trained, stats):
        tf.config.set_visible_devices([], "GPU")
        tf.config.threading.set_intra_op_parallelism_threads(self.spec["threads"])
        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.random.set_seed(self.spec["seed"])
        self.trained = {name: tf.Variable(a) for name, a in trained.items()}
        self.values = {**self.trained, **{name: tf.Variable(a, trainable=False) for name, a in stats.items()}}
        self.slots = [[tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trained.values()] for _ in range(2)]
        self.count = tf.Variable(0.0, trainable=False)
        self.dtype = {"fp32": tf.float32, "bf16": tf.bfloat16}[self.spec["precision"]]
        self.program = tf.function(self._program)

    def ready(self, array):
        return tf.constant(array)

    def update(self, batch):
        loss, gradients = self.program(batch)
        return float(loss), gradients

    def _program(self, batch):
        with tf.GradientTape() as tape:
            loss = self.module.functional_loss(Net(self.values, self.dtype), batch, self.config)
        trained = list(self.trained.values())
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, trained)]
        {"SGD": self._sgd, "AdamW": self._adamw}[self.module.OPTIMIZER](trained, gradients, **self.settings)
        return loss, gradients if self.spec["gate"] else None

    def _sgd(self, trained, gradients, lr, momentum, weight_decay):
        for w, g, m in zip(trained, gradients, self.slots[0]):
            tf.raw_ops.ResourceApplyMomentum(var=w.handle, accum=m.handle, lr=lr, grad=g + weight_decay * w, momentum=momentum)

    def _adamw(self, trained, gradients, lr, betas, eps, weight_decay):
        self.count.assign_add(1.0)
        powers = [tf.pow(beta, self.count) for beta in betas]
        for w, g, m, v in zip(trained, gradients, *self.slots):
            w.assign(w * (1 - lr * weight_decay))
            # The op adds its epsilon to the root before the second moment is corrected, torch.optim.AdamW after.
            tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, beta1_power=powers[0], beta2_power=powers[1],
                                         lr=lr, beta1=betas[0], beta2=betas[1], epsilon=eps * tf.sqrt(1 - powers[1]), grad=g)
