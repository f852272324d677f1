"""Recurrent nets and packed sequences against PyTorch's: values, states, gradients of two orders, seeds, refusals."""

import itertools

import numpy as np
import pytest
import torch
import weir
from twins import assert_close, to_weir

KINDS = ["RNN", "GRU", "LSTM"]


def flat(result):
    """All tensors of an output and its states."""
    if isinstance(result, (torch.Tensor, weir.Tensor)):
        return [result]
    return [t for part in result if part is not None for t in flat(part)]


def twins(kind, *args, **kwargs):
    torch.manual_seed(3), weir.manual_seed(3)
    theirs, ours = (getattr(f.nn, kind)(*args, **kwargs) for f in (torch, weir))
    for name, value in theirs.state_dict().items():
        assert_close(ours.state_dict()[name], value, what=name)
    assert repr(ours) == repr(theirs)
    return ours, theirs


def compare(ours, theirs, *inputs):
    own = [to_weir(x) for x in inputs]
    expected, actual = flat(theirs(*inputs)), flat(ours(*own))
    assert_close(actual, expected)
    sum((t.double() ** 2).sum() for t in expected if t.is_floating_point()).backward()
    sum((t.double() ** 2).sum() for t in actual if t.is_floating_point()).backward()
    for (name, a), e in zip(ours.named_parameters(), theirs.parameters()):
        assert_close(a.grad, e.grad, rtol=1e-3, atol=1e-4, what=name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers,bias,batch_first,bidirectional", list(itertools.product((1, 2), *[(False, True)] * 3)))
def test_sequences(kind, layers, bias, batch_first, bidirectional):
    ours, theirs = twins(kind, 3, 5, layers, bias=bias, batch_first=batch_first, bidirectional=bidirectional)
    compare(ours, theirs, torch.randn(4, 2, 3))
    compare(ours, theirs, torch.randn(4, 3))


GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


def derivatives(F, kind, layers, bidirectional, steps, batch, hidden, through_states):
    """Results of a whole net, gradients of all that goes in, and gradients of these."""
    draw = np.random.default_rng(0)
    ways, gates = 1 + bidirectional, GATES[kind]
    def leaf(*shape):
        return F.from_numpy(draw.normal(size=shape)).requires_grad_()
    x, *states = leaf(steps, batch, 4), *(leaf(layers * ways, batch, hidden) for _ in range(2 if kind == "lstm" else 1))
    weights = [leaf(*shape) for layer in range(layers) for _ in range(ways)
               for shape in ((gates * hidden, hidden * ways if layer else 4), (gates * hidden, hidden), (gates * hidden,), (gates * hidden,))]
    leaves = [x, *states, *weights]
    results = getattr(F, kind)(x, states if kind == "lstm" else states[0], weights, True, layers, 0.0, True, bidirectional, False)
    loss = (results[0] ** 2).sum() + (results[-1] ** 3).sum() * through_states
    plain = F.autograd.grad(loss, leaves, retain_graph=True)
    first = F.autograd.grad(loss, leaves, create_graph=True)
    return [*results, *plain, *first, *F.autograd.grad(sum((g * g).sum() for g in first), leaves)]


@pytest.mark.parametrize("layers,bidirectional,through_states", [(1, False, 0), (1, True, 1), (2, True, 0), (2, False, 1)])
@pytest.mark.parametrize("steps,batch,hidden", [(1, 1, 1), (5, 3, 6), (3, 1, 17)])
@pytest.mark.parametrize("kind", GATES)
def test_two_derivatives_of_a_whole_net(kind, layers, bidirectional, through_states, steps, batch, hidden):
    seen = [derivatives(F, kind, layers, bidirectional, steps, batch, hidden, through_states) for F in (weir, torch)]
    for ours, theirs in zip(*seen):
        assert_close(ours, theirs, rtol=1e-9, atol=1e-9 * max(1.0, theirs.abs().max().item()))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_projections(bidirectional):
    ours, theirs = twins("LSTM", 3, 5, 2, proj_size=2, bidirectional=bidirectional)
    compare(ours, theirs, torch.randn(4, 2, 3))


def test_relu_and_float64():
    ours, theirs = twins("RNN", 3, 5, nonlinearity="relu")
    compare(ours.double(), theirs.double(), torch.randn(4, 2, 3).double())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("lengths", [[4, 2, 1], [2, 4, 4]])
def test_packed_sequences(kind, bidirectional, lengths):
    ours, theirs = twins(kind, 3, 5, 2, bidirectional=bidirectional)
    x, ordered = torch.randn(4, 3, 3), lengths[0] == 4
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=ordered)
    own = weir.nn.utils.rnn.pack_padded_sequence(to_weir(x), lengths, enforce_sorted=ordered)
    assert_close(flat(own), flat(packed))
    expected, actual = theirs(packed), ours(own)
    assert_close(flat(actual), flat(expected))
    padded = torch.nn.utils.rnn.pad_packed_sequence(expected[0], True, -1.0, 6)
    own_padded = weir.nn.utils.rnn.pad_packed_sequence(actual[0], True, -1.0, 6)
    assert_close(list(own_padded), list(padded))
    (padded[0] ** 2).sum().backward(), (own_padded[0] ** 2).sum().backward()
    for (name, a), e in zip(ours.named_parameters(), theirs.parameters()):
        assert_close(a.grad, e.grad, rtol=1e-3, atol=1e-4, what=name)


