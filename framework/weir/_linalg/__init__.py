"""Linear algebra over NumPy's LAPACK. `functions.py` and `factors.py` are what torch.linalg shows; the other modules
compute: `decomposition.py` makes differentiable functions of arrays, which `lapack.py`, `lu.py`, `lstsq.py` and
`matrix_exp.py` write.
"""
