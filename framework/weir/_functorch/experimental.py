"""`functorch.experimental`, whose names are no longer experiments."""
from weir.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_  # noqa: F401
from weir._functorch.vmap import chunk_vmap  # noqa: F401
