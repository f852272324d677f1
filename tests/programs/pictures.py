"""Reads JPEGs with two workers, crops, turns and normalises them, and prints what each epoch's batches hold."""
import io

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


def encoded(i):
    y, x = np.mgrid[:256, :256]
    picture = np.stack([(x * (i + 1)) % 251, (y * (i + 3)) % 241, (x + y + 9 * i) % 256], axis=-1).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=90)
    return file.getvalue()


class Pictures(Dataset):
    """`n` pictures of 256 x 256, of 24 different ones, of which 224 x 224 are seen, mirrored at random."""

    mean, std = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1), torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)

    def __init__(self, n):
        self.n, self.files = n, [encoded(i) for i in range(24)]

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        x = torch.from_numpy(np.array(Image.open(io.BytesIO(self.files[i % 24])).convert("RGB"))).permute(2, 0, 1).float() / 255
        top, left = torch.randint(0, 33, (2,)).tolist()
        x = x[:, top:top + 224, left:left + 224]
        if torch.rand(()) < 0.5:
            x = x.flip(-1)
        return (x - self.mean) / self.std, i % 10


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Pictures(384), batch_size=32, shuffle=True, num_workers=2)
    for epoch in range(2):
        means, labels = [], torch.zeros(10, dtype=torch.int64)
        for x, y in loader:
            means.append(x.mean().item())
            labels += torch.bincount(y, minlength=10)
        print(f"epoch {epoch}: means {' '.join(f'{m:.4f}' for m in means)} labels {labels.tolist()}")
