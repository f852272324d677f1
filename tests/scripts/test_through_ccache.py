"""`scripts/through_ccache` gives back what belongs to the headers as they stand."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).parents[2] / "scripts/through_ccache"
GXX = os.environ.get("CXX", "g++")
pytestmark = pytest.mark.skipif(not shutil.which("ccache"), reason="ccache is not installed")


@pytest.fixture
def compiled(tmp_path):
    """Compiles a header that says a number, over what was there or `afresh`, and gives the number that a source finds in it."""
    folder = tmp_path / "folder"

    def run(number, afresh=False):
        if afresh:
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        (folder / "number.h").write_text(f"constexpr int number = {number};\n")
        (folder / "all.hxx").write_text("#include <number.h>\n")
        (folder / "all.hxx.cxx").write_text("/* nothing else */\n")
        (folder / "main.cpp").write_text("int main() { return number; }\n")
        environment = dict(os.environ, CCACHE_DIR=str(tmp_path / "cache"))
        begin = [LAUNCHER, GXX, "-I.", "-include", folder / "all.hxx"]
        subprocess.run([*begin, "-x", "c++-header", "-o", "all.hxx.gch", "-c", folder / "all.hxx.cxx"], cwd=folder, env=environment, check=True)
        subprocess.run([*begin, "-Winvalid-pch", "-o", "main.o", "-c", "main.cpp"], cwd=folder, env=environment, check=True)
        subprocess.run([GXX, "main.o", "-o", "main"], cwd=folder, check=True)
        return subprocess.run([folder / "main"]).returncode
    return run


def test_a_header_is_known_by_what_it_includes_now(compiled):
    """Not by the precompiled one that lies there: after a build from nothing it is one that the cache has met before."""
    assert [compiled(1), compiled(2)] == [1, 2]
    assert [compiled(1, afresh=True), compiled(3)] == [1, 3]
