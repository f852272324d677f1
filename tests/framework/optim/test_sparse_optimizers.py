"""Optimizers on sparse gradients, step by step against PyTorch."""

import pytest
import torch
import weir


def run(t, name, steps=4, **options):
    """The weights after each step, or the error's type."""
    t.manual_seed(0)
    table, x = t.nn.Embedding(6, 2, sparse=True), t.tensor([[1, 2], [1, 5]])
    optimizer = getattr(t.optim, name)(table.parameters(), lr=0.1, **options)
    curve = []
    try:
        for step in range(steps):
            optimizer.zero_grad()
            table(x[:1 + step % 2]).pow(2).sum().backward()
            optimizer.step()
            curve.append(table.weight.flatten().tolist())
    except Exception as error:
        return type(error)
    return curve


CASES = [("SGD", {}), ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "nesterov": True}), ("SGD", {"momentum": 0.9, "dampening": 0.5}),
         ("SGD", {"maximize": True}), ("SGD", {"weight_decay": 0.1}), ("SparseAdam", {}), ("SparseAdam", {"maximize": True}),
         ("SparseAdam", {"betas": (0.5, 0.9)}), ("Adagrad", {}), ("Adagrad", {"lr_decay": 0.1}), ("Adagrad", {"weight_decay": 0.1}),
         *((name, {}) for name in ("Adam", "AdamW", "RMSprop", "Adadelta", "ASGD", "Rprop", "Adamax", "NAdam", "RAdam", "Adafactor"))]


@pytest.mark.parametrize("name, options", CASES)
def test_steps(name, options):
    ours, theirs = run(weir, name, **options), run(torch, name, **options)
    if isinstance(theirs, type):
        assert ours is theirs
    else:
        torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs), rtol=1e-5, atol=1e-6)


def test_sparse_adam_refuses_dense_gradients():
    p = weir.nn.Parameter(weir.ones(2))
    p.sum().backward()
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        weir.optim.SparseAdam([p]).step()


def test_state_goes_between_frameworks():
    states = []
    for t in (torch, weir):
        t.manual_seed(0)
        table = t.nn.Embedding(6, 2, sparse=True)
        optimizer = t.optim.SparseAdam(table.parameters())
        table(t.tensor([1, 2])).sum().backward()
        optimizer.step()
        states.append(optimizer.state_dict()["state"][0])
    assert set(states[0]) == set(states[1]) and states[0]["step"] == states[1]["step"] == 1
    torch.testing.assert_close(torch.tensor(states[1]["exp_avg"].tolist()), states[0]["exp_avg"])
