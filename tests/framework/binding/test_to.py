"""Tensor.to: its signatures, what changes nothing, and what it refuses, as PyTorch does."""
import numpy as np
import pytest
import torch
import weir


@pytest.mark.parametrize("t", [weir, torch])
def test_what_is_on_the_device_already_is_not_copied(t):
    x = t.ones(2)
    assert x.to("cpu") is x and x.to(t.device("cpu")) is x and x.to("cpu", non_blocking=True) is x and x.to(t.float32) is x
    assert x.to("cpu", copy=True) is not x and x.to("meta").is_meta and t.ones(1, device="meta").is_meta
    with pytest.raises(NotImplementedError):
        t.ones(1, device="meta").to("cpu")


TO = """x.to()|x.to(None)|x.to(t.float64)|x.to(dtype=t.float64)|x.to(float)|x.to(dtype=int)|x.to(2.0)|x.to(True)|x.to(1j)|x.to(0, t.int8)|x.to(x.double())|x.to(0, False)|x.to(True, t.int8)
x.to("cpu", t.float64)|x.to("cpu", None, False, True)|x.to(None, t.int64)|x.to(None, None)|x.to(device="cpu", dtype=t.bool)|x.to(t.float64, True)|x.to(t.float64, False, True)
x.to(x, False, True)|x.to(t.float32, copy=True)|x.to(copy=True, memory_format=t.channels_last)|x.to(memory_format=t.channels_last)|x.to(t.float16, memory_format=t.channels_last)
x.to(memory_format=t.preserve_format, copy=True)|x.transpose(0, 3).to(t.float64, memory_format=t.preserve_format)|x.to(t.float32, memory_format=t.contiguous_format)|x.cpu()
x.to(3)|x.to(np.int64(3))|x.to(np.float32(3))|x.to("nowhere")|x.to([1])|x.to(t.float32, 1)|x.to(t.float32, t.float64)|x.to("cpu", "cpu")|x.to(t.float32, dtype=t.float64)
x.to("cpu", device="cpu")|x.to(t.float32, False, False, False)|x.to(dtype="float32")|x.to(memory_format=1)|x.to(copy=1)|x.to(non_blocking=None)|x.to(nothing=1)|x.to(device=[1])
x.to(t.float32, False, non_blocking=True)|x.to("meta").is_meta|x.to("meta", t.float64).dtype|x.to("meta").cpu()""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", TO)
def test_to_takes_what_pytorch_takes(text):
    found = []
    for t in (weir, torch):
        x = t.arange(16.0).reshape(2, 2, 2, 2)
        try:
            y = eval(text, {"t": t, "x": x, "np": np})
            found.append((str(y.dtype), y is x, y.stride(), y.tolist()) if isinstance(y, t.Tensor) else str(y))
        except Exception as error:
            found.append(type(error).__name__)
    assert found[0] == found[1]
