"""Where batches come from: random arrays, or real files through the framework's own DataLoader."""

from ..weights import arrays_digest, synthetic_batches


def source(torch, spec: dict, module, config):
    """Returns (iterable of batches as tensors, SHA-256 of what they are made from).

    Synthetic: a short list. Real: an endless iterator over the framework's DataLoader.
    """
    if spec["data"] == "real":
        from . import pictures, text

        return {"resnet50": pictures, "bert": text}[spec["model"]].loader(torch, config, spec["batch_size"],
                                                                         spec["seed"])
    arrays = synthetic_batches(module, config, spec["batch_size"], spec["seed"])
    sha = arrays_digest({f"{i}/{name}": a for i, batch in enumerate(arrays) for name, a in batch.items()})
    return [{name: torch.from_numpy(a) for name, a in batch.items()} for batch in arrays], sha


def endless(loader):
    """Yields the loader's batches, epoch after epoch."""
    while True:
        yield from loader
