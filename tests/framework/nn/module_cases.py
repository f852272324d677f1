"""Modules with the shapes of their inputs: one line makes a test of names, repr, values and gradients."""

import dataclasses

import torch


@dataclasses.dataclass
class Case:
    """`name(*args, **kwargs)` called on tensors of `shapes`; an entry may also be a function that makes a tensor."""

    name: str
    args: tuple = ()
    kwargs: dict = dataclasses.field(default_factory=dict)
    shapes: tuple = ()

    def inputs(self):
        torch.manual_seed(1)
        made = [s() if callable(s) else torch.randn(s) for s in self.shapes]
        return [t.requires_grad_() if t.is_floating_point() and not callable(s) else t for s, t in zip(self.shapes, made)]

    def build(self, framework):
        return getattr(framework.nn, self.name)(*self.args, **self.kwargs)

    def __str__(self):
        return f"{self.name}{self.args}{self.kwargs or ''}"


def case(name, *args, shapes, **kwargs):
    return Case(name, args, kwargs, tuple(shapes))


def signs(*shape):
    return lambda: torch.randint(0, 2, shape) * 2.0 - 1


def probabilities(*shape):
    return lambda: torch.rand(shape)


def classes(high, *shape):
    return lambda: torch.randint(0, high, shape)


_ACTIVATIONS = [case(name, shapes=[(3, 4)]) for name in (
    "CELU", "ELU", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "Mish", "PReLU",
    "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "GLU")] + [
    case("RReLU", shapes=[(3, 4)]), case("Threshold", 0.1, 20, shapes=[(3, 4)]),
    case("Threshold", 0.1, 20, True, shapes=[]), case("ReLU", True, shapes=[]), case("GELU", "tanh", shapes=[(3, 4)]),
    case("PReLU", 4, shapes=[(3, 4)]), case("Softmax", 1, shapes=[(3, 4)]), case("LogSoftmax", -1, shapes=[(3, 4)]),
    case("Softmin", 0, shapes=[(3, 4)]), case("Softmax2d", shapes=[(2, 3, 4, 4)])]

_LAYERS = [
    case("Identity", shapes=[(3, 4)]), case("Linear", 4, 3, shapes=[(2, 5, 4)]),
    case("Linear", 4, 3, bias=False, shapes=[(4,)]), case("Bilinear", 3, 4, 5, shapes=[(2, 3), (2, 4)]),
    case("Flatten", shapes=[(2, 3, 4)]), case("Unflatten", 1, (2, 3), shapes=[(2, 6)]),
    case("Embedding", 10, 3, shapes=[classes(10, 2, 4)]),
    case("Embedding", 10, 3, padding_idx=1, shapes=[classes(10, 2, 4)]),
    case("Embedding", 10, 3, max_norm=1.0, shapes=[classes(10, 2, 4)]),
    case("EmbeddingBag", 10, 3, shapes=[classes(10, 2, 4)]),
    case("EmbeddingBag", 10, 3, mode="sum", shapes=[classes(10, 5), lambda: torch.tensor([0, 2])]),
    case("Conv1d", 4, 6, 3, shapes=[(2, 4, 9)]),
    case("Conv1d", 4, 6, 3, padding="same", shapes=[(2, 4, 9)]),
    case("Conv2d", 4, 6, 3, 2, 1, groups=2, shapes=[(2, 4, 9, 8)]),
    case("Conv2d", 4, 6, (3, 1), padding=(2, 0), dilation=2, bias=False, padding_mode="reflect", shapes=[(2, 4, 9, 8)]),
    case("Conv2d", 4, 6, 3, padding="valid", shapes=[(2, 4, 9, 8)]),
    case("Conv2d", 4, 6, 4, padding="same", padding_mode="circular", shapes=[(2, 4, 9, 8)]),
    case("Conv3d", 2, 3, 2, shapes=[(1, 2, 4, 4, 4)]),
    case("ConvTranspose1d", 4, 6, 3, 2, shapes=[(2, 4, 5)]),
    case("ConvTranspose2d", 4, 6, 3, 2, 1, 1, groups=2, shapes=[(2, 4, 5, 5)]),
    case("ConvTranspose3d", 2, 3, 2, shapes=[(1, 2, 3, 3, 3)]),
    case("Dropout", shapes=[(3, 4)]), case("Dropout2d", 0.2, True, shapes=[(1, 3, 4, 4)]),
    case("AlphaDropout", shapes=[(3, 4)]),
    case("CosineSimilarity", shapes=[(3, 4), (3, 4)]), case("PairwiseDistance", shapes=[(3, 4), (3, 4)]),
    case("MultiheadAttention", 8, 2, shapes=[(3, 2, 8), (5, 2, 8), (5, 2, 8)]),
    case("MultiheadAttention", 8, 2, kdim=4, vdim=6, add_bias_kv=True, batch_first=True,
         shapes=[(2, 3, 8), (2, 5, 4), (2, 5, 6)]),
    case("TransformerEncoderLayer", 8, 2, 16, dropout=0.0, shapes=[(3, 2, 8)]),
    case("TransformerEncoderLayer", 8, 2, 16, dropout=0.0, norm_first=True, activation="gelu", shapes=[(3, 2, 8)]),
    case("Transformer", 8, 2, 2, 1, 16, dropout=0.0, shapes=[(3, 2, 8), (4, 2, 8)]),
    case("TransformerDecoderLayer", 8, 2, 16, dropout=0.0, shapes=[(3, 2, 8), (4, 2, 8)])]

_NORMS = [
    case("BatchNorm1d", 3, shapes=[(4, 3)]), case("BatchNorm1d", 3, affine=False, shapes=[(4, 3, 5)]),
    case("BatchNorm2d", 3, momentum=None, shapes=[(4, 3, 2, 2)]),
    case("BatchNorm2d", 3, track_running_stats=False, shapes=[(4, 3, 2, 2)]),
    case("BatchNorm3d", 3, shapes=[(4, 3, 2, 2, 2)]), case("LayerNorm", (4, 5), shapes=[(3, 4, 5)]),
    case("LayerNorm", 5, bias=False, shapes=[(3, 4, 5)]), case("RMSNorm", 5, shapes=[(3, 5)]),
    case("RMSNorm", (4, 5), eps=1e-3, shapes=[(3, 4, 5)]), case("GroupNorm", 2, 4, shapes=[(3, 4, 5)]),
    case("InstanceNorm1d", 3, shapes=[(2, 3, 5)]), case("InstanceNorm2d", 3, affine=True, shapes=[(2, 3, 4, 4)]),
    case("InstanceNorm2d", 3, track_running_stats=True, shapes=[(2, 3, 4, 4)]),
    case("LocalResponseNorm", 2, shapes=[(2, 4, 5)])]

_POOLS = [
    case("MaxPool1d", 3, shapes=[(2, 3, 9)]), case("MaxPool2d", 3, 2, 1, shapes=[(2, 3, 9, 8)]),
    case("MaxPool2d", 2, return_indices=True, ceil_mode=True, shapes=[(2, 3, 9, 7)]),
    case("MaxPool3d", 2, shapes=[(1, 2, 4, 5, 4)]), case("AvgPool1d", 3, shapes=[(2, 3, 9)]),
    case("AvgPool2d", 3, 2, 1, count_include_pad=False, shapes=[(2, 3, 9, 8)]),
    case("AvgPool3d", 2, shapes=[(1, 2, 4, 5, 4)]), case("LPPool1d", 2, 3, shapes=[(2, 3, 9)]),
    case("LPPool2d", 2, 3, shapes=[(2, 3, 9, 9)]), case("AdaptiveAvgPool1d", 4, shapes=[(2, 3, 9)]),
    case("AdaptiveAvgPool2d", (3, None), shapes=[(2, 3, 7, 5)]), case("AdaptiveAvgPool3d", 2, shapes=[(2, 3, 4, 5, 3)]),
    case("AdaptiveMaxPool1d", 4, shapes=[(2, 3, 9)]), case("AdaptiveMaxPool2d", 3, shapes=[(2, 3, 7, 5)]),
    case("AdaptiveMaxPool3d", 2, True, shapes=[(2, 3, 4, 5, 3)])]

_SHAPES = [
    case("ZeroPad2d", 2, shapes=[(1, 2, 4, 4)]), case("ConstantPad1d", (1, 2), 3.5, shapes=[(2, 2, 4)]),
    case("ReflectionPad1d", 2, shapes=[(2, 2, 4)]), case("ReflectionPad2d", (1, 2, 0, 3), shapes=[(1, 2, 4, 4)]),
    case("ReplicationPad3d", 1, shapes=[(1, 2, 3, 3, 3)]), case("CircularPad2d", 1, shapes=[(1, 2, 4, 4)]),
    case("Upsample", scale_factor=2, shapes=[(1, 2, 3, 4)]),
    case("Upsample", (5, 7), mode="bilinear", shapes=[(1, 2, 3, 4)]),
    case("Upsample", scale_factor=1.5, mode="bicubic", align_corners=True, shapes=[(1, 2, 4, 4)]),
    case("UpsamplingNearest2d", scale_factor=2, shapes=[(1, 2, 3, 4)]),
    case("UpsamplingBilinear2d", 6, shapes=[(1, 2, 3, 4)]), case("PixelShuffle", 2, shapes=[(1, 8, 3, 3)]),
    case("PixelUnshuffle", 2, shapes=[(1, 2, 4, 4)]), case("ChannelShuffle", 2, shapes=[(1, 4, 3, 3)]),
    case("Unfold", 2, padding=1, shapes=[(1, 2, 4, 5)]), case("Fold", (4, 5), 2, shapes=[(1, 8, 12)])]

_LOSSES = [
    case("MSELoss", shapes=[(3, 4), (3, 4)]), case("MSELoss", reduction="sum", shapes=[(3, 4), (3, 4)]),
    case("L1Loss", reduction="none", shapes=[(3, 4), (3, 4)]), case("SmoothL1Loss", beta=0.5, shapes=[(3, 4), (3, 4)]),
    case("HuberLoss", delta=0.3, shapes=[(3, 4), (3, 4)]), case("CrossEntropyLoss", shapes=[(5, 4), classes(4, 5)]),
    case("CrossEntropyLoss", torch.tensor([1.0, 2, 3, 4]), label_smoothing=0.2, ignore_index=1,
         shapes=[(5, 4, 3), classes(4, 5, 3)]),
    case("CrossEntropyLoss", reduction="sum", label_smoothing=0.1, shapes=[(5, 4), probabilities(5, 4)]),
    case("NLLLoss", ignore_index=1, shapes=[(5, 4), classes(4, 5)]),
    case("NLLLoss", torch.tensor([1.0, 2, 3, 4]), reduction="none", shapes=[(5, 4), classes(4, 5)]),
    case("BCELoss", shapes=[lambda: torch.rand(5, 4).mul(0.9).add(0.05), probabilities(5, 4)]),
    case("BCEWithLogitsLoss", pos_weight=torch.tensor([1.0, 2, 3, 4]), shapes=[(5, 4), probabilities(5, 4)]),
    case("KLDivLoss", reduction="batchmean", shapes=[(5, 4), probabilities(5, 4)]),
    case("KLDivLoss", log_target=True, reduction="sum", shapes=[(5, 4), (5, 4)]),
    case("PoissonNLLLoss", full=True, shapes=[(5, 4), probabilities(5, 4)]),
    case("GaussianNLLLoss", shapes=[(5, 4), (5, 4), probabilities(5, 4)]),
    case("MarginRankingLoss", 0.1, shapes=[(5,), (5,), signs(5)]), case("SoftMarginLoss", shapes=[(5, 4), signs(5, 4)]),
    case("HingeEmbeddingLoss", shapes=[(5, 4), signs(5, 4)]),
    case("CosineEmbeddingLoss", 0.2, shapes=[(5, 4), (5, 4), signs(5)]),
    case("TripletMarginLoss", swap=True, shapes=[(5, 4), (5, 4), (5, 4)]),
    case("TripletMarginWithDistanceLoss", shapes=[(5, 4), (5, 4), (5, 4)]),
    case("MultiMarginLoss", p=2, shapes=[(5, 4), classes(4, 5)]),
    case("MultiLabelMarginLoss", shapes=[(2, 4), lambda: torch.tensor([[3, 0, -1, 1], [2, -1, 0, 1]])]),
    case("MultiLabelSoftMarginLoss", shapes=[(5, 4), probabilities(5, 4)])]

CASES = _ACTIVATIONS + _LAYERS + _NORMS + _POOLS + _SHAPES + _LOSSES
