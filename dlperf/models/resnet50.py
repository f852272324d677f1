"""ResNet50-v1.5 for image classification: the stride of a bottleneck sits in its 3x3 convolution.

Source: He et al. 2015, table 1; the stride's place and the training settings as in NVIDIA's DeepLearningExamples.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Config:
    """Sizes and settings. `params` is the number of trainable values that a right build has, None if not fixed."""

    blocks: tuple = (3, 4, 6, 3)
    width: int = 64
    classes: int = 1000
    image: int = 224
    params: int | None = 25_557_032
    lr_per_256: float = 0.256
    momentum: float = 0.875
    weight_decay: float = 3.05e-5
    label_smoothing: float = 0.0
    layout_matters: bool = True

    def without_dropout(self) -> "Config":
        """Returns this config: the model has no dropout."""
        return self


PRESETS = {"full": Config(), "tiny": Config(blocks=(1, 1, 1, 1), width=8, classes=10, image=32, params=None)}
EXPANSION = 4


def build(torch, config: Config):
    """Returns the model: (N, 3, H, W) float pictures to (N, classes) logits."""
    nn = torch.nn

    def conv(cin, cout, kernel, stride=1):
        return nn.Conv2d(cin, cout, kernel, stride=stride, padding=kernel // 2, bias=False)

    class Bottleneck(nn.Module):
        """1x1, 3x3 (with the stride), 1x1, and the shortcut."""

        def __init__(self, cin, width, stride):
            super().__init__()
            cout = width * EXPANSION
            self.conv1, self.bn1 = conv(cin, width, 1), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
            self.conv3, self.bn3 = conv(width, cout, 1), nn.BatchNorm2d(cout)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if stride != 1 or cin != cout:
                self.downsample = nn.Sequential(conv(cin, cout, 1, stride), nn.BatchNorm2d(cout))

        def forward(self, x):
            shortcut = x if self.downsample is None else self.downsample(x)
            x = self.relu(self.bn1(self.conv1(x)))
            x = self.relu(self.bn2(self.conv2(x)))
            return self.relu(self.bn3(self.conv3(x)) + shortcut)

    class ResNet(nn.Module):
        """Stem, four stages, average pool, classifier."""

        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = conv(3, config.width, 7, 2), nn.BatchNorm2d(config.width)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
            self.stages = nn.Sequential(*(nn.Sequential(*(Bottleneck(*shape) for shape in stage))
                                          for stage in stages(config)))
            self.avgpool = nn.AdaptiveAvgPool2d(1)
            self.fc = nn.Linear(config.width * 8 * EXPANSION, config.classes)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            return self.fc(self.avgpool(self.stages(x)).flatten(1))

    return ResNet()


def stages(config: Config) -> list[list[tuple[int, int, int]]]:
    """Returns (input channels, width, stride) of every bottleneck, stage by stage."""
    result, cin = [], config.width
    for i, count in enumerate(config.blocks):
        width, stage = config.width * 2**i, []
        for j in range(count):
            stage.append((cin, width, 2 if i > 0 and j == 0 else 1))
            cin = width * EXPANSION
        result.append(stage)
    return result


def loss(torch, model, batch):
    """Returns the mean cross entropy of batch["image"] (N, 3, H, W) with batch["label"] (N,)."""
    return torch.nn.functional.cross_entropy(model(batch["image"]), batch["label"])


def functional_loss(net, batch, config: Config):
    """Returns the same loss for frameworks of functions. `net`: the layers of a `weir_dlperf.trainers`, over parameters
    with PyTorch's names; batch["image"] is (N, H, W, 3)."""

    def conv_bn(x, conv, bn, stride=1):
        return net.batch_norm(net.conv(x, conv, stride), bn)

    x = net.max_pool(net.relu(conv_bn(batch["image"], "conv1", "bn1", 2)))
    for i, stage in enumerate(stages(config)):
        for j, (cin, width, stride) in enumerate(stage):
            at = f"stages.{i}.{j}."
            shortcut = x
            if stride != 1 or cin != width * EXPANSION:
                shortcut = conv_bn(x, f"{at}downsample.0", f"{at}downsample.1", stride)
            x = net.relu(conv_bn(x, f"{at}conv1", f"{at}bn1"))
            x = net.relu(conv_bn(x, f"{at}conv2", f"{at}bn2", stride))
            x = net.relu(conv_bn(x, f"{at}conv3", f"{at}bn3") + shortcut)
    return net.cross_entropy(net.linear(net.mean(x, (1, 2)), "fc"), batch["label"])


OPTIMIZER = "SGD"


def settings(config: Config, batch_size: int) -> dict:
    """Returns the optimizer's settings; the learning rate is scaled linearly from batch 256."""
    return {"lr": config.lr_per_256 * batch_size / 256, "momentum": config.momentum,
            "weight_decay": config.weight_decay}


def initial(name: str, shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """Returns the starting value of a parameter or buffer: He-normal (fan out) convolutions, unit batch norms."""
    if len(shape) == 4:
        return rng.normal(0, np.sqrt(2 / (shape[0] * shape[2] * shape[3])), shape).astype(np.float32)
    if len(shape) == 2:
        return rng.normal(0, 0.01, shape).astype(np.float32)
    if name.endswith("num_batches_tracked"):
        return np.zeros(shape, np.int64)
    return np.full(shape, 1 if name.endswith(("weight", "running_var")) else 0, np.float32)


def synthetic_batch(rng: np.random.Generator, config: Config, batch_size: int) -> dict:
    """Returns random pictures and labels as NumPy arrays."""
    shape = (batch_size, 3, config.image, config.image)
    return {"image": rng.standard_normal(shape, np.float32), "label": rng.integers(config.classes, size=batch_size)}


def train_flop(config: Config) -> float:
    """Returns floating-point operations to train on one picture: three times the forward multiply-adds, times two."""
    size = config.image // 2
    macs = size**2 * 49 * 3 * config.width
    size //= 2
    for stage in stages(config):
        for cin, width, stride in stage:
            out = size // stride
            cout = width * EXPANSION
            macs += size**2 * cin * width + out**2 * (9 * width * width + width * cout)
            macs += out**2 * cin * cout if stride != 1 or cin != cout else 0
            size = out
    return 6.0 * (macs + config.width * 8 * EXPANSION * config.classes)
