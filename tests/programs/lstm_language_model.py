"""A word language model: a two-layer LSTM over truncated sequences, its state carried on, and a tagger over packed ones."""
import json

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

words = ("the weir holds the water and the water runs over the weir into the low stream " * 12).split()
vocabulary = sorted(set(words))
corpus = torch.tensor([vocabulary.index(w) for w in words])


class LanguageModel(nn.Module):
    def __init__(self, vocab, width=16, hidden=16):
        super().__init__()
        self.encoder = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, hidden, 2)
        self.decoder = nn.Linear(hidden, vocab)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, x, state):
        out, state = self.rnn(self.encoder(x), state)
        return self.decoder(out), state

    def start(self, batch):
        weight = next(self.parameters())
        return tuple(weight.new_zeros(2, batch, 16) for _ in range(2))


class Tagger(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed = nn.Embedding(vocab, 8)
        self.gru = nn.GRU(8, 6, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embed(x), lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return self.head(out)


torch.manual_seed(5)
batch, span = 4, 7
columns = corpus[: corpus.numel() // batch * batch].view(batch, -1).t().contiguous()
model = LanguageModel(len(vocabulary))
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
losses = []
for epoch in range(2):
    state = model.start(batch)
    for i in range(0, columns.size(0) - 1, span):
        x, y = columns[i:i + span], columns[i + 1:i + 1 + span]
        state = tuple(s.detach() for s in state)
        logits, state = model(x[: len(y)], state)
        loss = F.cross_entropy(logits.view(-1, len(vocabulary)), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        losses.append(loss.item())

tagger = Tagger(len(vocabulary))
optimizer = torch.optim.Adam(tagger.parameters(), lr=0.02)
sentences = [corpus[3 * i:3 * i + 2 + i % 5] for i in range(12)]
lengths = torch.tensor([len(s) for s in sentences])
x = pad_sequence(sentences, batch_first=True)
tags = torch.where(torch.arange(x.size(1))[None] < lengths[:, None], x % 2, -1)
for _ in range(15):
    loss = F.cross_entropy(tagger(x, lengths).flatten(0, 1), tags.flatten(), ignore_index=-1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(json.dumps(losses))
