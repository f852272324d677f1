"""A side of a comparison: which framework a worker imports, from where, with which interpreter.

| written as | what it is |
|---|---|
| `torch`, `weir` | a module that this environment has |
| `v0.3`, `main~2`, `1a2b3c4` | a revision of this repository: built once, kept under the revision |
| `dist/weir-0.1-cp311.whl` | a wheel, unpacked once, kept under its hash |
| `build/release` | a build folder (or any folder with packages in it) |
| `/opt/env/bin/python` | an interpreter whose environment has the module |
"""

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path


class CannotCompare(ValueError):
    """A side does not exist or cannot be built; the message says which and why."""


@dataclass(frozen=True)
class Side:
    """One side. `slow_down` is a share of its own time that a worker waits besides, to see whether that is noticed."""

    label: str
    module: str = "weir"
    python: str = sys.executable
    path: str = ""
    slow_down: float = 0.0

    def as_dict(self) -> dict:
        """The side as a record keeps it: without the places of one machine."""
        return {name: value for name, value in asdict(self).items() if name not in ("python", "path")}


def side_of(text: str, module: str = "weir", say=lambda text: None) -> Side:
    """The side that `text` names. Builds a revision that was not built before. Raises CannotCompare."""
    path = Path(text)
    if path.is_file() and path.suffix == ".whl":
        return Side(path.name, module, path=str(_unpacked(path)))
    if path.is_dir():
        inside = path / "python"
        return Side(text.rstrip("/"), module, path=str((inside if inside.is_dir() else path).resolve()))
    if path.is_file() and os.access(path, os.X_OK):
        return Side(text, module, python=str(path.absolute()))
    sha = _revision(text)
    if sha:
        return Side(f"{module} {sha[:9]}", module, path=str(_built(sha, say)))
    if text.isidentifier():
        return Side(text, text)
    raise CannotCompare(f"{text!r} is no module, revision, wheel, build folder or interpreter")


def cache() -> Path:
    """Where builds and unpacked wheels are kept; what lies there may be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "weir" / "builds"


def _git(*arguments: str, binary: bool = False):
    done = subprocess.run(["git", *arguments], capture_output=True)
    if done.returncode:
        return None
    return done.stdout if binary else done.stdout.decode().strip()


def _revision(text: str) -> str | None:
    return _git("rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")


def _unpacked(wheel: Path) -> Path:
    folder = cache() / hashlib.sha256(wheel.read_bytes()).hexdigest()[:16]
    if not folder.exists():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder.with_suffix(".part"))
        folder.with_suffix(".part").rename(folder)
    return folder


def _built(sha: str, say) -> Path:
    """The folder of packages of a revision. Both sides of a comparison are built the same way."""
    folder = cache() / sha
    done = folder / "built"
    if not done.exists():
        source, build, log = folder / "source", folder / "build", folder / "build.log"
        folder.mkdir(parents=True, exist_ok=True)
        if not source.exists():
            with tarfile.open(fileobj=BytesIO(_git("archive", sha, binary=True))) as archive:
                archive.extractall(source)
        say(f"building {sha[:9]} (once; {log})")
        prefix = Path(sys.executable).parent.parent
        configure = ["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DWEIR_TESTS=OFF",
                     "-DWEIR_BENCHMARKS=OFF", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DPython_EXECUTABLE={sys.executable}"]
        with log.open("w") as out:
            for command in (configure, ["cmake", "--build", build]):
                if subprocess.run(command, stdout=out, stderr=out).returncode:
                    raise CannotCompare(f"revision {sha[:9]} does not build: {_tail(log)}")
        done.touch()
    packages = folder / "build" / "python"
    return packages if packages.is_dir() else folder / "build"


def _tail(log: Path) -> str:
    return " | ".join(line for line in log.read_text(errors="replace").splitlines()[-8:] if line.strip())[:400]
