"""Tensors over several processes: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.tensor", """DTensor Placement Partial Replicate Shard distribute_module distribute_tensor full ones empty rand randn zeros DeviceMesh init_device_mesh""")
