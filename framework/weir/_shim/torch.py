"""Found as `torch` by processes that a program under `python -m weir` starts: their search path leads here first."""
import sys

import weir

weir.as_torch()
sys.modules[__name__] = weir
