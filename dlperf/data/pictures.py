"""Pictures for ResNet50: JPEG files of computed scenes, read, decoded, cropped and flipped as photographs would be."""

import hashlib
import io
import os
from functools import cache
from pathlib import Path

import numpy as np

COUNT, CLASSES = 64, 8
CROPS = 64  # of every picture, before they come again
WIDTH, HEIGHT = 400, 320
QUALITY = 85
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])  # as for ImageNet


class Pictures:
    """Samples as in training: a random crop of 8% to 100% of the picture, resized, flipped half the time.

    `sha` is of the files. Reading and decoding happen per sample.
    """

    def __init__(self, config, seed: int):
        files = make_files()
        self.pairs = [(path, index % min(CLASSES, config.classes)) for index, path in enumerate(files)]
        self.size, self.seed, self.count, self.sha = config.image, seed, COUNT * CROPS, _digest(files)

    def sample(self, index: int) -> dict:
        """Returns {"image": (3, size, size) float32, "label"}."""
        path, label = self.pairs[index % COUNT]
        return {"image": augment(path, self.size, np.random.default_rng([self.seed, index])), "label": label}

    collate = None  # stacking is left to the framework's loader


def make_files(folder: Path | None = None) -> list[Path]:
    """Writes the pictures once (into the user's cache by default) and returns their paths."""
    folder = folder or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "weir" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{i:03}.jpg" for i in range(COUNT)]
    for i, path in enumerate(paths):
        if not path.exists():
            part = path.with_suffix(f".{os.getpid()}")  # a reader never sees half a file
            part.write_bytes(encode(scene(i)))
            part.rename(path)
    return paths


def scene(index: int) -> np.ndarray:
    """Returns picture `index`, (HEIGHT, WIDTH, 3) bytes: a Julia set over clouds; its class sets the constant."""
    rng = np.random.default_rng([index, 2])
    angle = 2 * np.pi * (index % CLASSES) / CLASSES
    y, x = np.mgrid[-1 : 1 : HEIGHT * 1j, -1.25 : 1.25 : WIDTH * 1j]
    z, c = (x + 1j * y) * rng.uniform(0.7, 1.3), 0.7885 * np.exp(1j * (angle + rng.normal(0, 0.02)))
    escape = np.zeros(z.shape)
    for _ in range(40):
        inside = np.abs(z) < 4
        escape += inside
        z = np.where(inside, z * z + c, z)
    depth = np.sqrt(escape / 40)
    tint = rng.uniform(0.2, 1, 3)
    return np.uint8(255 * np.clip(0.75 * depth[..., None] * tint + 0.25 * clouds(rng)[..., None], 0, 1))


def clouds(rng: np.random.Generator) -> np.ndarray:
    """Returns (HEIGHT, WIDTH) smooth noise in [0, 1]: random grids of growing fineness, enlarged and added."""
    from PIL import Image

    total = np.zeros((HEIGHT, WIDTH))
    for octave in range(1, 6):
        grid = Image.fromarray(np.uint8(rng.integers(256, size=(2**octave + 1, 2**octave + 1))))
        total += np.asarray(grid.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)) / 255 / 2**octave
    return total


def encode(pixels: np.ndarray) -> bytes:
    """Returns the picture as a JPEG file."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def augment(path: Path, size: int, rng: np.random.Generator) -> np.ndarray:
    """Returns a (3, size, size) float32 training sample of the file: random crop, resize, flip, normalise."""
    from PIL import Image

    with Image.open(path) as image:
        area = image.width * image.height * rng.uniform(0.08, 1)
        aspect = np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        w = min(image.width, max(1, round(np.sqrt(area * aspect))))
        h = min(image.height, max(1, round(np.sqrt(area / aspect))))
        left, top = rng.integers(image.width - w + 1), rng.integers(image.height - h + 1)
        crop = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR, (left, top, left + w, top + h))
    pixels = (np.asarray(crop, np.float32) / 255 - MEAN) / STD
    if rng.random() < 0.5:
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))


@cache
def _digest_of(paths: tuple) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(p.read_bytes()).digest() for p in paths)).hexdigest()


def _digest(paths: list) -> str:
    return _digest_of(tuple(paths))
