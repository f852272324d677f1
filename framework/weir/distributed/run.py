"""The launcher: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.run", """main run get_args_parser""")
