"""Settings beside `use_deterministic_algorithms`."""
import sys
import types

from .. import _switches


class _Settings(types.ModuleType):
    @property
    def fill_uninitialized_memory(self):
        """Whether deterministic algorithms fill memory that nobody has written. TypeError for what is no bool."""
        return _switches._get_deterministic_fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, fill):
        _switches._set_deterministic_fill_uninitialized_memory(fill)


sys.modules[__name__].__class__ = _Settings
