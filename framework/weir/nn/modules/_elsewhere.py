"""Names under the module in which PyTorch keeps them, where weir keeps them in another."""
import importlib

_PLACES = ("weir.nn", "weir.nn.modules.utils", "weir.nn.common_types", "weir.nn.modules._private", "weir.nn.modules.lazy", "weir.nn.modules.attention")


def elsewhere(module):
    """A module `__getattr__` that looks a name up in the other places."""
    def __getattr__(name):
        if not (name.startswith("__") and name.endswith("__")):
            for place in _PLACES:
                table = vars(importlib.import_module(place))
                if name in table:
                    return table[name]
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    return __getattr__
