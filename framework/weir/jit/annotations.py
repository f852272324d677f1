"""Names of TorchScript's type comments."""
from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: F401
