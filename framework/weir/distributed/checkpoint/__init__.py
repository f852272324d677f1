"""Checkpoints of several processes: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.checkpoint", """save load async_save save_state_dict load_state_dict FileSystemReader FileSystemWriter StorageReader StorageWriter DefaultLoadPlanner DefaultSavePlanner LoadPlan LoadPlanner SavePlan SavePlanner Metadata BytesStorageMetadata TensorStorageMetadata CheckpointException HuggingFaceStorageReader HuggingFaceStorageWriter""")
