"""Training runs of tiny models: they learn, agree with themselves, and differ when something is wrong."""

import numpy as np
import pytest
from weir_dlperf import gate
from weir_dlperf.data import pictures, text
from weir_dlperf.models import bert, resnet50
from weir_dlperf.worker import train


def judged(trace, reference, spread, precision="fp32"):
    return gate.judge(trace, reference, [spread], precision)["verdict"]


@pytest.mark.parametrize("model", ["resnet50", "bert"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_torch_passes_its_own_gate(spec, model, precision):
    reference = train(spec(model, precision=precision))
    spread = train(spec(model, precision=precision, channels_last=True))
    again = train(spec(model, precision=precision))
    assert judged(again, reference, spread, precision) == "pass"
    assert reference["weights_sha"] == again["weights_sha"] and reference["data_sha"] == again["data_sha"]


@pytest.mark.parametrize("model", ["resnet50", "bert"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_graph_trains_as_eager_mode_does(spec, model, precision):
    eager, graph = (train(spec(model, precision=precision, module="weir", channels_last=True, graph=g)) for g in (False, True))
    assert graph["loss"] == eager["loss"] and np.allclose(graph["grad_norm"], eager["grad_norm"], rtol=1e-6)


def test_a_wrong_model_fails_the_gate(spec, monkeypatch):
    reference = train(spec("bert"))
    monkeypatch.setattr(bert, "loss", lambda torch, model, batch, right=bert.loss: right(torch, model, batch) * 1.01)
    assert judged(train(spec("bert")), reference, reference) == "fail"


def test_losses_fall_on_repeated_batches(spec):
    loss = train(spec("bert", steps=40, gate=False))["loss"]
    assert loss[-1] < 0.97 * loss[0]


def test_timed_run_reports_steps_phases_and_memory(spec):
    result = train(spec(gate=False, warmup=1, steps=2))
    assert len(result["step_ns"]) == 2 and result["rss_peak"] > 50e6
    for k, total in enumerate(result["step_ns"]):
        assert sum(result["phases_ns"][name][k] for name in ("data", "fwd", "bwd", "opt")) == total


@pytest.mark.parametrize("model", ["resnet50", "bert"])
def test_real_data_is_the_same_in_every_run(spec, model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(pictures, "COUNT", 8)
    first, second = (train(spec(model, data="real", steps=2)) for _ in range(2))
    assert first["loss"] == second["loss"] and first["data_sha"] == second["data_sha"]


def test_pictures_are_real_files(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "COUNT", 2)
    paths = pictures.make_files(tmp_path)
    assert all(p.read_bytes()[:2] == b"\xff\xd8" for p in paths)
    crops = [pictures.augment(paths[0], 32, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert crops[0].shape == (3, 32, 32) and np.array_equal(crops[0], crops[1])
    assert not np.array_equal(crops[0], crops[2])


def test_word_pieces_cover_the_text():
    pieces = text.vocabulary(2000)
    assert len(pieces) == 2000 and text.vocabulary(2000) == pieces
    ids = text.encode("The assignment statement binds a name.", pieces)
    names = {i: piece for piece, i in pieces.items()}
    assert "".join(names[i] for i in ids).replace("##", "") == "theassignmentstatementbindsaname."
    assert text.UNK not in ids


def test_bert_samples_are_full_and_masked():
    config = bert.PRESETS["tiny"]
    pieces = text.vocabulary(1000)
    document = text.encode(" ".join(text.corpus()[:20]), pieces)
    ids, types, places, predicted, follows = text.sample([document], len(pieces), config, np.random.default_rng(0))
    assert len(ids) == len(types) == config.sequence and text.PAD not in ids
    assert len(set(places)) == config.predictions and (ids[places] == text.MASK).sum() >= 2
    assert follows in (0, 1) and (ids == text.SEP).sum() == 2 and ids[0] == text.CLS


def test_resnet_learning_rate_follows_the_batch():
    assert resnet50.settings(resnet50.PRESETS["tiny"], 16)["lr"] == 0.016
