"""Settings of PyTorch's compiler back end: any can be set, none is looked at. The values are PyTorch's."""
from types import SimpleNamespace as _SimpleNamespace

from weir._dynamo.config import patch  # noqa: F401

max_autotune = coordinate_descent_tuning = fx_graph_cache = freezing = epilogue_fusion = False
force_disable_caches = emulate_precision_casts = force_fuse_int_mm_with_mul = reorder_for_compute_comm_overlap = False
coordinate_descent_check_all_directions = combo_kernels = benchmark_combo_kernel = batch_invariant = False
size_asserts = allow_buffer_reuse = reorder_for_peak_memory = cpp_cache_precompile_headers = True
compile_threads = 1
max_autotune_gemm_backends, max_autotune_gemm_search_space = "ATEN,TRITON,CPP", "DEFAULT"
pre_grad_custom_pass = post_grad_custom_pre_pass = post_grad_custom_post_pass = None
custom_should_partition_ops, reorder_for_compute_comm_overlap_passes = [], []
triton = _SimpleNamespace(cudagraphs=False, unique_kernel_names=True)
cpp = _SimpleNamespace(enable_concat_linear=False)
eager_numerics = _SimpleNamespace(division_rounding=False)
aot_inductor, cuda, test_configs = (_SimpleNamespace() for _ in range(3))
