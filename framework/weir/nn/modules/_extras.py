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
        return type(self).__call__(self, *args, **kwargs)
