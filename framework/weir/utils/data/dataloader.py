"""DataLoader: batches of a dataset, in this process or from workers."""

import weir

from . import _collate
from ._collate import default_collate, default_convert  # noqa: F401
from ._worker import WorkerPool
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


_worker_init_fn_t = "Callable[[int], None]"  # PyTorch's names, which programs import for annotations
_collate_fn_t = "Callable[[list[T]], Any]"


class _DatasetKind:
    """Whether a dataset is asked by index or gone through."""

    Map, Iterable = 0, 1


class _Forever(Sampler):
    """Ticks without end: an iterable dataset decides itself when it stops."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Iterates over batches of `dataset`.

    `shuffle` or a `sampler` sets the order, `batch_sampler` the batches; batch_size=None turns batching off.
    num_workers > 0 loads in that many processes, in order, `prefetch_factor` batches ahead each. Equal seeds give
    PyTorch's order. Raises ValueError for contradicting options.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        self._check(dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last, timeout, prefetch_factor,
                    persistent_workers)
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.pin_memory, self.worker_init_fn, self.generator = pin_memory, worker_init_fn, generator
        self.multiprocessing_context, self.persistent_workers = multiprocessing_context, persistent_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        if sampler is None:
            if isinstance(dataset, IterableDataset):
                sampler = _Forever()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = batch_size, drop_last, sampler, batch_sampler
        batches = batch_sampler is not None
        self.collate_fn = collate_fn or (_collate.default_collate if batches else _collate.default_convert)
        self._pool = None

    @staticmethod
    def _check(dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last, timeout, prefetch_factor,
               persistent_workers):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing."
                             "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None.")
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if isinstance(dataset, IterableDataset):
            for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value not in (None, False):
                    raise ValueError("DataLoader with IterableDataset: expected unspecified "
                                     f"{name} option, but got {name}={value}")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
        if batch_sampler is None and batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

    @property
    def _dataset_kind(self):
        return _DatasetKind.Iterable if isinstance(self.dataset, IterableDataset) else _DatasetKind.Map

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            size = len(self.dataset)
            if self.batch_size is None:
                return size
            return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
        return len(self._index_sampler)

    def __iter__(self):
        return self._get_iterator()

    def _get_iterator(self):
        return (_MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter)(self)


class _BaseDataLoaderIter:
    """One epoch of a loader. Programs ask whether an iterator is one, under PyTorch's private name."""

    def __init__(self, loader):
        self._loader, self._num_yielded, self._batches = loader, 0, self._start(loader)

    def __iter__(self):
        return self

    def __next__(self):
        batch = next(self._batches)
        self._num_yielded += 1
        return batch

    def __len__(self):
        return len(self._loader._index_sampler)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    @staticmethod
    def _start(loader):
        _seed(loader)
        return _in_process(loader)


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    @staticmethod
    def _start(loader):
        indices = iter(loader._index_sampler)
        if loader._pool is not None:
            return loader._pool.run(indices, close=False)
        pool = WorkerPool(loader, _seed(loader))
        if loader.persistent_workers:
            loader._pool = pool
        return pool.run(indices, close=not loader.persistent_workers)


def _seed(loader):
    """PyTorch draws this for every epoch, with or without workers, unless they live on; the order depends on it."""
    return int(weir.empty((), dtype=weir.int64).random_(generator=loader.generator).item())


def _in_process(loader):
    fetch = Fetcher(loader)
    for index in loader._index_sampler:
        try:
            batch = fetch(index)
        except StopIteration:
            return
        yield batch


class Fetcher:
    """Turns one index or batch of indices into collated data; raises StopIteration when a stream is over."""

    def __init__(self, loader):
        self._dataset, self._collate = loader.dataset, loader.collate_fn
        self._batched, self._drop_last = loader.batch_sampler is not None, loader.drop_last
        self._stream = iter(loader.dataset) if isinstance(loader.dataset, IterableDataset) else None

    def __call__(self, index):
        if self._stream is not None:
            return self._collate(self._from_stream(index))
        if not self._batched:
            return self._collate(self._dataset[index])
        if callable(getattr(self._dataset, "__getitems__", None)):
            return self._collate(self._dataset.__getitems__(index))
        return self._collate([self._dataset[i] for i in index])

    def _from_stream(self, index):
        if not self._batched:
            return next(self._stream)
        samples = [sample for _, sample in zip(index, self._stream)]
        if not samples or (self._drop_last and len(samples) < len(index)):
            raise StopIteration
        return samples
