"""C++ extensions of PyTorch, which are bound to its library: building or loading one raises NotImplementedError."""
from weir._absent import absent as _absent

_WHY = "extensions are built against PyTorch's C++ library, which weir is not"
CUDA_HOME = ROCM_HOME = CUDNN_HOME = None
IS_WINDOWS = IS_MACOS = IS_HIP_EXTENSION = False
IS_LINUX = True
for _name in ("CppExtension CUDAExtension SyclExtension BuildExtension load load_inline include_paths library_paths "
              "is_ninja_available verify_ninja_availability check_compiler_abi_compatibility "
              "get_compiler_abi_compatibility_and_version get_default_build_root check_compiler_ok_for_platform").split():
    globals()[_name] = _absent(f"utils.cpp_extension.{_name}", _WHY)
