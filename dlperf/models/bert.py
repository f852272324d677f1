"""BERT pre-training: masked words (the decoder shares the word embedding) and next-sentence prediction.

Post-layer-norm encoder with gelu. Source: Devlin et al. 2018, section 3 and appendix A.2.
"""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Config:
    """Sizes and settings. `params` is the number of trainable values that a right build has, None if not fixed."""

    vocab: int = 30522
    hidden: int = 768
    layers: int = 12
    heads: int = 12
    inner: int = 3072
    positions: int = 512
    sequence: int = 128
    predictions: int = 20
    dropout: float = 0.1
    params: int | None = 110_106_428
    lr: float = 1e-4
    weight_decay: float = 0.01
    layout_matters: bool = False

    def without_dropout(self) -> "Config":
        """Returns this config with dropout 0, as the gate needs it: random numbers differ between frameworks."""
        return replace(self, dropout=0.0)


PRESETS = {"full": Config(), "tiny": Config(vocab=1024, hidden=64, layers=2, heads=4, inner=128, positions=64,
                                            sequence=32, predictions=5, params=None)}


def build(torch, config: Config):
    """Returns the model: a batch's token ids, types and prediction places to (word logits, next-sentence logits)."""
    nn, F = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        """Self-attention and feed-forward, each added to its input and normalised."""

        def __init__(self):
            super().__init__()
            self.query, self.key, self.value, self.out = (nn.Linear(config.hidden, config.hidden) for _ in range(4))
            self.attention_norm = nn.LayerNorm(config.hidden, eps=1e-12)
            self.inner, self.outer = nn.Linear(config.hidden, config.inner), nn.Linear(config.inner, config.hidden)
            self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
            self.dropout = nn.Dropout(config.dropout)

        def split(self, x):
            """(N, S, hidden) to (N, heads, S, hidden / heads)."""
            return x.view(x.shape[0], x.shape[1], config.heads, config.hidden // config.heads).transpose(1, 2)

        def forward(self, x):
            q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
            mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=config.dropout if self.training else 0.0)
            mixed = mixed.transpose(1, 2).reshape(x.shape[0], x.shape[1], config.hidden)
            x = self.attention_norm(x + self.dropout(self.out(mixed)))
            return self.norm(x + self.dropout(self.outer(F.gelu(self.inner(x)))))

    class Bert(nn.Module):
        """Embeddings, encoder, and the two heads."""

        def __init__(self):
            super().__init__()
            self.word = nn.Embedding(config.vocab, config.hidden)
            self.position = nn.Embedding(config.positions, config.hidden)
            self.token_type = nn.Embedding(2, config.hidden)
            self.norm = nn.LayerNorm(config.hidden, eps=1e-12)
            self.dropout = nn.Dropout(config.dropout)
            self.encoder = nn.Sequential(*(Layer() for _ in range(config.layers)))
            self.pooler = nn.Linear(config.hidden, config.hidden)
            self.next_sentence = nn.Linear(config.hidden, 2)
            self.transform = nn.Linear(config.hidden, config.hidden)
            self.transform_norm = nn.LayerNorm(config.hidden, eps=1e-12)
            self.decoder_bias = nn.Parameter(torch.zeros(config.vocab))

        def forward(self, ids, types, positions, places):
            x = self.word(ids) + self.position(positions) + self.token_type(types)
            x = self.encoder(self.dropout(self.norm(x)))
            picked = x.reshape(-1, config.hidden).index_select(0, places)
            picked = self.transform_norm(F.gelu(self.transform(picked)))
            words = F.linear(picked, self.word.weight, self.decoder_bias)
            return words, self.next_sentence(torch.tanh(self.pooler(x[:, 0])))

    return Bert()


def loss(torch, model, batch):
    """Returns the sum of the two mean cross entropies."""
    words, following = model(batch["ids"], batch["types"], batch["positions"], batch["places"])
    cross_entropy = torch.nn.functional.cross_entropy
    return cross_entropy(words, batch["words"]) + cross_entropy(following, batch["follows"])


