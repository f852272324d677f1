"""The functions of the package that PyTorch keeps in `torch.functional`."""
import weir

_NAMES = """atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_tensors cartesian_prod block_diag cdist chain_matmul einsum istft lu norm
    meshgrid pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index""".split()


def __getattr__(name):
    if name == "__all__":
        return list(_NAMES)
    if name in ("Tensor", "F") or name.startswith("__"):
        if name == "F":
            return weir.nn.functional
        if name == "Tensor":
            return weir.Tensor
    elif hasattr(weir, name):
        return getattr(weir, name)
    raise AttributeError(f"module 'weir.functional' has no attribute '{name}'")
