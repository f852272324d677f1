"""What a record is: JSON that satisfies one of the schemas in `schemas/`, named by the hash of its content."""

import copy
import json
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator

from .hashing import digest
from .provenance import provenance

SCHEMA_DIR = Path(__file__).parent / "schemas"
KINDS = ("weir.conformance/v1", "weir.campaign/v1", "weir.bench/v1", "weir.dlperf/v1", "weir.mutation/v1", "weir.trust/v1",
         "weir.instructions/v1", "weir.programs/v1")


class RecordError(ValueError):
    """A record breaks its schema, or its `run_id` is not the hash of its content."""


def run_id(record: dict) -> str:
    """Returns the id that `record` must carry: the digest of everything in it but `run_id` itself."""
    return digest({key: value for key, value in record.items() if key != "run_id"})


def new_run(kind: str, libraries=()) -> dict:
    """Returns a fresh record of `kind` with its start time and provenance filled in.

    `libraries` names distributions whose versions belong in the record besides the usual ones.
    Raises RecordError if `kind` is not one of `KINDS`.
    """
    _schema_file(kind)
    started = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    return {"schema": kind, "started": started, "provenance": provenance(libraries)}


def seal(record: dict) -> dict:
    """Returns a copy of `record` with its `run_id`, validated. A record is complete from here on."""
    sealed = copy.deepcopy(record)
    sealed["run_id"] = run_id(sealed)
    validate(sealed)
    return sealed


def validate(record: dict) -> None:
    """Raises RecordError, naming the place, unless `record` satisfies its schema and `run_id` is its hash."""
    validator = _validator(record.get("schema") if isinstance(record, dict) else None)
    error = next(iter(sorted(validator.iter_errors(record), key=lambda e: list(map(str, e.path)))), None)
    if error is not None:
        place = "/".join(map(str, error.absolute_path)) or "(top)"
        raise RecordError(f"{record['schema']}: at {place}: {error.message[:300]}")
    if record["run_id"] != run_id(record):
        raise RecordError(f"{record['schema']}: run_id {record['run_id'][:12]} is not the hash of the content, "
                          f"{run_id(record)[:12]}: the record was changed after it was sealed")


def save(record: dict, store: str | None = None) -> str:
    """Seals `record` if it has no `run_id`, validates it, appends it to `store` (URL or None), returns the id."""
    from .store import Store

    sealed = record if "run_id" in record else seal(record)
    validate(sealed)
    Store(store).add(sealed)
    return sealed["run_id"]


def keep(record: dict, json_file: Path | None, store: str | None) -> None:
    """Writes a sealed record where a command's options `--json` and `--store` say."""
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(record))
    if store is not None:
        save(record, store)


@cache
def _validator(kind) -> Draft202012Validator:
    return Draft202012Validator(json.loads(_schema_file(kind).read_text()))


def _schema_file(kind) -> Path:
    if kind not in KINDS:
        raise RecordError(f"unknown record schema {kind!r}; expected one of {', '.join(KINDS)}")
    name, version = kind.removeprefix("weir.").split("/")
    return SCHEMA_DIR / f"{name}.{version}.json"
