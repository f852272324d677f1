"""Runs of tiny models, in this process, and the gate's judgement of them."""

import pytest


@pytest.fixture(scope="session")
def in_process():
    """Runs a plan's runs in this process, which saves each of them the import of PyTorch."""
    from weir_dlperf import runner, worker

    class InProcess(runner.Runner):
        def _process(self, spec):
            return super()._process(spec) if spec["skipped"] else {**runner.EMPTY, **worker.train(spec)}

    return InProcess


@pytest.fixture
def spec(tmp_path):
    """Makes the spec of a tiny run in this process, as the runner writes it for a worker."""

    def make(model="resnet50", **changes):
        return {"module": "torch", "label": "torch-eager", "channels_last": False, "compile": False, "graph": False, "model": model,
                "preset": "tiny", "precision": "fp32", "batch_size": 4, "data": "synthetic", "seed": 1,
                "gate": True, "warmup": 0, "steps": 3, "threads": 1, "weights": str(tmp_path / f"{model}.npz"),
                **changes}

    return make


@pytest.fixture
def judge(spec):
    """Judges a tiny run against PyTorch as a plan's gate does; returns what the gate found and the two runs."""
    from weir_dlperf import gate
    from weir_dlperf.worker import train

    def found(model, precision, changes, **run):
        run |= {"precision": precision}
        reference = train(spec(model, **run))
        spreads = [train(spec(model, **run, channels_last=True)),
                   *(train(spec(model, **run, channels_last=seed % 2 == 1, nudge=(gate.ROUNDING[precision], seed)))
                     for seed in range(gate.NUDGES))]
        trace = train(spec(model, **run, **changes))
        return gate.judge(trace, reference, spreads, precision), trace, reference

    return found
