"""The comparison of public names: its answers for a module that is made for it."""

import json
import os
import sys

from weir_autotest import compat


def test_says_same_partial_and_absent(tmp_path, monkeypatch):
    (tmp_path / "made_subject.py").write_text(
        "class Tensor: pass\ndef same(input, dim): pass\ndef fewer(input): pass\nclass gone: __weir_missing__ = 'not written'\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    oracle = {"modules": {"torch": {"same": ["input", "dim"], "fewer": ["input", "dim"], "gone": None, "nowhere": None}}}
    answers = compat.compare("made_subject", oracle)
    assert answers == {"torch": {"same": "same", "fewer": "partial: lacks dim", "gone": "named: not written",
                                 "nowhere": "absent"}}
    assert compat.summary(answers) == {"same": 1, "partial": 1, "named": 1, "absent": 1}
    assert "fewer: partial: lacks dim" in compat.show(answers) and json.dumps(answers)


def test_says_what_isinstance_would_say_otherwise(tmp_path, monkeypatch):
    (tmp_path / "made_classes.py").write_text("class Wide: pass\nclass Flat(Wide): pass\nclass Deep: pass\nclass Part(Deep): pass\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    names = ["Wide", "Flat", "Deep", "Part"]
    oracle = {"modules": {"torch": dict.fromkeys(names)}, "classes": [["torch", name] for name in names], "kinds": {"torch.Part": [["torch", "Deep"], ["torch", "Wide"]]}}
    assert compat.compare("made_classes", oracle) == {"torch": {"Wide": "same", "Flat": "partial: is a Wide", "Deep": "same", "Part": "partial: is no Wide"}}
