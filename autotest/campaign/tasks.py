"""What a campaign is asked to do: its settings, and the rows they choose."""

import zlib
from dataclasses import dataclass, field


class UsageError(Exception):
    """The run cannot start as asked; the message tells the user why."""


@dataclass(frozen=True)
class Settings:
    """One campaign. `cases` are made per overload and dtype; `ops` are overload names or their part before the dot."""

    subject: str = "weir"
    dtypes: tuple = ("float32", "int64")
    ops: tuple = ()
    leave_out: tuple = ()
    cases: int = 50
    first: int = 0  # index of the first case, so that nightly runs go on where others ended
    jobs: int = 1
    timeout: float = 20.0  # seconds for the cases of one overload and dtype
    memory_gb: int = 4
    environment: dict = field(default_factory=dict)  # of the subject's process, beside the inherited one
    shard: tuple = (0, 1)  # this part of so many: machines that share a campaign by the hash of its rows
    properties: tuple = ()  # only these are charged, all for none
    errors: tuple = ()  # pairs: a class of the subject's errors, and the class of the oracle's that it stands for
    tolerances: tuple = ()  # config.Tolerance: values that may differ by more


def tasks_of(universe: list, settings: Settings) -> list[tuple]:
    """The pairs of overload and dtype that `settings` ask for, of its shard. Raises UsageError for unknown names."""
    out = {overload.name for overload in select(universe, settings.leave_out)} if settings.leave_out else set()
    return [(overload, dtype) for overload in select(universe, settings.ops) for dtype in settings.dtypes
            if overload.name not in out and overload.takes(dtype) and in_shard(f"{overload.name} {dtype}", settings.shard)]


def select(universe: list, wanted: tuple) -> list:
    """The overloads of `universe` that `wanted` names or whose family it names, all for none.

    Raises UsageError for unknown names.
    """
    unknown = set(wanted) - {name for o in universe for name in names(o)}
    if unknown:
        raise UsageError(f"not a public operation of the oracle: {', '.join(sorted(unknown))}")
    return [o for o in universe if not wanted or names(o) & set(wanted)]


def names(overload) -> set:
    """What users may call an overload."""
    module = overload.path.rpartition(".")[0]
    return {overload.name, overload.operation, overload.path, overload.family, module if module != "Tensor" else ""} - {""}


def in_shard(row: str, shard: tuple) -> bool:
    """Whether this part of a campaign takes `row`; the hash spreads slow rows as well as quick ones."""
    part, parts = shard
    return zlib.crc32(row.encode()) % parts == part
