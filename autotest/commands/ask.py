"""Commands that ask: the databases' samples, generated calls, names, one operation."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Optional

import typer
from weir_reports.limits import TimeLimit, TimeLimitOption

from .. import compat as naming
from .. import sources, view
from ..campaign import shrink as shrinking
from ..campaign import tasks
from ..campaign.tasks import UsageError
from ..cases import database
from ..opdb.run import Settings
from ..record import record
from ..suites import compare as comparing
from ..suites import examples as documented
from ..suites.pages import of_folder
from ..tiers import NIGHTLY, TIERS
from .common import (FELL, CasesFolder, Dtype, Jobs, MaxSamples, Ops, Shard, Subject, Tier, Timeout, campaign_of, config, ended, jobs_of, names,
                     recorded, replayed_by, run_of, settings_of, shard_of, show)
from .look import search_for
from .records import console, write


app = typer.Typer()


@app.command()
def accept(
    subject: Subject = "weir", dtype: Dtype = "float32", ops: Ops = "", jobs: Jobs = 0,
    max_samples: MaxSamples = 0, timeout: Timeout = 60.0,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
    verbose: Annotated[bool, typer.Option(help="Full reasons in the table.")] = False,
    graph: Annotated[bool, typer.Option(help="Trace every call by nn.Graph; it must equal eager mode bit for bit too.")] = False,
    time_limit: TimeLimitOption = None,
) -> None:
    """Ask PyTorch's databases of operations, modules and optimizers: samples, gradients, error inputs. Print what does not pass.

    \b
    Examples:
      weir-autotest accept
      weir-autotest accept --ops add,softmax --verbose
      weir-autotest accept --ops module,optimizer --dtype float64
      weir-autotest accept --subject torch --dtype bfloat16 --json run.json
    """
    limit = TimeLimit(time_limit)
    result = run_of(Settings(subject, dtype, names(ops), jobs_of(jobs), max_samples, timeout, graph=graph, errors=config().errors,
                             tolerances=config().tolerances), limit)
    view.table(result.cells, verbose, console())
    view.summary(result.cells, console())
    made = record(result)
    write(json_file, made)
    ended(made, limit)


@app.command()
def compat(
    subject: Subject = "weir",
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers as one line of JSON.")] = False,
):
    """Says which public names of PyTorch the subject has, with the same parameters, fewer, or not at all."""
    answers = naming.compare(subject)
    print(json.dumps(answers) if as_json else naming.show(answers))


@app.command(name="names")
def names_of_sources(
    paths: Annotated[list[str], typer.Argument(help="Python files, folders, or installed packages by name.")],
    subject: Subject = "weir",
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the answers here.")] = None,
):
    """Says which names of torch a program's sources use and the subject lacks. Nothing of the program runs.

    Before a program is switched over: "import" marks what its imports look up, "use" what stands in functions or in a `try`.
    Exit code 2: a name is absent or takes other keywords.

    \b
    Examples:
      weir-autotest names train.py src
      weir-autotest names transformers --json names.json
    """
    files = sources.files_of(paths)
    with view.progress() as (on_start, on_file):
        on_start(len(files))
        uses = sources.uses_of(files, on_file)
    lacks = sources.lacking(uses, subject)
    print(sources.show(uses, lacks))
    if json_file:
        json_file.write_text(json.dumps(sources.report(uses, lacks), indent=1))
    raise typer.Exit(FELL if any(not lack.why.startswith("named") for lack in lacks) else 0)


@app.command()
def suite(
    folder: Annotated[Path, typer.Argument(help="`test` of PyTorch's source tree, of about the installed version.")],
    files: Annotated[list[str], typer.Argument(help="Test files in it.")],
    subject: Subject = "weir",
    timeout: Annotated[float, typer.Option(help="Seconds for one file under one framework.")] = 1800.0,
    per_test: Annotated[float, typer.Option(help="Seconds for one test.")] = 60.0,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the failed tests here.")] = None,
):
    """Runs test files that PyTorch's developers wrote on the subject beside PyTorch, and says where it does worse.

    The subject answers for `torch`, by its function `as_torch`. Of errors the class is compared, not the words. Exit code 2: worse somewhere.

    \b
    Examples:
      weir-autotest suite pytorch/test test_indexing.py nn/test_pooling.py
      weir-autotest suite pytorch/test test_torch.py --json torch.json
    """
    for file in files:
        if not (folder / file).is_file():
            raise UsageError(f"suite: no file {file} in {folder}")
    found = []
    for file in files:
        found.append(comparing.compare(subject, folder.resolve(), file, timeout, per_test))
        print(comparing.show(found[-1]), flush=True)
    if json_file:
        json_file.write_text(json.dumps([dataclasses.asdict(f) for f in found], indent=1))
    raise typer.Exit(FELL if any(f.worse or f.trouble for f in found) else 0)


@app.command()
def examples(
    only: Annotated[str, typer.Argument(help="Names that contain this, e.g. torch.linalg.")] = "",
    pages: Annotated[Optional[Path], typer.Option(help="A folder of documentation, or a page (.rst, .md, .ipynb, .py), in place of the docstrings.")] = None,
    subject: Subject = "weir",
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the differences here.")] = None,
):
    """Runs the examples of PyTorch's documentation on the subject beside PyTorch, and prints the statements that differ.

    They are those of the installed PyTorch's docstrings, or the code of pages, each run from its first block to its last. The subject answers
    for `torch`, by its function `as_torch`. Exit code 2: something differs.

    \b
    Examples:
      weir-autotest examples
      weir-autotest examples torch.nn. --json examples.json
      weir-autotest examples --pages pytorch/docs/source notes/
    """
    if pages and not pages.exists():
        raise UsageError(f"examples: no such page or folder: {pages}")
    asked = {name: parts for name, parts in of_folder(pages).items() if only in name} if pages else documented.collect(only)
    if not asked:
        raise UsageError(f"examples: no {'page' if pages else 'name'} with examples contains {only!r}")
    with view.progress() as (on_start, on_answer):
        compared, found = documented.compare(subject, asked, on_start, on_answer)
    print(documented.show(asked, compared, found))
    if json_file:
        json_file.write_text(json.dumps([dataclasses.asdict(f) for f in found], indent=1))
    raise typer.Exit(FELL if found else 0)


@app.command(name="run")
def run_generated(
    subject: Subject = "weir", ops: Ops = "", tier: Tier = "pr",
    dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes of the tensors, as a,b,c, in place of the tier's.")] = "",
    cases: Annotated[int, typer.Option(help="Calls per overload and dtype, in place of the tier's.")] = 0,
    first: Annotated[int, typer.Option(help="Index of the first call: other indices are other calls.")] = 0,
    shard: Shard = "",
    jobs: Jobs = 0, timeout: Annotated[float, typer.Option(help="Seconds for the calls of one overload.")] = 20.0,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
    scripts: Annotated[bool, typer.Option(help="Shrink failures and keep a script of each in the record.")] = False,
    verbose: Annotated[bool, typer.Option(help="Every failure kept, not one per overload and property.")] = False,
    minutes: Annotated[float, typer.Option(help="How long the nightly tier searches.")] = 60.0,
    cases_folder: CasesFolder = Path("tests/golden/cases"), time_limit: TimeLimitOption = None,
) -> None:
    """Generate calls of every public operation from its signature and compare everything that can be observed.

    \b
    Examples:
      weir-autotest run
      weir-autotest run --tier full --json run.json
      weir-autotest run --ops add,softmax --cases 500 --verbose
      weir-autotest run --subject torch --dtypes bfloat16
      weir-autotest run --cases 5 --time-limit 120
      sbatch --array=0-15 --wrap 'weir-autotest run --tier full --shard slurm --json part-$SLURM_ARRAY_TASK_ID.json'
    """
    if tier == NIGHTLY:
        return search_for(tasks.Settings(subject, names(dtypes) or TIERS["full"].dtypes, names(ops), first=first), minutes,
                       cases_folder)
    limit = TimeLimit(time_limit)
    settings = settings_of(tier, subject, ops, dtypes, cases, first=first, jobs=jobs_of(jobs), timeout=timeout, shard=shard_of(shard))
    made = recorded(settings, scripts, limit)
    view.failures(made, verbose, console())
    view.campaign_summary(made, console())
    write(json_file, made)
    ended(made, limit)


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
    done = replayed_by(subject, [entry for entry in database.entries(cases_folder) if only in entry.name])
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
    for cell in run_of(Settings(subject, dtype, (op,), timeout=timeout)).cells:
        view.explain(cell, console())


def _explain_calls(op: str, subject: str, dtype: str, timeout: float) -> None:
    settings = tasks.Settings(subject, (dtype,), (op,), timeout=timeout)
    for score in campaign_of(settings).scores:
        view.states(score, console())
        for shrunk in shrinking.shrink_all(settings, [score]):
            show(shrunk, None)
