"""DataLoader: batches of a dataset, in this process or from workers."""

import multiprocessing
import os
import typing
import warnings

import weir

from weir._absent import absent as _absent

from . import _collate, _utils
from ._collate import default_collate, default_convert  # noqa: F401
from ._utils.worker import get_worker_info  # noqa: F401
from ._worker import End, WorkerPool
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


_worker_init_fn_t = "Callable[[int], None]"  # PyTorch's names, which programs import for annotations
_collate_fn_t = "Callable[[list[T]], Any]"
_T_co = typing.TypeVar("_T_co", covariant=True)
_sharding_worker_init_fn = _absent("utils.data.dataloader._sharding_worker_init_fn", "weir has no data pipes")


class _DatasetKind:
    """Whether a dataset is asked by index or gone through."""

    Map, Iterable = 0, 1

    @staticmethod
    def create_fetcher(kind, dataset, auto_collation, collate_fn, drop_last):
        """What fetches from the dataset. Programs put a function of their own in its place."""
        made = _utils.fetch._MapDatasetFetcher if kind == _DatasetKind.Map else _utils.fetch._IterableDatasetFetcher
        return made(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler):
    """Ticks without end: an iterable dataset decides itself when it stops."""

    def __iter__(self):
        while True:
            yield None


def fetcher_of(loader):
    """What fetches from a loader's dataset, or from that of what looks like a loader."""
    return _DatasetKind.create_fetcher(loader._dataset_kind, loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)


class DataLoader:
    """Iterates over batches of `dataset`.

    `shuffle` or a `sampler` sets the order, `batch_sampler` the batches; batch_size=None turns batching off.
    num_workers > 0 loads in that many processes, in order, `prefetch_factor` batches ahead each. Equal seeds give
    PyTorch's order. Raises ValueError for contradicting options.
    """

    __initialized = False  # by PyTorch's private name, which programs that wrap loaders read

    def __class_getitem__(cls, item):
        return cls

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0,
                 collate_fn=None, pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None,
                 multiprocessing_context=None, generator=None, *, prefetch_factor=None, persistent_workers=False,
                 pin_memory_device="", in_order=True):
        self._check(dataset, batch_size, shuffle, sampler, batch_sampler, num_workers, drop_last, timeout, prefetch_factor,
                    persistent_workers)
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        self.dataset, self.num_workers, self.timeout, self.in_order = dataset, num_workers, timeout, in_order
        self.pin_memory_device = pin_memory_device
        self.pin_memory, self.worker_init_fn, self.generator = pin_memory, worker_init_fn, generator
        self.multiprocessing_context, self.persistent_workers = multiprocessing_context, persistent_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        if sampler is None:
            if isinstance(dataset, IterableDataset):
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = batch_size, drop_last, sampler, batch_sampler
        self.collate_fn = collate_fn or (_collate.default_collate if self._auto_collation else _collate.default_convert)
        self.__initialized = True
        self._iterator = None
        self._IterableDataset_len_called = None  # what len() said of it last
        self.check_worker_number_rationality()

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
    def multiprocessing_context(self):
        """What workers are made with; a name of a start method becomes its context. ValueError and TypeError for others."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None and not self.num_workers:
            raise ValueError("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                             f"num_workers={self.num_workers}")
        if isinstance(context, str):
            known = multiprocessing.get_all_start_methods()
            if context not in known:
                raise ValueError(f"multiprocessing_context option should specify a valid start method in {known!r}, but got "
                                 f"multiprocessing_context={context!r}")
            context = multiprocessing.get_context(context)
        if context is not None and not isinstance(context, multiprocessing.context.BaseContext):
            raise TypeError("multiprocessing_context option should be a valid context object or a string specifying the start method, but got "
                            f"multiprocessing_context={context}")
        self.__multiprocessing_context = context

    def __setattr__(self, name, value):
        if self.__initialized and name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Iterable:
            size = self._IterableDataset_len_called = len(self.dataset)
            if self.batch_size is None:
                return size
            return size // self.batch_size if self.drop_last else -(-size // self.batch_size)
        return len(self._index_sampler)

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self):
        return (_MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter)(self)

    def check_worker_number_rationality(self):
        """Warns of more workers than this process may use CPUs."""
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if self.num_workers > cpus:
            warnings.warn(f"This DataLoader will create {self.num_workers} worker processes in total. Our suggested max number of worker in current "
                          f"system is {cpus}, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker "
                          "creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze "
                          "if necessary.", stacklevel=3)


class _BaseDataLoaderIter:
    """One epoch of a loader. Programs ask whether an iterator is one, under PyTorch's private name."""

    def __init__(self, loader):
        self._loader = loader
        # PyTorch draws this for every epoch, with or without workers, unless they live on; the order depends on it.
        self._base_seed = int(weir.empty((), dtype=weir.int64).random_(generator=loader.generator).item())
        self._reset(loader)

    def _reset(self, loader):
        self._sampler_iter, self._num_yielded = iter(loader._index_sampler), 0
        self._promised = loader._IterableDataset_len_called

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._next_data()
        self._num_yielded += 1
        if self._promised is not None and self._loader._dataset_kind == _DatasetKind.Iterable and self._num_yielded > self._promised:
            warnings.warn(f"Length of IterableDataset {self._loader.dataset} was reported to be {self._promised} (when accessing len(dataloader)), "
                          f"but {self._num_yielded} samples have been fetched. With workers, each of them goes through its own copy of the dataset: "
                          "see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset", stacklevel=2)
        return batch

    def __len__(self):
        return len(self._loader._index_sampler)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._dataset_fetcher = fetcher_of(loader)

    def _next_data(self):
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    _pool = None

    def _reset(self, loader):
        super()._reset(loader)
        if self._pool is None:
            self._pool = WorkerPool(loader, self._base_seed)
        self._pool.start(self._sampler_iter)

    @property
    def _workers(self):
        return self._pool.processes

    def _next_data(self):
        if self._pool is None:
            raise StopIteration  # again
        batch = self._pool.next()  # which may raise a StopIteration of the dataset's own
        if not isinstance(batch, End):
            return batch
        if not self._loader.persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _shutdown_workers(self):
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def __del__(self):
        self._shutdown_workers()
