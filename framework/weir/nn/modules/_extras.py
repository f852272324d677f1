"""Methods of Module beside its protocol: sharing, compiling, replacing a submodule."""

import weir


class ExtrasMixin:
    """`share_memory`, `compile`, `set_submodule` and device names without a back end, of Module."""

    dump_patches = False
    call_super_init = False

    def share_memory(self):
        """Moves parameters and buffers into memory that other processes can share. Returns self."""
        return self._apply(lambda t: t.share_memory_())

    def compile(self, *args, **kwargs):
        """Nothing is compiled: the module computes the same as it is."""

    def set_submodule(self, target, module, strict=False):
        """Puts `module` at a dotted path. ValueError for "", AttributeError when the way there does not exist."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, weir.nn.Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), weir.nn.Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def xpu(self, device=None):
        """AssertionError: there is no such back end."""
        raise AssertionError("Torch not compiled with XPU enabled")

    ipu = mtia = xpu

    def _call_impl(self, *args, **kwargs):
        """Forward between its hooks. A class that overrides it is called by its own."""
        return weir.nn.Module.__call__(self, *args, **kwargs)

    _wrapped_call_impl = _call_impl
    _compiled_call_impl = None  # of what was compiled, in PyTorch

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "_call_impl" in vars(cls) and "__call__" not in vars(cls):
            cls.__call__ = _by_impl

    def _slow_forward(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def _replicate_for_data_parallel(self):
        """A module over the same buffers and submodules, without parameters: those of a replica come from gradients' nodes."""
        replica = type(self).__new__(type(self))
        replica.__dict__ = {**self.__dict__, "_parameters": {}, "_buffers": self._buffers.copy(), "_modules": self._modules.copy(), "_is_replica": True}
        return replica


def _by_impl(self, *args, **kwargs):
    return self._call_impl(*args, **kwargs)
