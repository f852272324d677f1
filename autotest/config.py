"""`autotest.toml`: what a project asks of its framework, so that its commands need no options.

    subject = "mylib_subject"        # defaults of the options of the same names
    tier = "pr"
    dtypes = ["float32"]
    ops = ["add", "sum"]             # only these; leave_out = [...] takes operations out of the whole list
    baseline = "conformance.json"    # of `gate`; also waivers = "waivers.json" and folder = "cases"
    properties = ["value", "dtype", "shape", "error"]    # no others are charged

    [errors]                         # a class of the subject's, and the class of PyTorch's it stands for
    ShapeError = "RuntimeError"

    [[tolerance]]                    # values that may differ by more, counted as excused
    ops = ["exp"]
    rtol = 1e-3
    reason = "a polynomial of degree five"
"""

from dataclasses import dataclass
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

from .check.properties import PROPERTIES

NAME = "autotest.toml"
_OPTIONS = {"subject": str, "tier": str, "dtypes": list, "ops": list, "cases": int, "baseline": str, "waivers": str, "folder": str}
_MORE = {"leave_out": list, "properties": list, "errors": dict, "tolerance": list}


@dataclass(frozen=True)
class Tolerance:
    """|got - expected| <= atol + rtol |expected| is enough for these operations."""

    ops: tuple
    reason: str
    rtol: float = 0.0
    atol: float = 0.0


@dataclass(frozen=True)
class Config:
    """What the file says; empty where there is none. `options` are defaults of the commands' options."""

    options: dict
    leave_out: tuple = ()
    properties: tuple = ()
    errors: tuple = ()  # pairs
    tolerances: tuple = ()


def load(path: Path | None = None) -> Config:
    """The configuration at `path`, or in the working directory. Raises ValueError where the file says what nobody reads."""
    if path is None and not Path(NAME).exists():
        return Config({})
    path = path or Path(NAME)
    try:
        found = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    known = {**_OPTIONS, **_MORE}
    for name, value in found.items():
        if name not in known:
            raise ValueError(f"{path}: unknown key {name!r}; there are {', '.join(known)}")
        if not isinstance(value, known[name]):
            raise ValueError(f"{path}: {name} must be a {known[name].__name__}, got {value!r}")
    unknown = set(found.get("properties", ())) - set(PROPERTIES)
    if unknown:
        raise ValueError(f"{path}: unknown properties {', '.join(sorted(unknown))}; there are {', '.join(PROPERTIES)}")
    return Config({name: found[name] for name in _OPTIONS if name in found}, tuple(found.get("leave_out", ())),
                  tuple(found.get("properties", ())), tuple(found.get("errors", {}).items()),
                  tuple(_tolerance(path, entry) for entry in found.get("tolerance", ())))


def _tolerance(path: Path, entry: dict) -> Tolerance:
    if not entry.get("reason") or not entry.get("ops"):
        raise ValueError(f"{path}: a tolerance names its ops and a reason, got {entry}")
    unknown = set(entry) - {"ops", "reason", "rtol", "atol"}
    if unknown:
        raise ValueError(f"{path}: unknown keys of a tolerance: {', '.join(sorted(unknown))}")
    return Tolerance(tuple(entry["ops"]), entry["reason"], float(entry.get("rtol", 0)), float(entry.get("atol", 0)))


def defaults(config: Config) -> dict:
    """The file's options as defaults of each command's, which what is typed overrides."""
    text = {name: ",".join(value) if isinstance(value, list) else value for name, value in config.options.items()}
    asked = {name: text[name] for name in ("subject", "ops", "dtypes", "tier", "cases") if name in text}
    files = {"baseline": text.get("baseline"), "waivers_file": text.get("waivers"), "cases_folder": text.get("folder")}
    files = {name: value for name, value in files.items() if value}
    cases = {"cases_folder": files["cases_folder"]} if "cases_folder" in files else {}
    return {"run": {**asked, **cases}, "gate": {**{k: v for k, v in asked.items() if k not in ("dtypes", "cases")}, **files},
            "accept": {name: asked[name] for name in ("subject", "ops") if name in asked},
            **{name: {"subject": asked["subject"], **cases} for name in ("replay", "shrink", "search", "explain") if "subject" in asked}}