def functional_loss(net, batch, config: Config):
    """Returns the same loss for frameworks of functions. `net`: the layers of a `weir_dlperf.trainers`, over parameters
    with PyTorch's names."""
    n, s = batch["ids"].shape
    size = config.hidden // config.heads

    def layer(x, at):
        def split(name):
            return net.transpose(net.reshape(net.linear(x, at + name), (n, s, config.heads, size)), (0, 2, 1, 3))

        shares = net.softmax(net.matmul(split("query"), net.transpose(split("key"), (0, 1, 3, 2))) * size**-0.5)
        mixed = net.matmul(net.dropout(shares, config.dropout), split("value"))
        mixed = net.reshape(net.transpose(mixed, (0, 2, 1, 3)), (n, s, config.hidden))
        x = net.layer_norm(x + net.dropout(net.linear(mixed, at + "out"), config.dropout), at + "attention_norm")
        outer = net.linear(net.gelu(net.linear(x, at + "inner")), at + "outer")
        return net.layer_norm(x + net.dropout(outer, config.dropout), at + "norm")

    x = net.embedding("word", batch["ids"]) + net.embedding("position", batch["positions"])
    x = net.dropout(net.layer_norm(x + net.embedding("token_type", batch["types"]), "norm"), config.dropout)
    for i in range(config.layers):
        x = layer(x, f"encoder.{i}.")
    picked = net.take(net.reshape(x, (n * s, config.hidden)), batch["places"])
    picked = net.layer_norm(net.gelu(net.linear(picked, "transform")), "transform_norm")
    words = net.linear(picked, "word", bias="decoder_bias")
    following = net.linear(net.tanh(net.linear(x[:, 0], "pooler")), "next_sentence")
    return net.cross_entropy(words, batch["words"]) + net.cross_entropy(following, batch["follows"])


OPTIMIZER = "AdamW"


def settings(config: Config, batch_size: int) -> dict:
    """Returns the optimizer's settings; the learning rate does not depend on the batch."""
    return {"lr": config.lr, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": config.weight_decay}


def initial(name: str, shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """Returns the starting value of a parameter: normal with deviation 0.02, unit norms, zero biases."""
    if len(shape) == 2:
        return rng.normal(0, 0.02, shape).astype(np.float32)
    return np.full(shape, 1 if name.endswith("norm.weight") else 0, np.float32)


def synthetic_batch(rng: np.random.Generator, config: Config, batch_size: int) -> dict:
    """Returns random tokens as NumPy arrays; see `assemble` for the fields."""
    n, s, p = batch_size, config.sequence, config.predictions
    places = np.stack([np.sort(rng.choice(np.arange(1, s), p, replace=False)) for _ in range(n)])
    types = (np.arange(s) >= s // 2).astype(np.int64)
    return assemble(rng.integers(config.vocab, size=(n, s)), np.tile(types, (n, 1)), places,
                    rng.integers(config.vocab, size=(n, p)), rng.integers(2, size=n))


def assemble(ids, types, places, words, follows) -> dict:
    """Returns a batch from (N, S) ids and types, (N, P) places in each sequence, (N, P) words, (N,) follows.

    `places` become rows of the flattened (N * S) sequences, so that a framework needs only index_select.
    """
    n, s = ids.shape
    rows = (places + np.arange(n)[:, None] * s).reshape(-1)
    return {"ids": ids, "types": types, "positions": np.tile(np.arange(s), (n, 1)), "places": rows,
            "words": words.reshape(-1), "follows": follows}


def train_flop(config: Config) -> float:
    """Returns floating-point operations to train on one sequence: three times the forward matrix products."""
    s, h = config.sequence, config.hidden
    layer = s * (8 * h * h + 4 * h * config.inner) + 4 * s * s * h
    heads = config.predictions * (2 * h * h + 2 * h * config.vocab) + 2 * h * h + 4 * h
    return 3.0 * (config.layers * layer + heads)
