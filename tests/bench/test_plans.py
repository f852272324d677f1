"""bench/plans.py: as plans and as written, the programs of group `graph` compute the same."""

import numpy as np
import pytest
import torch
import weir
from weir_bench import plans

SHAPES = {"mlp_step": ([(8, 5), (8,), (3, 8), (3,)], [(4, 5), (4, 3)]), "chain": ([], [(6, 7)]), "rms_norm": ([(7,)], [(6, 7)]), "softmax": ([], [(6, 7)]),
          "residual_block": (2 * [(16, 16, 3, 3), (16,), (16,), (16,), (16,)], [(2, 16, 9, 8)]),
          "encoder_layer": ([(72, 24), (24, 24), (48, 24), (24, 48), (24,), (24,)], [(2, 5, 24)])}


@pytest.mark.parametrize("name", plans.ALL)
def test_a_plan_computes_what_the_program_does(name):
    rng = np.random.default_rng(0)
    weights, given = ([rng.uniform(0.1, 0.9, shape).astype(np.float32) for shape in shapes] for shapes in SHAPES[name])
    answers = []
    for t in (torch, weir):
        own, inputs = ([t.tensor(x) for x in many] for many in (weights, given))
        for w in own:
            w.requires_grad_(name == "mlp_step")
        run = plans.by_name(name, t, own + inputs, len(inputs))
        answers.append([run(*inputs).detach().numpy() for _ in range(3)])
    np.testing.assert_allclose(answers[1], answers[0], rtol=2e-5, atol=2e-5)
    assert hasattr(run, "plans")  # weir's is a plan
