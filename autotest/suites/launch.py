"""Runs pytest on test files of PyTorch's where a subject answers for `torch`.

    python -m weir_autotest.suites.launch SUBJECT FOLDER [pytest's arguments]

FOLDER is `test` of PyTorch's source tree. What errors say is not compared, only their class: the words are each framework's own.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

from . import stand_ins


def prepare(subject: str) -> None:
    """From now on `import torch` gives the subject, and PyTorch's test helpers load over it."""
    site = Path(importlib.util.find_spec("torch").origin).parent.parent
    framework = importlib.import_module(subject)
    framework.as_torch()

    def lacking(name):
        """Whether the subject has not the module, or of a private one only the name: no file, and so nothing to call at import."""
        try:
            spec = importlib.util.find_spec(subject + name[len("torch"):])
        except ModuleNotFoundError:
            return True
        return spec is None or spec.origin is None and any(part.startswith("_") for part in name.split("."))

    sys.meta_path[:0] = [stand_ins.Files(site, stand_ins.FIRST), stand_ins.Files(site, stand_ins.OWN_FILES, lacking)]
    for name in [n for n in sys.modules if n.startswith(stand_ins.FIRST)]:
        del sys.modules[name]
    stand_ins.put_all()
    _compare_classes_of_errors_only()
    _let_nothing_be_asked()


def _compare_classes_of_errors_only() -> None:
    case = importlib.import_module("torch.testing._internal.common_utils").TestCase
    case.assertRaisesRegex = lambda self, expected_exception, expected_regex, *args, **kwargs: self.assertRaises(expected_exception, *args, **kwargs)
    case.assertWarnsRegex = lambda self, expected_warning, expected_regex, *args, **kwargs: self.assertWarns(expected_warning, *args, **kwargs)


def _let_nothing_be_asked() -> None:
    """A test of all operations of some kind is none where the subject names none; PyTorch takes that for a mistake."""
    for module, name in (("common_device_type", "ops"), ("common_utils", "parametrize")):
        decorator = getattr(importlib.import_module(f"torch.testing._internal.{module}"), name)

        def unless_empty(self, *args, plain=decorator._parametrize_test, **kwargs):
            try:
                yield from plain(self, *args, **kwargs)
            except ValueError as error:
                if "An empty" not in str(error):
                    raise

        decorator._parametrize_test = unless_empty


if __name__ == "__main__":
    import pytest
    prepare(sys.argv[1])
    sys.path.insert(0, sys.argv[2])
    sys.exit(pytest.main(sys.argv[3:]))
