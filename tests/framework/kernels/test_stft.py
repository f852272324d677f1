"""Short-time Fourier transforms against PyTorch's. Source: framework/ops/stft.cpp."""

import numpy as np
import pytest
import torch
import weir

X = np.random.default_rng(0).standard_normal((2, 100))
WINDOW = np.hanning(18)[1:-1].copy()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [
    {}, {"window": True}, {"center": False, "align_to_window": True, "win_length": 7}, {"pad_mode": "circular"}, {"pad_mode": "replicate"},
    {"pad_mode": "constant"}, {"normalized": True, "onesided": False}, {"return_complex": False}, {"hop_length": 5, "win_length": 10}], ids=str)
def test_stft_and_its_gradient(options):
    seen = []
    for F in (weir, torch):
        x = F.from_numpy(X.copy()).requires_grad_()
        given = {"return_complex": True, **options}
        if "window" in options:
            given["window"] = F.from_numpy(WINDOW)
        y = F.stft(x, 16, **given)
        y.abs().sum().backward()
        seen.append([y.detach().numpy(), x.grad.numpy(), y.stride()])
    np.testing.assert_allclose(seen[0][0], seen[1][0], atol=1e-12)
    np.testing.assert_allclose(seen[0][1], seen[1][1], atol=1e-9)
    assert seen[0][2] == seen[1][2]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{}, {"length": 90}, {"length": 150}, {"window": True}, {"normalized": True}, {"win_length": 10}], ids=str)
def test_istft_and_its_gradient(options):
    spectrum = torch.stft(torch.from_numpy(X), 16, return_complex=True).numpy()
    seen = []
    for F in (weir, torch):
        z = F.from_numpy(spectrum.copy()).requires_grad_()
        given = dict(options)
        if "window" in options:
            given["window"] = F.from_numpy(WINDOW)
        y = F.istft(z, 16, **given)
        (y ** 2).sum().backward()
        seen.append([y.detach().numpy(), z.grad.resolve_conj().numpy()])
    for ours, theirs in zip(*seen):
        np.testing.assert_allclose(ours, theirs, atol=1e-10)


def test_a_length_beyond_the_signal_is_warned_of():
    spectrum = weir.stft(weir.from_numpy(X), 16, window=weir.from_numpy(WINDOW), return_complex=True)
    weir.set_warn_always(True)  # it is shown once in a process otherwise
    try:
        with pytest.warns(UserWarning, match="signal is shorter than the length"):
            weir.istft(spectrum, 16, window=weir.from_numpy(WINDOW), length=150)
    finally:
        weir.set_warn_always(False)


def test_the_signal_comes_back():
    w = weir.from_numpy(WINDOW)
    y = weir.stft(weir.from_numpy(X), 16, window=w, return_complex=True)
    np.testing.assert_allclose(weir.istft(y, 16, window=w, length=100).numpy(), X, atol=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", [
    lambda F, x: F.stft(x, 16), lambda F, x: F.stft(x, 16, center=True, align_to_window=True, return_complex=True),
    lambda F, x: F.stft(x, 0, return_complex=True), lambda F, x: F.stft(x, 16, hop_length=0, return_complex=True),
    lambda F, x: F.stft(x, 16, win_length=17, return_complex=True), lambda F, x: F.stft(x, 16, window=F.ones(4), return_complex=True),
    lambda F, x: F.stft(x[None], 16, return_complex=True), lambda F, x: F.stft(x.int(), 16, return_complex=True),
    lambda F, x: F.stft(x[0, :5], 16, return_complex=True), lambda F, x: F.stft(x, 16, return_complex=True, pad_mode="other"),
    lambda F, x: F.stft(x.to(F.complex64), 16, onesided=True), lambda F, x: F.istft(x, 16),
    lambda F, x: F.istft(x.to(F.complex64), 16), lambda F, x: F.istft(F.ones(9, 5, dtype=F.complex64), 16, hop_length=20)])
def test_what_is_refused(call):
    with pytest.raises(Exception) as theirs:
        call(torch, torch.from_numpy(X))
    with pytest.raises(theirs.type):
        call(weir, weir.from_numpy(X))
