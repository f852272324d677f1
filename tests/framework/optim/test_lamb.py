"""LAMB against its formulas in NumPy."""

import numpy as np
import pytest
import weir


def reference(p, grads, lr, betas, eps, decay, adam_w, correct):
    m = v = np.zeros_like(p)
    for t, g in enumerate(grads, 1):
        g = g if adam_w else g + decay * p
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g * g
        mh, vh = (m / (1 - betas[0]**t), v / (1 - betas[1]**t)) if correct else (m, v)
        r = mh / (np.sqrt(vh) + eps) + (decay * p if adam_w else 0)
        size, length = np.linalg.norm(p), np.linalg.norm(r)
        p = p - lr * (size / length if size > 0 and length > 0 else 1.0) * r
    return p


@pytest.mark.parametrize("start", [1.0, 0.0])
@pytest.mark.parametrize("decay, adam_w, correct", [(0.0, True, True), (0.1, True, True), (0.1, False, True), (0.1, True, False)])
def test_ten_steps_are_those_of_the_paper(start, decay, adam_w, correct):
    rng = np.random.default_rng(0)
    values, grads = start * rng.normal(size=(3, 4)), rng.normal(size=(10, 3, 4))
    p = weir.nn.Parameter(weir.tensor(values))
    optimizer = weir.optim.LAMB([p], lr=0.01, betas=(0.8, 0.95), weight_decay=decay, adam_w_mode=adam_w, do_bias_correction=correct)
    for g in grads:
        p.grad = weir.tensor(g)
        optimizer.step()
    expected = reference(values, grads, 0.01, (0.8, 0.95), 1e-8, decay, adam_w, correct)
    np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


def test_its_state_resumes():
    def run(optimizer, p, steps):
        for i in range(steps):
            p.grad = weir.full((4,), 0.5 + i)
            optimizer.step()
    whole, part = (weir.nn.Parameter(weir.ones(4)) for _ in range(2))
    run(weir.optim.LAMB([whole]), whole, 2)
    first = weir.optim.LAMB([part])
    run(first, part, 1)
    second = weir.optim.LAMB([part])
    second.load_state_dict(first.state_dict())
    part.grad = weir.full((4,), 1.5)
    second.step()
    assert weir.equal(whole, part)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="beta parameter at index 0"):
        weir.optim.LAMB([weir.nn.Parameter(weir.ones(1))], betas=(1.5, 0.9))
