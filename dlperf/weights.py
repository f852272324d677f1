"""Starting weights and batches: made once with NumPy, kept in files, loaded by every framework."""

import hashlib
import zlib
from pathlib import Path

import numpy as np

BATCHES = 4  # distinct synthetic batches; steps cycle through them
BUFFERS = ("running_mean", "running_var", "num_batches_tracked")  # how the names of tensors that are not trained end


def load_initial(torch, model_module, model, file: Path, seed: int, nudge: tuple | None = None) -> str:
    """Loads the weights in `file` into `model`; the first run of a model makes the file. Returns its digest.

    A tensor's values depend on the seed and its name alone. Raises ValueError if names or shapes differ from those
    in the file: then the frameworks would not train the same model. `nudge`: see `nudged`; the digest is of the file.
    """
    state = model.state_dict()
    shapes = {name: tuple(x.shape) for name, x in state.items()}
    if not file.exists():
        np.savez(file, **{name: _initial(model_module, name, shape, seed) for name, shape in shapes.items()})
    stored, sha = read_initial(file)
    if {n: a.shape for n, a in stored.items()} != shapes:
        odd = sorted(n for n in stored.keys() | shapes.keys() if n not in shapes or n not in stored
                     or stored[n].shape != shapes[n])
        raise ValueError(f"parameters differ from the reference's in {', '.join(odd[:5])}")
    moved = nudged(stored, nudge)
    model.load_state_dict({name: torch.from_numpy(array) for name, array in moved.items()})
    return sha


def read_initial(file: Path) -> tuple[dict, str]:
    """Returns the arrays in `file` by PyTorch's names, and their digest."""
    if not file.exists():
        raise FileNotFoundError("no starting weights: a run through PyTorch's API makes them and must come first")
    with np.load(file) as arrays:
        stored = {name: arrays[name] for name in arrays.files}
    return stored, arrays_digest(stored)


def nudged(arrays: dict, nudge: tuple[float, int] | None) -> dict:
    """Returns the arrays with every float moved up or down by a share of itself; `nudge` is (share, seed of the signs)."""
    if not nudge:
        return arrays
    share, rng = nudge[0], np.random.default_rng(nudge[1])
    return {name: a if a.dtype.kind != "f" else (a * (1 + share * rng.choice([-1.0, 1.0], a.shape))).astype(a.dtype)
            for name, a in arrays.items()}


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
