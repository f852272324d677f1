"""The version of PyTorch's API that this package answers for, and the string type that compares it."""
import functools
import re

#: The API level followed here. The build of weir itself is `weir.__version__` outside of `as_torch`.
API_VERSION = "2.13.0+weir"


@functools.total_ordering
class TorchVersion(str):
    """A version string that compares by its numbers with strings, tuples and packaging's Version objects.

    Source: torch.torch_version.TorchVersion.
    """

    def __lt__(self, other):
        return _key(self) < _key(other)

    def __eq__(self, other):
        return _key(self) == _key(other) if isinstance(other, (str, tuple, list)) else NotImplemented

    def __hash__(self):
        return str.__hash__(self)

    # total_ordering leaves alone what str already defines
    def __le__(self, other):
        return _key(self) <= _key(other)

    def __gt__(self, other):
        return _key(self) > _key(other)

    def __ge__(self, other):
        return _key(self) >= _key(other)


def _key(version):
    """(numbers, is it a release, the stage's number, local part), in the order of PEP 440 for the forms in use."""
    text = ".".join(map(str, version)) if isinstance(version, (tuple, list)) else str(version)
    public, _, local = text.partition("+")
    match = re.match(r"v?(\d+(?:\.\d+)*)[._-]?(a|b|rc|dev|post)?[a-z]*[._-]?(\d*)", public)
    if match is None:
        raise ValueError(f"Invalid version: '{text}'")
    numbers = [int(n) for n in match[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    stage = {"dev": -4, "a": -3, "b": -2, "rc": -1, None: 0, "post": 1}[match[2]]
    return numbers, stage, int(match[3] or 0), local


__version__ = TorchVersion(API_VERSION)
