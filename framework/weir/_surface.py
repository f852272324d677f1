"""Where `weir.<name>` comes from when the name is not imported with the package: modules, and names that live in them.

`import weir` does not read this file; the first lookup of such a name does.
"""
import importlib

from . import _absent_modules
from ._absent import absent

_MODULES = frozenset("""
    __config__ __future__ _as_torch _compat _custom_ops _dynamo _functorch _guards _inductor _jit_internal
    _ops _subclasses _tensor _tensor_str _utils
    accelerator amp ao autograd backends compiler cpu cuda distributed distributions export fft
    func functional futures fx hub jit library linalg masked monitor mps mtia multiprocessing nested nn onnx optim
    overrides package profiler quantization quasirandom random return_types serialization signal sparse special storage
    testing torch_version types utils version xpu
""".split())

#: module -> names of the package's top level that it holds
_HOLDS = {
    "serialization": "save load",
    "sparse._build": "sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_compressed_tensor",
    "sparse._pattern": "_convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo",
    "sparse._public": "hspmm smm spmm dsmm saddmm",
    "_interchange": "from_dlpack to_dlpack",
    "_as_torch": "as_torch missing_names",
    "_compat": "compat",
    "_removed": "eig symeig lstsq matrix_rank solve",
    "overrides": "DisableTorchFunction DisableTorchFunctionSubclass",
    "_switches": """use_deterministic_algorithms are_deterministic_algorithms_enabled
        is_deterministic_algorithms_warn_only_enabled set_deterministic_debug_mode get_deterministic_debug_mode
        set_float32_matmul_precision get_float32_matmul_precision set_flush_denormal set_warn_always is_warn_always_enabled
        get_num_interop_threads set_num_interop_threads init_num_threads has_lapack has_mkl has_openmp has_mkldnn has_spectral
        has_mps has_cuda has_cudnn set_anomaly_enabled is_anomaly_enabled is_anomaly_check_nan_enabled
        autocast_increment_nesting autocast_decrement_nesting
        clear_autocast_cache get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype set_autocast_dtype
        set_autocast_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_gpu_dtype is_autocast_cpu_enabled
        is_autocast_cache_enabled set_autocast_cache_enabled get_device_module sym_int sym_float sym_max sym_min sym_not
        sym_ite sym_sum sym_sqrt compiled_with_cxx11_abi is_vulkan_available is_distributed is_inference
        is_inference_mode_enabled _assert_async is_same_size is_signed is_conj is_neg get_device detach layout newaxis""",
    "_default_device": "set_default_device get_default_device set_default_tensor_type",
    "_placeholders": """layout qscheme AcceleratorError OutOfMemoryError Stream Event
        SymInt SymFloat SymBool Tag DispatchKey DispatchKeySet JITException ErrorReport thread_safe_generator""",
    "_tensor_types": """FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor CharTensor
        ByteTensor BoolTensor""",
    "storage": """StorageBase TypedStorage UntypedStorage FloatStorage DoubleStorage HalfStorage BFloat16Storage LongStorage IntStorage
        ShortStorage CharStorage ByteStorage BoolStorage ComplexFloatStorage ComplexDoubleStorage Storage is_storage""",
    "_conditions": """_assert _check _check_with _check_index _check_value _check_type _check_not_implemented _check_is_size
        _check_tensor_all _check_tensor_all_with _is_all_true _is_any_true _shape_as_tensor _has_compatible_shallow_copy_type""",
    "_higher_order_ops": "cond while_loop",
    "_compile": "compile _disable_dynamo",
    "amp": "GradScaler",
    "amp.grad_scaler": "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_",
    "futures": "Future",
    "func": "vmap",
    "multiprocessing": "",
    "_recurrent": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
    "jit": "fork wait ScriptModule ScriptFunction CompilationUnit",
    "_functions": """adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout alpha_dropout_ avg_pool1d
        feature_alpha_dropout feature_dropout instance_norm max_pool1d
        max_pool2d max_pool3d max_pool1d_with_indices pdist rms_norm native_channel_shuffle
        ctc_loss from_file range detach_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ clip_ fix_
        negative_ feature_alpha_dropout_ feature_dropout_ lobpcg native_norm convolution _grouped_mm
        embedding_renorm_ zero_ histogramdd""",
}
#: Modules of functions that PyTorch has in C++, whose parser takes NumPy's names too.
_PARSED = frozenset(["_functions", "_recurrent", "_switches"])
_ORIGIN = {name: module for module, names in _HOLDS.items() for name in names.split()}

