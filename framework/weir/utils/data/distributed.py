"""A sampler that gives each process its share."""

import math

import weir

from .sampler import Sampler


class DistributedSampler(Sampler):
    """Every num_replicas-th index from `rank` on, after a shuffle seeded by seed + epoch.

    The order is padded (or cut, with drop_last) so that all processes get equally many.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            distributed = getattr(weir, "distributed", None)
            if distributed is None or not distributed.is_available():
                raise RuntimeError("Requires distributed package to be available")
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last, self.shuffle, self.seed = 0, drop_last, shuffle, seed
        size = len(dataset)
        if drop_last and size % num_replicas:
            self.num_samples = math.ceil((size - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(size / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        if self.shuffle:
            generator = weir.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = weir.randperm(len(self.dataset), generator=generator).tolist()
        else:
            order = list(range(len(self.dataset)))
        if not self.drop_last:
            missing = self.total_size - len(order)
            order += (order * math.ceil(missing / len(order)))[:missing] if order else []
        return iter(order[:self.total_size][self.rank::self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another shuffle for another epoch."""
        self.epoch = epoch
