"""Where batches come from: random arrays, or real files, for some through the framework's own DataLoader."""

import numpy as np

from ..weights import BATCHES, arrays_digest, synthetic_batches


def source(torch, spec: dict, module, config):
    """Returns (iterable of batches as tensors, SHA-256 of what they are made from).

    Synthetic: a short list. Real: an endless iterator over the framework's DataLoader.
    """
    if spec["data"] == "real":
        dataset = _real(spec, config)

        class Samples(torch.utils.data.Dataset):
            """The samples, read and prepared one by one; those without a collate become tensors here."""

            def __len__(self):
                return dataset.count

            def __getitem__(self, index):
                row = dataset.sample(index)
                return row if dataset.collate else _tensors(torch, row)

        def collate(rows):
            return _tensors(torch, dataset.collate(rows))

        loader = torch.utils.data.DataLoader(Samples(), batch_size=spec["batch_size"], shuffle=False, num_workers=0,
                                             drop_last=True, collate_fn=collate if dataset.collate else None)
        return _endless(loader), dataset.sha
    batches, sha = arrays(spec, module, config)
    return [_tensors(torch, batch) for batch in batches], sha


def arrays(spec: dict, module, config):
    """Returns the same as `source` in NumPy arrays, for frameworks without a DataLoader."""
    if spec["data"] == "real":
        dataset, size = _real(spec, config), spec["batch_size"]
        collate = dataset.collate or stack

        def batches():
            for start in range(0, dataset.count - size + 1, size):
                yield collate([dataset.sample(i) for i in range(start, start + size)])

        return (batch for _ in iter(int, 1) for batch in batches()), dataset.sha
    made = synthetic_batches(module, config, spec["batch_size"], spec["seed"])
    return made, arrays_digest({f"{i}/{name}": a for i, batch in enumerate(made) for name, a in batch.items()})


def count(mode: str, model: str, batch_size: int) -> int:
    """Returns how many samples there are before they come again."""
    from . import pictures, text

    if mode == "synthetic":
        return BATCHES * batch_size
    return {"resnet50": pictures.COUNT * pictures.CROPS, "bert": text.SAMPLES}[model]


def stack(rows: list[dict]) -> dict:
    """Returns a batch from samples that are dictionaries of arrays and numbers."""
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _tensors(torch, row: dict) -> dict:
    return {name: torch.from_numpy(a) if isinstance(a, np.ndarray) else a for name, a in row.items()}


def _real(spec: dict, config):
    from . import pictures, text

    return {"resnet50": pictures.Pictures, "bert": text.Text}[spec["model"]](config, spec["seed"])


def _endless(loader):
    while True:
        yield from loader
