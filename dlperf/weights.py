"""Starting weights and batches: made once with NumPy, kept in files, loaded by every framework."""

import hashlib
import zlib
from pathlib import Path

import numpy as np

BATCHES = 4  # distinct synthetic batches; steps cycle through them


def load_initial(torch, model_module, model, file: Path, seed: int) -> str:
    """Loads the weights in `file` into `model`; the first run of a model makes the file. Returns its digest.

    A tensor's values depend on the seed and its name alone. Raises ValueError if names or shapes differ from those
    in the file: then the frameworks would not train the same model.
    """
    state = model.state_dict()
    shapes = {name: tuple(x.shape) for name, x in state.items()}
    if not file.exists():
        np.savez(file, **{name: _initial(model_module, name, shape, seed) for name, shape in shapes.items()})
    with np.load(file) as arrays:
        stored = {name: arrays[name] for name in arrays.files}
    if {n: a.shape for n, a in stored.items()} != shapes:
        odd = sorted(n for n in stored.keys() | shapes.keys() if n not in shapes or n not in stored
                     or stored[n].shape != shapes[n])
        raise ValueError(f"parameters differ from the reference's in {', '.join(odd[:5])}")
    model.load_state_dict({name: torch.from_numpy(array) for name, array in stored.items()})
    return arrays_digest(stored)


def synthetic_batches(model_module, config, batch_size: int, seed: int) -> list[dict]:
    """Returns the synthetic batches, dictionaries of NumPy arrays."""
    return [model_module.synthetic_batch(np.random.default_rng([seed, i]), config, batch_size)
            for i in range(BATCHES)]


def arrays_digest(arrays: dict) -> str:
    """Returns the SHA-256 of named arrays, in order of name."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(name.encode())
        total.update(np.ascontiguousarray(arrays[name]))
    return total.hexdigest()


def _initial(model_module, name: str, shape: tuple, seed: int) -> np.ndarray:
    return model_module.initial(name, shape, np.random.default_rng([seed, zlib.crc32(name.encode())]))
