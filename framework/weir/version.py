"""What the installed package is."""
from .torch_version import TorchVersion, API_VERSION

__version__ = TorchVersion(API_VERSION)
debug, cuda, hip, xpu, rocm, git_version = False, None, None, None, None, "unknown"
