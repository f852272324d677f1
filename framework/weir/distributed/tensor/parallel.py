"""Tensor parallelism: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.tensor.parallel", """ColwiseParallel RowwiseParallel ParallelStyle PrepareModuleInput PrepareModuleOutput PrepareModuleInputOutput SequenceParallel loss_parallel parallelize_module""")
