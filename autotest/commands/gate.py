"""The command `gate`."""

from datetime import date
from pathlib import Path
from typing import Annotated, Optional

import typer

from .. import annotations, waivers
from .. import gate as ratchet
from .. import junit as junit_xml
from ..campaign.tasks import UsageError, in_shard
from ..cases import database
from ..opdb.run import Settings
from ..record import CAMPAIGN_SCHEMA, SCHEMA, record
from .common import (FELL, CasesFolder, Dtype, Jobs, Ops, Shard, Subject, Timeout, config, ended, jobs_of, names, recorded, replayed_by, run_of,
                     settings_of, shard_of)
from .records import load_record, read


app = typer.Typer()


@app.command()
def gate(
    baseline: Annotated[Path, typer.Option(help="The committed baseline.")] = Path("tests/golden/conformance.json"),
    waivers_file: Annotated[Path, typer.Option("--waivers", help="Cells that may stay fallen until a day.")] = Path("tests/golden/waivers.json"),
    update: Annotated[bool, typer.Option(help="Raise the baseline to this run; it never falls.")] = False,
    junit: Annotated[Optional[Path], typer.Option(help="Write JUnit XML here.")] = None,
    github: Annotated[bool, typer.Option(envvar="GITHUB_ACTIONS", help="Print GitHub annotations.")] = False,
    from_file: Annotated[Optional[Path], typer.Option("--from", help="Judge this record, run nothing.")] = None,
    tier: Annotated[str, typer.Option(help="Judge generated calls of this tier, after the failure database; without it, the op database.")] = "",
    subject: Subject = "weir", dtype: Dtype = "float32", ops: Ops = "", jobs: Jobs = 0, timeout: Timeout = 60.0,
    shard: Shard = "", cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Compare a run with the baseline: a cell may only rise.

    \b
    Examples:
      weir-autotest gate --junit build/conformance.xml
      weir-autotest gate --tier pr
      weir-autotest gate --tier pr --shard 0/4
      weir-autotest gate --from run.json --update
    """
    part = shard_of(shard)
    if update and part != (0, 1):
        raise UsageError("gate: --update needs the whole: `run --shard` and `merge` make a record of it for --from")
    begins = update and not baseline.exists()
    before, excused = {} if begins else read(ratchet.load, baseline), read(waivers.load, waivers_file)
    replayed = []
    if from_file:
        made = load_record(from_file, SCHEMA, CAMPAIGN_SCHEMA)
        part = tuple(made.get("settings", {}).get("shard", part))
        if update and part != (0, 1):
            raise UsageError(f"gate: {from_file} is a part of a run: `merge` it with the others before --update")
    elif tier:
        wanted = names(ops)
        replayed = replayed_by(subject, [entry for entry in database.entries(cases_folder)
                                     if in_shard(entry.name, part) and (not wanted or {entry.op, entry.op.split(".")[0]} & set(wanted))])
        made = recorded(settings_of(tier, subject, ops, jobs=jobs_of(jobs), timeout=timeout, shard=part))
    else:
        made = record(run_of(Settings(subject, dtype, names(ops), jobs_of(jobs), timeout=timeout, errors=config().errors,
                                      tolerances=config().tolerances, shard=part)))
    ended(made)
    after = ratchet.table(made)
    found = ratchet.compare(after, before, lambda row: not ops and in_shard(row, part))
    found.fell[:0] = [ratchet.Change(done.entry.name, done.entry.property, "PASS", "FAIL", failure.reason)
                      for done in replayed for failure in done.failures[:1]]
    applied = waivers.apply(excused, found, date.today())
    _report(applied)
    for line in annotations.lines(applied.verdict, baseline) if github else ():
        typer.echo(line)
    if junit:
        junit_xml.write(junit, after, applied.verdict)
    if update:
        ratchet.save(ratchet.raised(after, before), baseline)
    if not applied.verdict.holds:
        raise typer.Exit(FELL)


def _report(applied: waivers.Applied) -> None:
    verdict = applied.verdict
    known = [change for change in verdict.rose if change.before != ratchet.NEW]
    for change in known:
        typer.echo(f"rose  {change}")
    for change, waiver in applied.waived:
        typer.echo(f"waived  {change}, until {waiver.until}, {waiver.issue}: {waiver.reason}")
    for change in verdict.fell:
        typer.echo(f"FELL  {change}")
        typer.echo("".join(f"      {line}\n" for line in change.reason.splitlines()), nl=False)
    for waiver in applied.expired:
        typer.echo(f"expired waiver: {waiver}")
    for waiver in applied.idle:
        typer.echo(f"waiver no longer needed: {waiver}")
    new = len(verdict.rose) - len(known)
    waived = f", {len(applied.waived)} are waived" if applied.waived else ""
    typer.echo(f"{len(known)} cells rose, {new} are new and good, {len(verdict.fell)} fell{waived}")
