"""Other names of ops that are no methods."""

import weir

from ._register import functions

functions["trapz"] = weir._C.ops["torch"]["trapezoid"]
functions["_segment_reduce"] = weir._C.ops["torch"]["segment_reduce"]
