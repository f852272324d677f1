"""Names of TorchScript's type comments."""
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401

from weir._jit_internal import (BroadcastingList1, BroadcastingList2, BroadcastingList3)  # noqa: F401
