"""The command `weir-autotest`."""

import json
import os
import sys
from datetime import date
from pathlib import Path
from typing import Annotated, Optional

import typer

from . import annotations
from . import compat as naming
from . import gate as ratchet
from . import junit as junit_xml
from . import view, waivers
from .campaign import mutate as mutating
from .campaign import replay as replaying
from .campaign import run as campaign
from .campaign import search as searching
from .campaign import shrink as shrinking
from .campaign import tasks
from .campaign.lane import Lane
from .cases import database
from .config import NAME, Config
from .config import defaults as config_defaults
from .config import load as load_config
from .opdb.run import Result, Settings, UsageError, run
from .record import CAMPAIGN_SCHEMA, SCHEMA, campaign_record, record
from .record_commands import app as record_commands
from .record_commands import console, load_record, read, write
from .tiers import NIGHTLY, TIERS

COMPLETED, USAGE, FELL = 0, 1, 2  # exit codes

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(record_commands)
_config = Config({})


@app.callback()
def configured(
    context: typer.Context,
    config: Annotated[Optional[Path], typer.Option(help=f"The project's settings. [default: {NAME} where it exists]", show_default=False)] = None,
) -> None:
    """Checks a framework with PyTorch's API against PyTorch: its own op database, and calls generated from its signatures.

    Exit codes: 0 completed, 1 cannot run as asked, 2 a cell fell below the baseline.
    """
    global _config
    if config is None and not Path(NAME).exists():
        return
    _config = read(load_config, config or Path(NAME))
    context.default_map = config_defaults(_config)

Subject = Annotated[str, typer.Option(help="Module under test; `torch` is the control.")]
Dtype = Annotated[str, typer.Option(help="dtype of the samples, by name.")]
Ops = Annotated[str, typer.Option(help="Only these ops, as a,b,c (a name stands for all its variants).")]
Jobs = Annotated[int, typer.Option(help="Pairs of oracle and subject processes; 0: one per core.")]
MaxSamples = Annotated[int, typer.Option(help="Samples per op, evenly spread; 0: all.")]
CasesFolder = Annotated[Path, typer.Option("--folder", help="The failure database, a folder of JSON files.")]
Timeout = Annotated[float, typer.Option(help="Seconds the subject may take per op.")]
Tier = Annotated[str, typer.Option(help="How much: " + "; ".join(f"{name}: {t.promise}" for name, t in TIERS.items()) + f"; {NIGHTLY}: search for --minutes, file the cases.")]


@app.command()
def accept(
    subject: Subject = "weir", dtype: Dtype = "float32", ops: Ops = "", jobs: Jobs = 0,
    max_samples: MaxSamples = 0, timeout: Timeout = 60.0,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
    verbose: Annotated[bool, typer.Option(help="Full reasons in the table.")] = False,
    graph: Annotated[bool, typer.Option(help="Trace every call by nn.Graph; it must equal eager mode bit for bit too.")] = False,
) -> None:
    """Run samples, gradients and error inputs; print what does not pass.

    \b
    Examples:
      weir-autotest accept
      weir-autotest accept --ops add,softmax --verbose
      weir-autotest accept --subject torch --dtype bfloat16 --json run.json
    """
    result = _run(Settings(subject, dtype, _names(ops), _jobs(jobs), max_samples, timeout, graph=graph))
    view.table(result.cells, verbose, console())
    view.summary(result.cells, console())
    write(json_file, record(result))


@app.command()
def compat(
    subject: Subject = "weir",
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as one line of JSON.")] = False,
):
    """Says which public names of PyTorch the subject has, with the same parameters, fewer, or not at all."""
    answers = naming.compare(subject)
    print(json.dumps(answers) if as_json else naming.show(answers))


