"""Memory of workers' batches: what lies in it, how long it lives, and what becomes of it where files or memory are used up."""

import errno
import os
import resource
from pathlib import Path

import numpy as np
import pytest
import weir
from weir.utils.data import DataLoader, Dataset, default_collate, get_worker_info

LARGE = (128, 128)  # 64 KiB of float32


class Numbers(Dataset):
    """`n` matrices, the i-th full of i."""

    def __init__(self, n=24, shape=LARGE):
        self.n, self.shape = n, shape

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return weir.full(self.shape, float(i)), i


def loader(dataset=None, **options):
    return DataLoader(dataset or Numbers(), batch_size=4, **{"num_workers": 2, **options})


def right(batches, n=24):
    """Do the batches hold what Numbers gives, in order?"""
    assert [int(i) for _, numbers in batches for i in numbers] == list(range(n))
    for x, numbers in batches:
        assert x.shape[1:] == LARGE and weir.equal(x, numbers.float().view(-1, 1, 1).expand(x.shape))
    return True


def test_memory_is_taken_again():
    places = []
    for x, numbers in loader(Numbers(80)):
        places.append(x.data_ptr())
        assert weir.equal(x[:, 0, 0], numbers.float())
        assert "weir_batch" in Path("/proc/self/maps").read_text()
        del x
    assert len(set(places)) <= 10 < len(places)


def test_batches_that_are_kept_stay_as_they_are():
    with_slots = list(loader())
    first = with_slots[0][0]
    part, doubled = first[1], first * 2
    assert right(with_slots)
    del with_slots, first
    again = [x for x, _ in loader(Numbers(80))]  # other workers, and much memory
    assert float(part.sum()) == 128 * 128 and float(doubled[1, 0, 0]) == 2 and len(again) == 20


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_epochs_of_lasting_workers(context):
    lasting = loader(multiprocessing_context=context, persistent_workers=True)
    for epoch in range(3):
        for number, _ in enumerate(lasting):
            if epoch == 1 and number == 1:
                break  # what is under way comes later, and is nobody's
    assert right(list(lasting))


def test_batches_may_be_written_into():
    for x, _ in loader():
        x.zero_().add_(1)
        assert float(x.sum()) == x.numel()


def several(samples):
    x = default_collate([s for s, _ in samples])
    y = x * 2
    return {"x": x, "same": x, "view": x.view(-1), "part": x[:2], "other": y, "turned": x.transpose(1, 2), "array": x.numpy() + 1,
            "grad": x.clone().requires_grad_(), "halves": x.half(), "small": x[0, 0]}


def test_whatever_a_batch_holds():
    for x in list(loader(Numbers(8), collate_fn=several)):
        t = x["x"]
        assert x["same"] is t and weir.equal(x["view"].view_as(t), t) and weir.equal(x["part"], t[:2]) and weir.equal(x["other"], t * 2)
        assert weir.equal(x["turned"], t.transpose(1, 2)) and np.array_equal(x["array"], t.numpy() + 1) and x["grad"].requires_grad
        assert weir.equal(x["grad"].detach(), t) and x["halves"].dtype == weir.float16 and weir.equal(x["small"], t[0, 0])
        del t
        base = x["other"]
        x.clear()  # the batch is gone but for one tensor
        assert float(base[0, 0, 0]) in (0, 8)


class Keeping(Numbers):
    """A dataset that keeps what it collated, and gives it again."""

    def __init__(self):
        super().__init__(32)
        self.kept = {}

    def __getitem__(self, i):
        key = i % 4
        if key not in self.kept:
            self.kept[key] = default_collate([weir.full(LARGE, float(key))] * 4)
        return self.kept[key], i


def test_what_a_worker_keeps_is_not_overwritten():
    for x, numbers in loader(Keeping(), num_workers=1):
        assert weir.equal(x[:, 0, 0, 0], (numbers % 4).float()) and bool((x == x[:, :1, :1, :1]).all())
        x.fill_(-1)
        del x


def of_one_sample(samples):
    return samples[0]


def test_a_batch_that_was_sent_before_is_sent_as_another():
    first, *rest = [x for x, _ in DataLoader(Keeping(), batch_size=4, collate_fn=of_one_sample, num_workers=1)]
    first.fill_(-1)
    assert all(float(x.min()) >= 0 for x in rest)


def few_files(worker):
    soft = len(os.listdir("/proc/self/fd")) + 3
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))


def no_memory(worker):
    def full(*arguments):
        raise OSError(errno.ENOMEM, "no memory")
    os.posix_fallocate = full


def no_such_call(worker):
    def broken(*arguments):
        raise OSError(errno.EIO, "broken")
    os.posix_fallocate = broken


@pytest.mark.parametrize("short", [few_files, no_memory])
def test_where_files_or_memory_are_used_up_batches_are_pickled(short):
    assert right(list(loader(worker_init_fn=short)))


def test_where_processes_may_not_look_at_each_other_batches_are_pickled(monkeypatch):
    monkeypatch.setattr("weir.utils.data._slots.possible", lambda pid: False)
    batches = list(loader())
    assert right(batches)


def test_other_errors_are_told():
    with pytest.raises(OSError, match="Caught OSError in DataLoader worker process"):
        list(loader(worker_init_fn=no_such_call))


class Unfit(Numbers):
    def __getitem__(self, i):
        return (lambda: i), weir.ones(LARGE)


def test_a_batch_that_cannot_be_pickled_is_an_error_of_its_worker():
    with pytest.raises(Exception, match="DataLoader worker process"):
        list(loader(Unfit(), collate_fn=list))


def test_sizes_that_change():
    class Growing(Numbers):
        def __getitem__(self, i):
            return weir.full((100 + 10 * (i // 4), 128), float(i)), i

    for epoch in range(2):
        for x, numbers in loader(Growing(160), persistent_workers=True):
            assert weir.equal(x[:, -1, -1], numbers.float()) and get_worker_info() is None
            del x