_ABSENT = {
    "weir has no quantised tensors": """choose_qparams_optimized dequantize empty_quantized fake_quantize_per_channel_affine
        fake_quantize_per_tensor_affine fused_moving_avg_obs_fake_quant int_repr q_per_channel_axis q_per_channel_scales
        q_per_channel_zero_points q_scale q_zero_point quantize_per_channel quantize_per_tensor
        quantize_per_tensor_dynamic quantized_batch_norm quantized_gru_cell quantized_lstm_cell quantized_max_pool1d
        quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell
        fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
        fbgemm_pack_quantized_matrix""",
    "weir has no sparse tensors of this kind": """sparse_bsr_tensor sparse_bsc_tensor hsmm sspaddmm resize_as_sparse_ ccol_indices_copy
        col_indices_copy crow_indices_copy row_indices_copy indices_copy values_copy""",
    "there is no CUDA back end": """cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
        cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable batch_norm_backward_elemt
        batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts
        batch_norm_stats batch_norm_update_stats miopen_batch_norm miopen_convolution miopen_convolution_add_relu
        miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn""",
    "oneDNN is called by the ops themselves": """mkldnn_adaptive_avg_pool2d mkldnn_convolution
        mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer""",
    "weir has no TorchScript": """AggregationType AliasDb AnyType Argument ArgumentSpec AwaitType Block BoolType BufferDict
        CallStack Capsule ClassType Code CompleteArgumentSpec ComplexType ConcreteModuleType ConcreteModuleTypeBuilder
        DeepCopyMemoTable DeserializationStorageContext DeviceObjType DictType EnumType ExecutionPlan FileCheck FloatType
        FunctionSchema FutureType Gradient Graph GraphExecutorState IODescriptor InferredType IntType InterfaceType ListType
        LiteScriptModule LockingLogger ModuleDict NoneType NoopLogger NumberType OperatorInfo OptionalType ParameterDict
        PyObjectType PyTorchFileReader PyTorchFileWriter RRefType ScriptClass ScriptClassFunction ScriptDict
        ScriptDictIterator ScriptDictKeyIterator ScriptList ScriptListIterator ScriptMethod ScriptModuleSerializer
        ScriptObject ScriptObjectProperty SerializationStorageContext StaticModule StreamObjType StringType SymBoolType
        SymIntType TensorType ThroughputBenchmark TracingState TupleType Type UnionType Use Value import_ir_module
        import_ir_module_from_buffer merge_type_from_type_comment parse_ir parse_schema parse_type_comment unify_type_list
        BenchmarkConfig BenchmarkExecutionStats FatalError Node AVG SUM""",
    "weir has no dispatcher of PyTorch's kind": """ExcludeDispatchKeyGuard sym_constrain_range sym_constrain_range_for_size sym_fresh_size""",
    "weir does not have it": """cpp slice_inverse get_autocast_ipu_dtype
        get_autocast_xla_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype
        set_autocast_xla_enabled is_autocast_ipu_enabled is_autocast_xla_enabled""",
}
_WHY = {name: why for why, names in _ABSENT.items() for name in names.split()}

_DTYPES = frozenset("""bit bits16 bits1x8 bits2x4 bits4x2 bits8 float4_e2m1fn_x2 int1 int2 int3 int4 int5 int6 int7
    qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint2 uint3 uint4 uint5 uint6 uint7""".split())
_QSCHEMES = frozenset("""per_tensor_affine per_tensor_symmetric per_channel_affine per_channel_symmetric
    per_channel_affine_float_qparams""".split())
_LAYOUTS = frozenset("strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged _mkldnn".split())


def find(name):
    """The module or object `weir.<name>`. AttributeError when PyTorch has no such name either, or weir knows nothing of it."""
    if name in _ORIGIN:
        value = getattr(importlib.import_module("weir." + _ORIGIN[name]), name)
        if _ORIGIN[name] in _PARSED:
            from ._composites._register import numpy_named
            value = numpy_named(value)
    elif name.startswith("_foreach_"):
        from . import _foreach
        value = getattr(_foreach, name)
    elif name in _MODULES:
        return importlib.import_module("weir." + name)
    elif name in _DTYPES or name in _QSCHEMES or name in _LAYOUTS:
        import _weir
        from . import _placeholders
        kind = _weir._absent_dtype if name in _DTYPES else _placeholders.layout if name in _LAYOUTS else _placeholders.qscheme
        value = kind("uint1" if name == "bit" else name)
    elif name in _WHY:
        value = absent(name, _WHY[name])
    elif name == "torch":
        import weir as value  # `torch.torch` is the package itself
    elif name == "ops" or name == "classes":
        from .library import ops as value
    elif _absent_modules.is_listed(name):
        return importlib.import_module("weir." + name)
    else:
        raise AttributeError(f"module 'weir' has no attribute '{name}'")
    import weir
    vars(weir).setdefault(name, value)
    return value


def names():
    """All names that `find` knows, for `dir(weir)`."""
    return sorted({*_ORIGIN, *_MODULES, *_WHY, *_DTYPES, *_QSCHEMES, *_LAYOUTS, "ops", "classes"})
