"""Datasets, samplers and loaders give PyTorch's order and batches."""

import os
import signal

import numpy as np
import pytest
import torch
import weir
from twins import assert_close

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def dataset(F, n=10):
    return F.utils.data.TensorDataset(F.arange(n), F.arange(2.0 * n).reshape(n, 2))


def order(F, **options):
    F.manual_seed(5)
    loader = F.utils.data.DataLoader(dataset(F), **options)
    return [[batch[0].tolist() for batch in loader] for _ in range(2)]


@pytest.mark.parametrize("options", [
    dict(batch_size=3), dict(batch_size=3, drop_last=True), dict(batch_size=4, shuffle=True), dict(batch_size=None),
    dict(batch_size=4, shuffle=True, num_workers=2), dict(batch_size=2, num_workers=2, persistent_workers=True),
    dict(batch_size=2, num_workers=1, prefetch_factor=4)], ids=str)
def test_order_and_batches_agree(options):
    assert order(weir, **options) == order(torch, **options)


@pytest.mark.parametrize("make", [
    lambda F, d: F.utils.data.RandomSampler(range(9)),
    lambda F, d: F.utils.data.RandomSampler(range(9), replacement=True, num_samples=40),
    lambda F, d: F.utils.data.RandomSampler(range(9), num_samples=20),
    lambda F, d: F.utils.data.RandomSampler(range(9), True, 40, F.Generator().manual_seed(1)),
    lambda F, d: F.utils.data.SubsetRandomSampler([3, 1, 4, 1, 5]),
    lambda F, d: F.utils.data.WeightedRandomSampler([0.1, 0.9, 3.0], 8),
    lambda F, d: F.utils.data.BatchSampler(F.utils.data.SequentialSampler(range(7)), 3, False),
    lambda F, d: F.utils.data.DistributedSampler(range(11), 4, 1, seed=2),
    lambda F, d: F.utils.data.DistributedSampler(range(11), 4, 3, drop_last=True)])
def test_samplers_agree(make):
    drawn = []
    for F in (weir, torch):
        F.manual_seed(7)
        sampler = make(F, None)
        drawn.append((list(sampler), list(sampler), len(sampler)))
    assert drawn[0] == drawn[1]


def epochs(F, workers, persistent, own):
    """The order of three epochs, and the next number of the generator of all."""
    F.manual_seed(7)
    loader = F.utils.data.DataLoader(range(6), 2, shuffle=True, generator=F.Generator().manual_seed(5) if own else None, num_workers=workers,
                                     persistent_workers=persistent)
    return [[batch.tolist() for batch in loader] for _ in range(3)], F.rand(1).item()


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("workers, persistent", [(0, False), (2, False), (2, True)])
def test_order_over_epochs_agrees(workers, persistent, own):
    assert epochs(weir, workers, persistent, own) == epochs(torch, workers, persistent, own)


def test_random_split_agrees():
    parts = []
    for F in (weir, torch):
        generator = F.Generator()
        generator.manual_seed(3)
        parts.append([list(s.indices) for s in F.utils.data.random_split(range(11), [0.5, 0.3, 0.2], generator)])
    assert parts[0] == parts[1]


def test_collate():
    samples = [{"a": 1, "b": [2.5, np.float32(3)], "c": ("x", np.ones(2))}, {"a": 2, "b": [1.5, np.float32(4)], "c": ("y", np.zeros(2))}]
    ours, theirs = (F.utils.data.default_collate(samples) for F in (weir, torch))
    assert_close(ours["a"], theirs["a"]), assert_close(ours["b"], theirs["b"])
    assert ours["c"][0] == theirs["c"][0]
    assert_close(ours["c"][1], theirs["c"][1])
    with pytest.raises(TypeError):
        weir.utils.data.default_collate([object()])
    with pytest.raises(RuntimeError):
        weir.utils.data.default_collate([[1], [1, 2]])


class Stream(weir.utils.data.IterableDataset):
    def __iter__(self):
        info = weir.utils.data.get_worker_info()
        return iter(range(0, 7) if info is None else range(info.id, 7, info.num_workers))


class Faulty(weir.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2:
            raise KeyError("sample 2")
        return os.getpid()


def test_streams():
    load = weir.utils.data.DataLoader
    assert [b.tolist() for b in load(Stream(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert sorted(sum((b.tolist() for b in load(Stream(), batch_size=2, num_workers=2)), [])) == list(range(7))


class Deadly(weir.utils.data.Dataset):
    """Its third item ends the worker that asks for it."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return i


def test_a_killed_worker_is_named():
    loader = weir.utils.data.DataLoader(Deadly(), num_workers=2)
    with pytest.raises(RuntimeError, match=r"worker \(pid\(s\) \d+\) exited unexpectedly: killed by SIGKILL"):
        list(loader)


def test_worker_errors_and_processes():
    loader = weir.utils.data.DataLoader(Faulty(), num_workers=1)
    batches = iter(loader)
    assert next(batches).item() != os.getpid()
    with pytest.raises(KeyError, match="sample 2"):
        next(batches), next(batches)


@FRAMEWORKS
def test_wrong_options(F):
    for options in (dict(num_workers=-1), dict(shuffle=True, sampler=[0]), dict(prefetch_factor=2), dict(timeout=-1),
                    dict(batch_sampler=[[0]], batch_size=2), dict(batch_size=None, drop_last=True),
                    dict(persistent_workers=True), dict(batch_size=0)):
        with pytest.raises(ValueError):
            F.utils.data.DataLoader(dataset(F), **options)
    with pytest.raises(ValueError):
        F.utils.data.random_split(range(3), [1, 1])


@FRAMEWORKS
def test_datasets(F):
    data = dataset(F, 4)
    both = data + dataset(F, 3)
    assert len(both) == 7 and both[5][0].item() == 1 and both[-1][0].item() == 2
    assert [x[0].item() for x in F.utils.data.Subset(data, [3, 1])] == [3, 1]
    with pytest.raises(AssertionError):
        F.utils.data.TensorDataset(F.zeros(2), F.zeros(3))


class _Loader:
    """What a loader's iterators ask for: libraries (fastai) hand them such a stand-in, which has no batch sampler."""

    _IterableDataset_len_called, _auto_collation, drop_last, in_order = None, False, False, True
    _index_sampler, generator, prefetch_factor, multiprocessing_context = range(1000), None, 2, None
    pin_memory, timeout, persistent_workers, pin_memory_device, worker_init_fn = False, 0, False, "", None

    def __init__(self, module, workers):
        self.dataset, self.num_workers, self._dataset_kind = self, workers, module._DatasetKind.Iterable

    def collate_fn(self, batch):
        return batch

    def _get_shared_seed(self):
        return None

    def __iter__(self):
        return iter(["one", "two"])


@pytest.mark.parametrize("t", [torch, weir], ids=["torch", "weir"])
def test_iterators_take_what_looks_like_a_loader(t):
    module = t.utils.data.dataloader
    assert list(module._SingleProcessDataLoaderIter(_Loader(module, 0))) == ["one", "two"]
    assert list(module._MultiProcessingDataLoaderIter(_Loader(module, 1))) == ["one", "two"]
