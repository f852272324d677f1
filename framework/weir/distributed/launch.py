"""The launcher: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.launch", """main launch""")
