"""A small encoder from scratch, fine-tuned to tell two kinds of sentences, with a schedule with warm-up."""
import json

import torch
from torch import nn

torch.manual_seed(0)


class Bert(nn.Module):
    def __init__(self, vocab=30, width=32, length=12):
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, width, padding_idx=0), nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        layer = nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, 2)
        self.register_buffer("position_ids", torch.arange(length).expand((1, -1)))

    def forward(self, ids):
        x = self.norm(self.words(ids) + self.places(self.position_ids[:, :ids.size(1)]))
        x = self.encoder(x, src_key_padding_mask=ids == 0)
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))


ids = torch.randint(1, 30, (32, 12))
ids[:, 9:] = 0
labels = (ids[:, 1] > ids[:, 2]).long()
model = Bert()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 5) * max(0.0, 1 - s / 25))
loss_fn, curve = nn.CrossEntropyLoss(label_smoothing=0.1), []
for step in range(20):
    loss = loss_fn(model(ids), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    curve.append(loss.item())
model.eval()
with torch.no_grad():
    curve.append((model(ids).argmax(-1) == labels).float().mean().item())
print(json.dumps(curve))
