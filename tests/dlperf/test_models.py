"""The models: right sizes, right arithmetic, the same start for everyone."""

import numpy as np
import pytest
import torch
from weir_dlperf.models import MODELS, bert, resnet50
from weir_dlperf.weights import load_initial


@pytest.mark.parametrize("name, params, gflop", [("resnet50", 25_557_032, 24.5), ("bert", 110_106_428, 69.9)])
def test_full_models_have_the_published_sizes(name, params, gflop):
    module = MODELS[name]
    config = module.PRESETS["full"]
    with torch.device("meta"):
        model = module.build(torch, config)
    assert sum(p.numel() for p in model.parameters()) == config.params == params
    assert module.train_flop(config) / 1e9 == pytest.approx(gflop, rel=0.01)


def test_stride_sits_in_the_3x3():
    with torch.device("meta"):
        block = resnet50.build(torch, resnet50.PRESETS["full"]).stages[1][0]
    assert block.conv1.stride == (1, 1) and block.conv2.stride == (2, 2)


def test_flop_count_is_what_torch_counts():
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    for module in MODELS.values():
        config = module.PRESETS["tiny"].without_dropout()
        model = module.build(torch, config).eval()
        batch = {n: torch.from_numpy(a) for n, a in
                 module.synthetic_batch(np.random.default_rng(0), config, 2).items()}
        # The counter does not see inside the fused attention of the CPU.
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
            module.loss(torch, model, batch)
        assert 3 * counter.get_total_flops() == pytest.approx(2 * module.train_flop(config), rel=0.02)


def test_bert_decoder_is_the_word_embedding():
    model = bert.build(torch, bert.PRESETS["tiny"])
    assert not any("decoder.weight" in name for name in model.state_dict())


def test_weights_depend_on_seed_and_name_only(tmp_path):
    config = resnet50.PRESETS["tiny"]
    digests = [load_initial(torch, resnet50, resnet50.build(torch, config), tmp_path / f"{k}.npz", seed)
               for k, seed in enumerate((1, 1, 2))]
    assert digests[0] == digests[1] != digests[2]


def test_other_shapes_are_refused(tmp_path):
    load_initial(torch, resnet50, resnet50.build(torch, resnet50.PRESETS["tiny"]), tmp_path / "w.npz", 1)
    wider = resnet50.build(torch, resnet50.Config(blocks=(1, 1, 1, 1), width=16, classes=10))
    with pytest.raises(ValueError, match="parameters differ"):
        load_initial(torch, resnet50, wider, tmp_path / "w.npz", 1)
