"""What programs do with loaders and batches beside going through them once, as PyTorch does it."""

import collections
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import torch
import weir
from twins import assert_close

BOTH = (weir, torch)


class Faulty:
    """Every third sample is an error, every fifth a StopIteration, which ends nothing but its batch."""

    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i % 3 == 2:
            raise NotImplementedError(f"sample {i}")
        if i % 5 == 4:
            raise StopIteration
        return i


def went_through(t, **options):
    """Values and classes of errors of a whole epoch; a program may go on after an error."""
    batches, seen = iter(t.utils.data.DataLoader(Faulty(), batch_size=None, **options)), []
    for _ in range(12):
        try:
            seen.append(int(next(batches)))
        except Exception as error:
            seen.append(type(error).__name__)
    with pytest.raises(StopIteration):
        next(batches)
    return seen


def test_a_loader_goes_on_after_an_error():
    assert went_through(weir) == went_through(torch)
    assert went_through(weir, num_workers=2) == went_through(torch, num_workers=2)


class Slow(weir.utils.data.Dataset):
    """The first worker waits."""

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if weir.utils.data.get_worker_info().id == 0:
            time.sleep(0.3)
        return i


def test_batches_come_as_they_are_ready_where_order_does_not_matter():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        free, strict = ([b.item() for b in weir.utils.data.DataLoader(Slow(), num_workers=2, prefetch_factor=1, in_order=order)]
                        for order in (False, True))
    assert strict == list(range(8)) and sorted(free) == strict and free != strict


def test_a_persistent_loader_is_one_iterator():
    loader = weir.utils.data.DataLoader(range(4), num_workers=1, persistent_workers=True)
    first = iter(loader)
    workers = [p.pid for p in first._workers]
    assert [b.item() for b in first] == [0, 1, 2, 3]
    again = iter(loader)
    assert again is first and [p.pid for p in again._workers] == workers and [b.item() for b in again] == [0, 1, 2, 3]


def test_an_orphan_ends(tmp_path):
    (tmp_path / "loads.py").write_text(
        "import weir, sys\nloader = iter(weir.utils.data.DataLoader(range(1000), num_workers=2))\n"
        "print(*(p.pid for p in loader._workers), flush=True)\nnext(loader)\nsys.stdin.read()\n")
    program = subprocess.Popen([sys.executable, str(tmp_path / "loads.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    workers = [int(pid) for pid in program.stdout.readline().split()]
    program.send_signal(signal.SIGKILL)
    program.wait()

    def lives(pid):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                return stat.read().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False
    for _ in range(300):
        if not any(map(lives, workers)):
            return
        time.sleep(0.1)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    pytest.fail("workers outlived their parent by 30 s")


@pytest.mark.parametrize("t", BOTH, ids=["weir", "torch"])
def test_what_a_loader_is_made_of_stays(t):
    loader = t.utils.data.DataLoader(range(4))
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        with pytest.raises(ValueError, match="should not be set"):
            setattr(loader, name, None)
    loader.timeout = 3
    assert loader._auto_collation and t.utils.data.DataLoader[int] is not None
    for options, error in ((dict(multiprocessing_context="fork"), ValueError), (dict(num_workers=1, multiprocessing_context="none"), ValueError),
                           (dict(num_workers=1, multiprocessing_context=3), TypeError)):
        with pytest.raises(error):
            t.utils.data.DataLoader(range(4), **options)
    with pytest.warns(UserWarning, match="worker processes"):
        t.utils.data.DataLoader(range(4), num_workers=1000)


def test_a_stream_that_is_longer_than_it_says_warns():
    def seen(t):
        class Stream(t.utils.data.IterableDataset):
            def __iter__(self):
                return iter(range(5))

            def __len__(self):
                return 2
        loader = t.utils.data.DataLoader(Stream(), batch_size=None)
        with warnings.catch_warnings(record=True) as before:
            warnings.simplefilter("always")
            list(loader), len(loader)
        with warnings.catch_warnings(record=True) as after:
            warnings.simplefilter("always")
            list(loader)
        return len(before), len(after)
    assert seen(weir) == seen(torch)


@pytest.mark.parametrize("t", BOTH, ids=["weir", "torch"])
def test_several_samples_at_once(t):
    class Many(t.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitems__(self, indices):
            return [10 * i for i in indices]

    data = t.utils.data
    assert data.StackDataset(Many(), range(4)).__getitems__([3, 1]) == [(30, 3), (10, 1)]
    assert data.StackDataset(a=Many(), b=range(4)).__getitems__([2]) == [{"a": 20, "b": 2}]

    class Short(Many):
        def __getitems__(self, indices):
            return [0]
    with pytest.raises(ValueError):
        data.StackDataset(Short(), range(4)).__getitems__([0, 1])

    class Half(data.Subset):
        def __getitem__(self, i):
            return 0
    with pytest.raises(NotImplementedError):
        Half(range(4), [0])
    with pytest.raises(AssertionError):
        list(data.ChainDataset([range(3)]))
    with pytest.raises(AssertionError):
        len(data.ChainDataset([range(3)]))


class Labelled(list):
    """A list with a name."""


class Frozen(collections.abc.Mapping):
    """A mapping that no dict makes."""

    def __init__(self, **items):
        self._items = items

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)


def test_batches_keep_the_kind_of_their_containers():
    def made(t, convert):
        named = Labelled([1, np.ones(2)])
        named.name = "x"
        ordered = collections.defaultdict(list, a=np.float32(2))
        samples = [named, ordered, Frozen(b=1.5), (1, 2), range(2), collections.UserList([3, 4]), "text", b"bytes", np.array(3), True]
        collate = t.utils.data.default_convert if convert else lambda x: t.utils.data.default_collate([x, x])
        results = [collate(x) for x in samples]
        return [type(r).__name__ for r in results], results[0].name, results[1].default_factory, [
            r if isinstance(r, (t.Tensor, bool)) else list(r.values()) if isinstance(r, collections.abc.Mapping) else list(r) for r in results]
    for convert in (False, True):
        ours, theirs = made(weir, convert), made(torch, convert)
        assert ours[:3] == theirs[:3]
        assert_close(ours[3], theirs[3])


def test_programs_say_how_their_samples_become_a_batch():
    for t in BOTH:
        worker = t.utils.data._utils.collate
        rule = {**worker.default_collate_fn_map, int: lambda batch, collate_fn_map: sum(batch)}
        assert worker.collate([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], collate_fn_map=rule) == {"a": 3, "b": ["x", "y"]}
        with pytest.raises(TypeError):
            worker.collate([1, 2])
        with pytest.raises(TypeError):
            t.utils.data.default_collate([np.array(["a"])])
        with pytest.raises(RuntimeError):
            t.utils.data.default_collate([t.sparse_coo_tensor([[0]], [1.0], (1,))])
