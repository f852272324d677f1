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
