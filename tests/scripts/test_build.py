"""The tests run what they are asked to: a build under a sanitizer, say, and not another one that lies nearer."""

import os
import subprocess
import sys

import _weir


def test_this_process_and_others_have_the_build_asked_for():
    wanted = os.environ.get("WEIR_BUILD", "")  # of scripts/test, asan and tsan; else whatever there is
    theirs = subprocess.run([sys.executable, "-c", "import _weir; print(_weir.__file__)"], capture_output=True, text=True, check=True).stdout.strip()
    assert _weir.__file__.startswith(wanted) and theirs == _weir.__file__
