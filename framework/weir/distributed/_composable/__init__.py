"""Composable parallelism: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed._composable", """checkpoint replicate contract""")
