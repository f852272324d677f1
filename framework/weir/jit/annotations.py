"""Names of TorchScript's type comments."""
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401

from weir._absent import absent as _absent
from weir._jit_internal import (BroadcastingList1, BroadcastingList2, BroadcastingList3)  # noqa: F401

try_ann_to_type = _absent("jit.annotations.try_ann_to_type", "weir has no TorchScript")
