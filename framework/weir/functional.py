"""The functions of the package that PyTorch keeps in `torch.functional`."""
import weir


def __getattr__(name):
    if name in ("Tensor", "F") or name.startswith("__"):
        if name == "F":
            return weir.nn.functional
        if name == "Tensor":
            return weir.Tensor
    elif hasattr(weir, name):
        return getattr(weir, name)
    raise AttributeError(f"module 'weir.functional' has no attribute '{name}'")