@app.command(name="run")
def run_generated(
    subject: Subject = "weir", ops: Ops = "", tier: Tier = "pr",
    dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes of the tensors, as a,b,c, in place of the tier's.")] = "",
    cases: Annotated[int, typer.Option(help="Calls per overload and dtype, in place of the tier's.")] = 0,
    first: Annotated[int, typer.Option(help="Index of the first call: other indices are other calls.")] = 0,
    shard: Annotated[str, typer.Option(help="Only this part of the rows, as I/N with I from 0; `slurm` reads the array task.")] = "",
    jobs: Jobs = 0, timeout: Annotated[float, typer.Option(help="Seconds for the calls of one overload.")] = 20.0,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
    scripts: Annotated[bool, typer.Option(help="Shrink failures and keep a script of each in the record.")] = False,
    verbose: Annotated[bool, typer.Option(help="Every failure kept, not one per overload and property.")] = False,
    minutes: Annotated[float, typer.Option(help="How long the nightly tier searches.")] = 60.0,
    cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Generate calls of every public operation from its signature and compare everything that can be observed.

    \b
    Examples:
      weir-autotest run
      weir-autotest run --tier full --json run.json
      weir-autotest run --ops add,softmax --cases 500 --verbose
      weir-autotest run --subject torch --dtypes bfloat16
      sbatch --array=0-15 --wrap 'weir-autotest run --tier full --shard slurm --json part-$SLURM_ARRAY_TASK_ID.json'
    """
    if tier == NIGHTLY:
        return _search(tasks.Settings(subject, _names(dtypes) or TIERS["full"].dtypes, _names(ops), first=first), minutes,
                       cases_folder)
    settings = _settings(tier, subject, ops, dtypes, cases, first=first, jobs=_jobs(jobs), timeout=timeout, shard=_shard(shard))
    made = _recorded(settings, scripts)
    view.failures(made, verbose, console())
    view.campaign_summary(made, console())
    write(json_file, made)


@app.command()
def shrink(
    op: Annotated[str, typer.Argument(help="Operation or overload, such as add or add.Tensor.")],
    subject: Subject = "weir", dtype: Dtype = "float32",
    cases: Annotated[int, typer.Option(help="Calls to look through.")] = 50,
    first: Annotated[int, typer.Option(help="Index of the first call.")] = 0,
    save: Annotated[bool, typer.Option(help="Store the shrunk cases in the failure database.")] = False,
    cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Find failing calls of an operation and print each kind, made small, as a script of its own.

    \b
    Example:
      weir-autotest shrink clamp --dtype float32
    """
    settings = tasks.Settings(subject, (dtype,), (op,), cases=cases, first=first)
    finished = _campaign(settings)
    for shrunk in shrinking.shrink_all(settings, finished.scores):
        _show(shrunk, cases_folder if save else None)


@app.command()
def search(
    minutes: Annotated[float, typer.Option(help="How long to look for cases.")] = 5.0,
    subject: Subject = "weir", ops: Ops = "",
    dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes of the tensors, as a,b,c.")] = "float32,int64",
    first: Annotated[int, typer.Option(help="Another number searches elsewhere.")] = 0,
    blind: Annotated[bool, typer.Option(help="Draw every case afresh, to see what the search gains.")] = False,
    save: Annotated[bool, typer.Option(help="Store the shrunk cases in the failure database.")] = False,
    cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Look for failing cases for some minutes, led by what is new in the oracle's answers; print each made small.

    \b
    Example:
      weir-autotest search --minutes 20 --ops module --save
    """
    settings = tasks.Settings(subject, _names(dtypes), _names(ops), first=first)
    _search(settings, minutes, cases_folder if save else None, guided=not blind)


@app.command()
def calibrate(
    ops: Ops = "", dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes, as a,b,c.")] = "float32",
    cases: Annotated[int, typer.Option(help="Calls per overload and dtype.")] = 50,
    capability: Annotated[str, typer.Option(help="PyTorch's instruction set in the subject: default, avx2.")] = "default",
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
) -> None:
    """Compare PyTorch's scalar kernels with its vector kernels: every failure is a false alarm.

    \b
    Example:
      weir-autotest calibrate --dtypes float32,bfloat16
    """
    finished = _campaign(tasks.Settings("torch", _names(dtypes), _names(ops), cases=cases,
                                           environment={"ATEN_CPU_CAPABILITY": capability}))
    made = campaign_record(finished)
    view.failures(made, False, console())
    view.false_alarms(finished, console())
    write(json_file, made)


@app.command()
def mutate(
    subject: Annotated[str, typer.Option(help="A right subject to plant faults in.")] = "torch", ops: Ops = "",
    dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes of the tensors, as a,b,c.")] = "float32",
    cases: Annotated[int, typer.Option(help="Calls per overload.")] = 20,
    every: Annotated[int, typer.Option(help="Take every n-th overload only.")] = 10,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the counts here.")] = None,
) -> None:
    """Plant faults in a right subject and print how many of them are noticed.

    \b
    Example:
      weir-autotest mutate --every 5
    """
    with view.progress() as (on_start, on_overload):
        kills = mutating.mutate(tasks.Settings(subject, _names(dtypes), _names(ops), cases=cases), every=every,
                                on_start=on_start, on_overload=on_overload)
    view.kills(kills, console())
    write(json_file, {"schema": "weir.mutation/v1", "planted": kills.planted, "noticed": kills.noticed,
                       "cases": kills.cases, "noticed_cases": kills.noticed_cases, "survivors": kills.survivors, "rate": kills.rate})


@app.command()
def replay(
    cases_folder: CasesFolder = Path("tests/golden/cases"), subject: Subject = "weir",
    only: Annotated[str, typer.Option(help="Only entries whose name contains this.")] = "",
) -> None:
    """Run the cases that once failed; exit with 2 if one fails again.

    \b
    Example:
      weir-autotest replay --only clamp
    """
    done = _replay(subject, [entry for entry in database.entries(cases_folder) if only in entry.name])
    if not all(replayed.passed for replayed in done):
        raise typer.Exit(FELL)


@app.command()
def explain(op: Annotated[str, typer.Argument(help="Name of the op, with or without variant.")],
            subject: Subject = "weir", dtype: Dtype = "float32", timeout: Timeout = 60.0) -> None:
    """Print what fails of one op, from both sources, as PyTorch code with the difference.

    \b
    Examples:
      weir-autotest explain nn.functional.softmax
      weir-autotest explain nn.Conv2d --dtype float64
    """
    unknown = []
    for source in (_explain_samples, _explain_calls):
        try:
            source(op, subject, dtype, timeout)
        except UsageError as error:
            unknown.append(error)
    if len(unknown) == 2:
        raise UsageError("; ".join(map(str, unknown)))


def _explain_samples(op: str, subject: str, dtype: str, timeout: float) -> None:
    for cell in _run(Settings(subject, dtype, (op,), timeout=timeout)).cells:
        view.explain(cell, console())


def _explain_calls(op: str, subject: str, dtype: str, timeout: float) -> None:
    settings = tasks.Settings(subject, (dtype,), (op,), timeout=timeout)
    for score in _campaign(settings).scores:
        view.states(score, console())
        for shrunk in shrinking.shrink_all(settings, [score]):
            _show(shrunk, None)


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
    cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Compare a run with the baseline: a cell may only rise.

    \b
    Examples:
      weir-autotest gate --junit build/conformance.xml
      weir-autotest gate --tier pr
      weir-autotest gate --from run.json --update
    """
    begins = update and not baseline.exists()
    before, excused = {} if begins else read(ratchet.load, baseline), read(waivers.load, waivers_file)
    replayed = []
    if from_file:
        made = load_record(from_file, SCHEMA, CAMPAIGN_SCHEMA)
    elif tier:
        wanted = _names(ops)
        replayed = _replay(subject, [entry for entry in database.entries(cases_folder)
                                     if not wanted or {entry.op, entry.op.split(".")[0]} & set(wanted)])
        made = _recorded(_settings(tier, subject, ops, jobs=_jobs(jobs)))
    else:
        made = record(_run(Settings(subject, dtype, _names(ops), _jobs(jobs), timeout=timeout)))
    after = ratchet.table(made)
    found = ratchet.compare(after, before, partial=bool(ops))
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


def _search(settings: tasks.Settings, minutes: float, cases_folder: Path | None, guided: bool = True) -> None:
    with view.progress() as (_, on_visit), Lane(settings) as lane:
        found = searching.Search(lane, settings, guided).run(60 * minutes, on_visit=on_visit)
    view.found(found, console())
    for shrunk in shrinking.shrink_all(settings, found.failing, 60 * minutes):
        _show(shrunk, cases_folder)


def _show(shrunk: shrinking.Shrunk, cases_folder: Path | None) -> None:
    typer.echo(shrunk.script + "\n")
    if cases_folder:
        typer.echo(f"# {database.save(cases_folder, shrunk.item, shrunk.failure)}\n")


@app.command(name="new-subject")
def new_subject(
    library: Annotated[str, typer.Argument(help="The package to test, as it is imported.")],
    folder: Annotated[Path, typer.Option(help="Where the adapter is written.")] = Path("."),
) -> None:
    """Write an adapter that puts a package under PyTorch's names, to be filled in.

    A package that has PyTorch's names itself needs none: `weir-autotest run --subject PACKAGE`.

    \b
    Example:
      weir-autotest new-subject mylib
    """
    if not all(part.isidentifier() for part in library.split(".")):
        raise UsageError(f"{library!r} is not the name of a package")
    module = library.replace(".", "_") + "_subject"
    path = folder / f"{module}.py"
    if path.exists():
        raise UsageError(f"{path} exists already")
    text = (Path(__file__).parent / "subjects" / "template.py.txt").read_text()
    path.write_text(text.replace("{library}", library).replace("{module}", module))
    typer.echo(f"{path}\nnext: fill in Tensor and from_numpy, then\n"
               f"  PYTHONPATH={folder} weir-autotest run --subject {module} --ops add,sum --verbose")


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


def _settings(tier: str, subject: str, ops: str, dtypes: str = "", cases: int = 0, **more) -> tasks.Settings:
    if tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; there are {', '.join(TIERS)}")
    return tasks.Settings(subject, _names(dtypes) or TIERS[tier].dtypes, _names(ops), _config.leave_out, cases or TIERS[tier].cases,
                          properties=_config.properties, errors=_config.errors, tolerances=_config.tolerances, **more)


def _shard(text: str) -> tuple:
    """`I/N` or `slurm` as numbers. An array task that died is told by its missing part, at the merge."""
    try:
        if text == "slurm":
            task, least, count = (int(os.environ[f"SLURM_ARRAY_TASK_{name}"]) for name in ("ID", "MIN", "COUNT"))
            text = f"{task - least}/{count}"
        part, parts = map(int, (text or "0/1").split("/"))
    except KeyError as error:
        raise UsageError(f"--shard slurm runs inside an array job: {error.args[0]} is not set") from None
    except ValueError:
        raise UsageError(f"--shard: expected I/N or slurm, got {text!r}") from None
    if not 0 <= part < parts:
        raise UsageError(f"--shard: I must be from 0 to N - 1, got {text}")
    return part, parts


def _recorded(settings: tasks.Settings, with_scripts: bool = False) -> dict:
    finished = _campaign(settings)
    scripts = {}
    if with_scripts:
        for shrunk in shrinking.shrink_all(settings, [score for score in finished.scores if score.failed]):
            failure = shrunk.failure
            scripts[failure.overload, failure.dtype, failure.property] = shrunk.script
    return campaign_record(finished, scripts)


def _replay(subject: str, stored: list) -> list:
    with view.progress() as (on_start, on_entry):
        on_start(len(stored))
        done = replaying.replay(tasks.Settings(subject), stored, on_entry)
    for replayed in done:
        for failure in replayed.failures:
            typer.echo(f"FAIL {replayed.entry.name} {failure.property}: {failure.reason}\n    {failure.call}")
    typer.echo(f"{sum(replayed.passed for replayed in done)} of {len(done)} stored cases pass")
    return done


def _run(settings: Settings) -> Result:
    with view.progress() as (on_start, on_cell):
        return run(settings, on_start, lambda cell: on_cell(cell.name))


def _campaign(settings: tasks.Settings) -> campaign.Campaign:
    with view.progress() as (on_start, on_score):
        return campaign.run(settings, on_start, lambda score: on_score(score.overload))


def _names(text: str) -> tuple:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _jobs(jobs: int) -> int:
    return jobs if jobs > 0 else os.cpu_count() or 1


def main() -> None:
    """The entry point. Usage errors exit with 1, since 2 means that a cell fell."""
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        typer.echo(f"weir-autotest: {error}", err=True)
        code = USAGE
    except typer.BadParameter.__base__.__base__ as error:  # ClickException, which typer does not export
        error.show()
        code = USAGE
    sys.exit(code or COMPLETED)


if __name__ == "__main__":
    main()
