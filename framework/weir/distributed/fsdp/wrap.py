"""Policies of sharded data parallelism: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.fsdp.wrap", """transformer_auto_wrap_policy size_based_auto_wrap_policy always_wrap_policy lambda_auto_wrap_policy wrap enable_wrap ModuleWrapPolicy CustomPolicy _or_policy _module_wrap_policy""")
