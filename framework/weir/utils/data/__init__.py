"""Datasets, samplers and the loader, under PyTorch's names."""

from weir._absent import absent_names as _absent_names
from weir._lazy import lazy_attributes as _lazy_attributes

from ._collate import default_collate, default_convert  # noqa: F401
from ._utils.worker import get_worker_info  # noqa: F401
from .dataloader import DataLoader, _DatasetKind  # noqa: F401
from .dataset import (ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset,  # noqa: F401
                      TensorDataset, random_split)
from .distributed import DistributedSampler  # noqa: F401
from .sampler import (BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler,  # noqa: F401
                      WeightedRandomSampler)
__getattr__ = _absent_names("weir.utils.data", "IterDataPipe MapDataPipe DFIterDataPipe DataChunk functional_datapipe argument_validation "
                            "runtime_validation runtime_validation_disabled non_deterministic guaranteed_datapipes_determinism",
                            "weir has no data pipes",
                            _lazy_attributes("weir.utils.data", {"_utils": ""}))
