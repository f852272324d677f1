"""C++ extensions of PyTorch, which are bound to its library: building or loading one raises NotImplementedError.

Questions that programs ask before they build have answers.
"""
import logging
import os
import shutil
import sys

from weir._absent import absent as _absent

from .file_baton import FileBaton  # noqa: F401

_WHY = "extensions are built against PyTorch's C++ library, which weir is not"
_TORCH_PATH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CUDA_HOME = ROCM_HOME = HIP_HOME = CUDNN_HOME = None
IS_WINDOWS = IS_MACOS = IS_HIP_EXTENSION = False
IS_LINUX = True
SUBPROCESS_DECODE_ARGS = ()
MINIMUM_GCC_VERSION = (5, 0, 0)
#: CUDA -> from which GCC on, and before which, its compiler takes host code of.
CUDA_GCC_VERSIONS = {cuda: (MINIMUM_GCC_VERSION if end < 12 else (6, 0, 0), (end, 0)) for end, versions in (
    (10, "11.0"), (11, "11.1 11.2 11.3"), (12, "11.4 11.5 11.6 11.7"), (13, "12.0 12.1 12.2"), (14, "12.3 12.4 12.5 12.6 12.7"),
    (15, "12.8 12.9"), (16, "13.0")) for cuda in versions.split()}
COMMON_HIP_FLAGS = ["-D__HIP_PLATFORM_AMD__=1", "-DUSE_ROCM=1", "-DHIPBLAS_V2", "-fPIC"]
for _name in ("CppExtension CUDAExtension SyclExtension BuildExtension load load_inline include_paths library_paths "
              "is_ninja_available verify_ninja_availability check_compiler_abi_compatibility "
              "get_compiler_abi_compatibility_and_version check_compiler_ok_for_platform _write_ninja_file _jit_compile "
              "_import_module_from_library _get_cuda_arch_flags _check_and_build_extension_h_precompiler_headers").split():
    globals()[_name] = _absent(f"utils.cpp_extension.{_name}", _WHY)


def _find_cuda_home():
    """Where CUDA is installed: as CUDA_HOME or CUDA_PATH says, where nvcc is found, or the usual folder; None where there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    if home is None:
        nvcc = shutil.which("nvcc")
        home = os.path.dirname(os.path.dirname(nvcc)) if nvcc is not None else "/usr/local/cuda"
        home = home if nvcc is not None or os.path.exists(home) else None
    if home:
        logging.getLogger(__name__).warning("No CUDA runtime is found, using CUDA_HOME='%s'", home)
    return home


def _join_cuda_home(*paths):
    """A path under CUDA_HOME. OSError where that is not known."""
    return _joined("CUDA", CUDA_HOME, paths)


def _join_rocm_home(*paths):
    """A path under ROCM_HOME. OSError where that is not known."""
    return _joined("ROCM", ROCM_HOME, paths)


def _joined(kind, home, paths):
    if home is None:
        raise OSError(f"{kind}_HOME environment variable is not set. Please set it to your {kind} install root.".replace("ROCM install", "ROCm install"))
    return os.path.join(home, *paths)


def _is_cuda_file(path):
    """Is it a source of CUDA, by its name?"""
    return os.path.splitext(path)[1] in (".cu", ".cuh")


def get_cxx_compiler():
    """The command of the C++ compiler: CXX's, or c++."""
    return os.environ.get("CXX", "c++")


def get_default_build_root():
    """The folder of what is built. Not that of PyTorch, whose extensions are its own."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.realpath(os.path.join(cache, "weir_extensions"))


def _get_build_directory(name, verbose):
    """The folder of one extension, under TORCH_EXTENSIONS_DIR or the default root; it is made."""
    root = os.environ.get("TORCH_EXTENSIONS_DIR")
    if root is None:
        version = f"py{sys.version_info.major}{sys.version_info.minor}{getattr(sys, 'abiflags', '')}"
        root = os.path.join(get_default_build_root(), f"{version}_cpu")
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    return folder


def _maybe_write(filename, new_content):
    """Writes the file unless it holds that already, so that nothing is built again."""
    if os.path.exists(filename):
        with open(filename) as file:
            if file.read() == new_content:
                return
    with open(filename, "w") as file:
        file.write(new_content)
