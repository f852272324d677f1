"""Grids of processes: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.device_mesh", """DeviceMesh init_device_mesh _mesh_resources""")
