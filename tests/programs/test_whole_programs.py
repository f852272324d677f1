"""Programs written for PyTorch give the same curves under `python -m weir` and under PyTorch, each in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import weir

HERE = Path(__file__).resolve().parent

#: program -> (rtol, atol) of its curve. What differs is the order of sums in products, which training amplifies.
TOLERANCE = {
    "bert_finetune": (1e-3, 1e-4), "cached_decoder": (1e-3, 1e-4), "char_gpt": (1e-3, 1e-4), "cnn_workers": (2e-3, 1e-3), "detection": (2e-3, 1e-3),
    "functions_and_hooks": (1e-3, 1e-4),
    "gan": (2e-3, 1e-3), "gcn": (1e-3, 1e-4), "gcn_sparse": (1e-3, 1e-4), "hogwild": (1e-3, 1e-4), "lbfgs_fit": (1e-4, 1e-6), "lora_vit": (2e-3, 1e-3),
    "lstm_language_model": (1e-3, 1e-4), "maml": (1e-3, 1e-4),
    "mixed_precision": (3e-2, 3e-2),  # bfloat16 keeps three digits
    "model_zoo": (5e-3, 2e-3), "neural_ode": (1e-3, 1e-3), "node2vec": (1e-3, 1e-4), "policy_gradient": (2e-3, 1e-3), "selective_scan": (1e-3, 1e-4), "seq2seq": (1e-3, 1e-4), "speech": (1e-3, 1e-4), "unet": (2e-3, 1e-3),
    "vae": (1e-3, 1e-3), "wgan_gp": (2e-3, 1e-3),
}


def _run(program, *launcher):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(weir.__file__).parent.parent)}
    done = subprocess.run([sys.executable, *launcher, str(HERE / f"{program}.py")], capture_output=True, text=True, timeout=120,
                          env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


def test_every_program_has_a_tolerance():
    programs = {p.stem for p in HERE.glob("*.py")} - {"test_whole_programs", "conftest"}
    assert programs == set(TOLERANCE)


@pytest.mark.parametrize("program", TOLERANCE)
def test_same_curve_as_pytorch(program):
    *said, ours = _run(program, "-m", "weir")
    *expected, theirs = _run(program)
    assert said == expected
    rtol, atol = TOLERANCE[program]
    np.testing.assert_allclose(json.loads(ours), json.loads(theirs), rtol=rtol, atol=atol)
