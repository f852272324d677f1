"""Smaller libraries: einops, entmax, x-transformers, vector quantization, TorchMetrics, metric learning, spiking nets, TabNet, other optimizers."""
import numpy as np
import pytorch_optimizer
import snntorch
import torch
import torch_optimizer
import torchinfo
import torchmetrics
from ema_pytorch import EMA
from einops import einsum, rearrange, reduce
from einops.layers.torch import Rearrange
from entmax import entmax15, sparsemax
from pytorch_metric_learning import losses, miners
from pytorch_tabnet.tab_model import TabNetClassifier
from rotary_embedding_torch import RotaryEmbedding
from torch import nn
from vector_quantize_pytorch import FSQ, VectorQuantize
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper


def layers():
    x = torch.arange(24.0).view(2, 3, 4)
    print("einops", rearrange(x, "a b c -> c (a b)"), reduce(x, "a b c -> a", "mean"), einsum(x, x, "a b c, a d c -> a b d"))
    print("einops", nn.Sequential(Rearrange("a b c -> a (b c)"), nn.Linear(12, 2))(x).tolist())
    y = torch.arange(4.0, requires_grad=True)
    entmax15(y, 0)[0].backward()
    print("entmax", sparsemax(y, 0).tolist(), y.grad)
    q, index, loss = VectorQuantize(dim=8, codebook_size=16, decay=0.8)(torch.randn(2, 10, 8))
    print("vector_quantize", q[0, 0].tolist(), index[0], loss.item(), FSQ([8, 5, 5])(torch.randn(2, 4, 3))[1])
    print("rotary", RotaryEmbedding(dim=4).rotate_queries_or_keys(torch.randn(1, 2, 5, 8))[0, 0, 3].tolist())
    leaky, spikes = snntorch.Leaky(beta=0.9), []
    memory = leaky.init_leaky()
    for _ in range(4):
        spike, memory = leaky(torch.ones(2) * 0.6, memory)
        spikes.append(spike.sum().item())
    print("snntorch", spikes, memory.tolist())
    told = torchinfo.summary(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 2)), (1, 3, 8, 8), verbose=0)
    print("torchinfo", told.total_params, told.total_mult_adds, str(told))


def models():
    blocks = Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True, use_rmsnorm=True, ff_glu=True)
    model, x = AutoregressiveWrapper(TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=blocks)), torch.randint(0, 20, (2, 16))
    loss = model(x)
    loss.backward()
    print("x_transformers", loss.item(), model.eval().generate(x[:1, :4], 5, temperature=0.0))
    rows = np.random.RandomState(0).randn(64, 4).astype(np.float32)
    tabnet = TabNetClassifier(verbose=0, seed=0, device_name="cpu")
    tabnet.fit(rows, (rows[:, 0] > 0).astype(int), max_epochs=2, batch_size=32, virtual_batch_size=16)
    print("tabnet", [f"{loss:.4f}" for loss in tabnet.history["loss"]])
    line = nn.Linear(2, 2)
    average = EMA(line, beta=0.9, update_after_step=0, update_every=1)
    line.weight.data.add_(1)
    average.update()
    average.update()
    print("ema", average(torch.ones(1, 2)).tolist())


def measures():
    shares, classes = torch.randn(20, 3).softmax(-1), torch.randint(0, 3, (20,))
    for name in ("Accuracy", "F1Score", "AUROC", "ConfusionMatrix", "CohenKappa"):
        print("torchmetrics", name, getattr(torchmetrics, name)(task="multiclass", num_classes=3)(shares, classes))
    print("torchmetrics", torchmetrics.image.StructuralSimilarityIndexMeasure()(torch.rand(1, 1, 16, 16), torch.rand(1, 1, 16, 16)))
    x, y = torch.randn(8, 4, requires_grad=True), torch.arange(8) % 3
    near, pairs = losses.TripletMarginLoss()(x, y, miners.MultiSimilarityMiner()(x, y)), losses.NTXentLoss()(x, y)
    (near + pairs).backward()
    print("metric_learning", near.item(), pairs.item(), x.grad[0])


def optimizers():
    found = [(pytorch_optimizer, n) for n in ("AdaBelief", "Lion", "Lamb", "AdamP", "SophiaH", "Prodigy", "ScheduleFreeAdamW")]
    found += [(torch_optimizer, n) for n in ("Yogi", "DiffGrad", "AdaBound", "QHAdam", "NovoGrad", "Shampoo")]
    for library, name in found:
        torch.manual_seed(0)
        weight = nn.Parameter(torch.ones(4, 3))
        optimizer = getattr(library, name)([weight], lr=0.01)
        if hasattr(optimizer, "train"):
            optimizer.train()
        for _ in range(4):
            (weight ** 2).sum().backward(create_graph=name == "SophiaH")
            optimizer.step()
            optimizer.zero_grad()
        print(library.__name__, name, weight.sum().item())


if __name__ == "__main__":
    for part in (layers, models, measures, optimizers):
        torch.manual_seed(0)
        part()
