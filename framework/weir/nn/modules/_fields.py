"""A base for modules whose constructor only keeps its arguments and whose forward is one function."""

import inspect

from .module import Module


class Fields(Module):
    """Keeps the arguments named in the subclass's `__init__` as attributes of the same names.

    `_shown` lists what the repr shows as name=value; `inplace` is shown only when it is True.
    """

    _shown = ()

    def _keep(self, arguments):
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        for name in names:
            if name in arguments:
                setattr(self, name, arguments[name])

    def extra_repr(self):
        parts = [f"{name}={getattr(self, name)}" for name in self._shown if name != "inplace"]
        if "inplace" in self._shown and self.inplace:
            parts.append("inplace=True")
        return ", ".join(parts)
