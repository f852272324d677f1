"""Names of `torch.utils` without a function here."""
from weir._absent import absent as _absent

ThroughputBenchmark = _absent("utils.ThroughputBenchmark", "weir has no TorchScript")
generate_methods_for_privateuse1_backend = _absent("utils.generate_methods_for_privateuse1_backend", "weir takes no other back ends")
rename_privateuse1_backend = _absent("utils.rename_privateuse1_backend", "weir takes no other back ends")
get_cpp_backtrace = _absent("utils.get_cpp_backtrace")
cmake_prefix_path = ""
