"""The version of PyTorch's API that this package answers for, and the string type that compares it."""
import operator
import re

#: The API level followed here. The build of weir itself is `weir.__version__` outside of `as_torch`.
API_VERSION = "2.13.0+weir"


class TorchVersion(str):
    """A version string that compares by its numbers with strings, tuples and packaging's Version objects, and as text with strings that
    name no version, as those of other frameworks ("parrots").

    Source: torch.torch_version.TorchVersion.
    """

    __hash__ = str.__hash__


def _comparison(name):
    def compare(self, other):
        try:
            return getattr(operator, name)(_key(self), _key(other))
        except ValueError:
            return getattr(str, name)(self, other)
    return compare


for _name in ("__lt__", "__le__", "__eq__", "__gt__", "__ge__"):
    setattr(TorchVersion, _name, _comparison(_name))


def _key(version):
    """(numbers, is it a release, the stage's number, local part), in the order of PEP 440 for the forms in use."""
    if isinstance(version, (int, float)) or version is None:
        raise ValueError(f"Invalid version: {version!r}")
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
