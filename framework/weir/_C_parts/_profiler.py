"""`torch._C._profiler`: names of what PyTorch's profiler records."""
from weir._absent import absent_names
from weir.profiler import ProfilerActivity, _ExperimentalConfig  # noqa: F401

__getattr__ = absent_names("weir._C._profiler", "ActiveProfilerType CapturedTraceback ProfilerConfig ProfilerState RecordScope _EventType "
                           "_ExtraFields_Allocation _ExtraFields_Backend _ExtraFields_Kineto _ExtraFields_OutOfMemory _ExtraFields_PyCCall "
                           "_ExtraFields_PyCall _ExtraFields_TorchOp _ExtraFields_Vulkan _NNModuleInfo _OptimizerInfo _ProfilerEvent "
                           "_PyFrameState _RecordFunctionFast _TensorMetadata gather_traceback symbolize_tracebacks",
                           "a profile of weir holds times of ops and scopes only")
