"""Calls between processes: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.rpc", """init_rpc shutdown rpc_sync rpc_async remote RRef TensorPipeRpcBackendOptions BackendType WorkerInfo get_worker_info RpcBackendOptions is_available""")
