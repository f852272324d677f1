"""The named tuples that ops with several results return, by the op's name."""
import weir

_ASK = {
    "max": lambda t: weir.max(t, 0), "min": lambda t: weir.min(t, 0), "sort": lambda t: weir.sort(t, 0),
    "topk": lambda t: weir.topk(t, 1), "median": lambda t: weir.median(t, 0), "mode": lambda t: weir.mode(t, 0),
    "kthvalue": lambda t: weir.kthvalue(t, 1, 0), "cummax": lambda t: weir.cummax(t, 0), "cummin": lambda t: weir.cummin(t, 0),
    "nanmedian": lambda t: weir.nanmedian(t, 0), "aminmax": lambda t: weir.aminmax(t), "qr": lambda t: weir.qr(t),
    "svd": lambda t: weir.svd(t), "slogdet": lambda t: weir.slogdet(t), "frexp": lambda t: weir.frexp(t),
    "linalg_svd": lambda t: weir.linalg.svd(t), "linalg_qr": lambda t: weir.linalg.qr(t),
    "linalg_eigh": lambda t: weir.linalg.eigh(t), "linalg_slogdet": lambda t: weir.linalg.slogdet(t),
    "linalg_lu": lambda t: weir.linalg.lu(t), "linalg_lu_factor": lambda t: weir.linalg.lu_factor(t),
    "linalg_inv_ex": lambda t: weir.linalg.inv_ex(t), "linalg_cholesky_ex": lambda t: weir.linalg.cholesky_ex(t),
    "linalg_lstsq": lambda t: weir.linalg.lstsq(t, t), "triangular_solve": lambda t: weir.triangular_solve(t, t),
    "geqrf": lambda t: weir.geqrf(t), "histogram": lambda t: weir.histogram(t, 2),
}


def __getattr__(name):
    if name not in _ASK:
        raise AttributeError(f"module 'weir.return_types' has no attribute '{name}'")
    globals()[name] = type(_ASK[name](weir.eye(2)))
    return globals()[name]


def pytree_register_structseq(cls):
    """Trees hold these tuples without being told."""
