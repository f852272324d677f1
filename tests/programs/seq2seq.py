"""An encoder and a decoder of Transformer layers that learn to reverse sequences, and greedy decoding."""
import json
import math

import torch
from torch import nn

torch.manual_seed(3)
VOCAB, WIDTH, LENGTH = 12, 32, 6


class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, 4, 64, 0.0, batch_first=True), 1)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(WIDTH, 4, 64, 0.0, batch_first=True), 1)
        self.out = nn.Linear(WIDTH, VOCAB)
        place = torch.arange(16).unsqueeze(1) * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table = torch.zeros(16, WIDTH)
        table[:, 0::2], table[:, 1::2] = torch.sin(place), torch.cos(place)
        self.register_buffer("table", table, persistent=False)

    def add_places(self, ids):
        return self.embed(ids) * math.sqrt(WIDTH) + self.table[:ids.size(1)]

    def forward(self, source, target):
        mask = torch.triu(torch.full((target.size(1), target.size(1)), float("-inf")), diagonal=1)
        return self.out(self.decoder(self.add_places(target), self.encoder(self.add_places(source)), tgt_mask=mask))


model = Reverser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
curve = []
for step in range(25):
    source = torch.randint(2, VOCAB, (16, LENGTH))
    target = torch.cat([torch.ones(16, 1, dtype=torch.long), source.flip(1)], dim=1)
    logits = model(source, target[:, :-1])
    loss = nn.functional.cross_entropy(logits.transpose(1, 2), target[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
print(json.dumps(curve))
