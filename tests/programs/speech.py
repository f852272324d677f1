"""A toy recogniser: spectrograms by stft, a bidirectional GRU over packed sequences with CTC, and an RNN-T loss by a loop over logaddexp."""
import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
VOCAB = 6


def utterance(n):
    words = torch.randint(1, VOCAB, (n,))
    t = torch.arange(64) / 64
    wave = torch.cat([torch.sin(2 * torch.pi * (4 * int(w)) * t) for w in words]) + 0.05 * torch.randn(64 * n)
    return wave, words


def features(wave):
    s = torch.stft(wave, n_fft=32, hop_length=16, window=torch.hann_window(32), return_complex=True)
    return torch.log1p(s.abs() ** 2).T


class Recogniser(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.rnn = nn.GRU(17, dim, num_layers=2, bidirectional=True, batch_first=True, dropout=0.1)
        self.out = nn.Linear(2 * dim, VOCAB)
        self.predictor = nn.LSTMCell(VOCAB, dim)
        self.start = nn.Parameter(torch.zeros(dim))
        self.join = nn.Linear(3 * dim, VOCAB)

    def encode(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.rnn(packed)[0], batch_first=True)

    def transducer(self, h, words):
        state = (self.start.expand(1, -1), torch.zeros(1, len(self.start)))
        steps = [state[0]]
        for w in F.one_hot(words, VOCAB).float():
            state = self.predictor(w[None], state)
            steps.append(state[0])
        g = torch.cat(steps)
        joint = self.join(torch.tanh(torch.cat((h[:, None].expand(-1, len(g), -1), g[None].expand(len(h), -1, -1)), -1))).log_softmax(-1)
        blank, emit = joint[..., 0], joint[:, :-1].gather(2, words.view(1, -1, 1).expand(len(h), -1, 1)).squeeze(2)
        row = torch.cat((joint.new_zeros(1), emit[0].cumsum(0)))
        for t in range(1, len(h)):
            base = row + blank[t - 1]
            new = [base[0]]
            for u in range(1, len(g)):
                new.append(torch.logaddexp(base[u], new[-1] + emit[t, u - 1]))
            row = torch.stack(new)
        return -(row[-1] + blank[-1, -1])


model = Recogniser()
opt = torch.optim.RMSprop(model.parameters(), lr=3e-3, momentum=0.5, centered=True)
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
curve = []
for step in range(12):
    waves, words = zip(*(utterance(int(n)) for n in torch.randint(2, 4, (4,))))
    x = [features(w) for w in waves]
    lengths = torch.tensor([len(f) for f in x])
    h, out_lengths = model.encode(pad_sequence(x, batch_first=True), lengths)
    logp = model.out(h).log_softmax(-1).transpose(0, 1)
    loss = ctc(logp, torch.cat(words), out_lengths, torch.tensor([len(w) for w in words]))
    rnnt = model.transducer(h[0, :out_lengths[0]], words[0])
    opt.zero_grad()
    (loss + 0.1 * rnnt).backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    opt.step()
    curve += [loss.item(), rnnt.item()]
model.eval()
best = logp.argmax(-1)[:, 0]
decoded = [int(k) for k in torch.unique_consecutive(best) if k]
print(len(decoded) >= 0, h.shape[-1])
back = torch.istft(torch.stft(waves[0], 32, 16, window=torch.hann_window(32), return_complex=True), 32, 16, window=torch.hann_window(32), length=len(waves[0]))
print(torch.allclose(back, waves[0], atol=1e-5))
print(json.dumps(curve))
