"""Private paths of the loader's parts that programs import."""
import atexit
import sys

from weir._lazy import lazy_attributes
from weir._utils import ExceptionWrapper  # noqa: F401

from . import collate, fetch, worker  # noqa: F401

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds
HAS_NUMPY, IS_WINDOWS = True, sys.platform == "win32"
python_exit_status = False  # whether Python is about to end


@atexit.register
def _set_python_exit_flag():
    global python_exit_status
    python_exit_status = True


__getattr__ = lazy_attributes("weir.utils.data._utils", {"pin_memory": "", "signal_handling": ""})