def test_given_states():
    h, c = torch.randn(2, 2, 5), torch.randn(2, 2, 5)
    ours, theirs = twins("LSTM", 3, 5, 2)
    x = torch.randn(4, 2, 3)
    assert_close(flat(ours(to_weir(x), (to_weir(h), to_weir(c)))), flat(theirs(x, (h, c))))
    ours, theirs = twins("GRU", 3, 5, 2)
    assert_close(flat(ours(to_weir(x), to_weir(h))), flat(theirs(x, h)))


@pytest.mark.parametrize("kind", ["RNNCell", "GRUCell", "LSTMCell"])
@pytest.mark.parametrize("bias", [False, True])
def test_cells(kind, bias):
    ours, theirs = twins(kind, 3, 5, bias)
    compare(ours, theirs, torch.randn(2, 3))
    compare(ours, theirs, torch.randn(3))


@pytest.mark.parametrize("kind", KINDS)
def test_second_derivatives(kind):
    ours, theirs = twins(kind, 2, 3)
    x = torch.randn(3, 2, 2).double().requires_grad_()
    own, grads = to_weir(x), []
    for f, module, t in ((torch, theirs.double(), x), (weir, ours.double(), own)):
        (g,) = f.autograd.grad((module(t)[0] ** 2).sum(), t, create_graph=True)
        grads.append(f.autograd.grad((g ** 2).sum(), t)[0])
    assert_close(grads[1], grads[0])


def test_sequences_as_lists():
    parts = [torch.randn(n, 2) for n in (3, 5, 1)]
    packed = torch.nn.utils.rnn.pack_sequence(parts, enforce_sorted=False)
    own = weir.nn.utils.rnn.pack_sequence(to_weir(parts), enforce_sorted=False)
    assert_close(flat(own), flat(packed))
    assert_close(weir.nn.utils.rnn.unpack_sequence(own), torch.nn.utils.rnn.unpack_sequence(packed))


@pytest.mark.parametrize("make,error", [
    (lambda f: f.nn.LSTM(3, 5, proj_size=5), ValueError), (lambda f: f.nn.GRU(3, 5, proj_size=2), ValueError),
    (lambda f: f.nn.RNN(3, 5, nonlinearity="sin"), ValueError), (lambda f: f.nn.LSTM(0, 5), ValueError),
    (lambda f: f.nn.LSTM(3, 5.0), TypeError), (lambda f: f.nn.LSTM(3, 5)(f.randn(2, 2, 4)), RuntimeError),
    (lambda f: f.nn.LSTM(3, 5)(f.randn(2, 2, 2, 3)), ValueError), (lambda f: f.nn.GRU(3, 5)(f.randn(0, 2, 3)), RuntimeError),
    (lambda f: f.nn.LSTM(3, 5)(f.randn(2, 2, 3), (f.randn(2, 5), f.randn(2, 5))), RuntimeError),
    (lambda f: f.nn.GRU(3, 5)(f.randn(2, 2, 3), f.randn(1, 3, 5)), RuntimeError),
    (lambda f: f.nn.LSTM(3, 5)(f.randn(2, 2, 3).double()), ValueError),
    (lambda f: f.nn.LSTMCell(3, 5)(f.randn(2, 4)), RuntimeError), (lambda f: f.nn.GRUCell(3, 5)(f.randn(2, 3), f.randn(3, 5)), RuntimeError),
    (lambda f: f.nn.utils.rnn.pack_padded_sequence(f.randn(4, 2, 3), [1, 4]), RuntimeError),
    (lambda f: f.nn.utils.rnn.pack_padded_sequence(f.randn(4, 2, 3), [4, 0]), RuntimeError),
    (lambda f: f.lstm_cell(f.randn(2, 3), [f.randn(2, 5)], f.randn(20, 3), f.randn(20, 5)), RuntimeError)])
def test_refusals(make, error):
    for framework in (torch, weir):
        with pytest.raises(error):
            make(framework)


def test_batch_sizes_that_lie_raise():
    """No sizes may reach beyond the data, whatever a program puts into a PackedSequence."""
    module = weir.nn.LSTM(3, 5)
    for sizes in ([2, 3], [9, 1], [2, -1, 4], [2, 0], [2**62, 2**62]):
        packed = weir.nn.utils.rnn.PackedSequence(weir.randn(5, 3), weir.tensor(sizes))
        with pytest.raises((RuntimeError, MemoryError)):
            module(packed, (weir.zeros(1, 2, 5), weir.zeros(1, 2, 5)))


def test_packed_sequences_of_no_steps_are_refused():
    for F in (torch, weir):
        packed = F.nn.utils.rnn.PackedSequence(F.randn(0, 5), F.tensor([], dtype=F.int64), None, None)
        with pytest.raises(RuntimeError, match="batch_sizes can not be empty"):
            F.nn.utils.rnn.pad_packed_sequence(packed)
