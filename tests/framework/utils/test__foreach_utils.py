"""Groups of tensors against PyTorch's."""
import importlib

import pytest
import torch
import weir

LIBRARIES = pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])


def utils(t):
    return importlib.import_module(f"{t.__name__}.utils._foreach_utils")


@LIBRARIES
def test_groups_by_dtype(t):
    first = [t.ones(1), t.ones(2, dtype=t.float64), t.ones(3)]
    groups = utils(t)._group_tensors_by_device_and_dtype([first, [None, first[1], first[2]], []], with_indices=True)
    kinds = {str(dtype): (lists, places) for (_, dtype), (lists, places) in groups.items()}
    assert set(kinds) == {"torch.float32", "torch.float64"} and all(device.type == "cpu" for device, _ in groups)
    lists, places = kinds["torch.float32"]
    assert lists[0][1] is first[2] and lists[1] == [None, first[2]] and lists[2] == [] and places == [0, 2]
    assert utils(t)._group_tensors_by_device_and_dtype([first])[first[0].device, t.float64][1] == []


@LIBRARIES
@pytest.mark.parametrize("sizes", [[], [0], [2, 1]])
def test_other_lists_are_refused(t, sizes):
    with pytest.raises(RuntimeError):
        utils(t)._group_tensors_by_device_and_dtype([[t.ones(1)] * n for n in sizes])


@LIBRARIES
def test_what_runs_on_lists(t):
    u = utils(t)
    assert u._device_has_foreach_support(t.device("cpu")) and u._has_foreach_support([t.ones(1), None], t.device("cpu"))
    assert not u._has_foreach_support([t.nn.Parameter(t.ones(1))], t.device("cpu")) and "cpu" in u._get_fused_kernels_supported_devices()
