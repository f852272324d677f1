"""Pipelines: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.pipelining", """Pipe PipelineStage SplitPoint pipeline pipe_split ScheduleGPipe Schedule1F1B""")
