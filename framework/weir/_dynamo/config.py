"""Settings of PyTorch's graph capture: any can be set, none is looked at. The values are PyTorch's."""
from weir._absent import PassThrough as _PassThrough

suppress_errors = verbose = dynamic_shapes = disable = False
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256
automatic_dynamic_shapes = inline_inbuilt_nn_modules = optimize_ddp = force_parameter_static_shapes = skip_torchrec = True
error_on_nested_fx_trace = True
capture_scalar_outputs = capture_dynamic_output_shape_ops = compiled_autograd = trace_autograd_ops = False
enable_cpp_symbolic_shape_guards = skip_fwd_side_effects_in_bwd_under_checkpoint = False
traceable_tensor_subclasses, ignore_logger_methods, reorderable_logging_functions = set(), set(), set()


def patch(*args, **kwargs):
    """A scope, or a decorator, that changes nothing."""
    return _PassThrough()
