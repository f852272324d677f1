"""What a person sees: a progress bar, the table of ops that do not pass, the totals."""

from collections import Counter
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .campaign.mutate import Kills
from .campaign.run import Campaign
from .campaign.score import STATES as CAMPAIGN_STATES
from .campaign.score import Score
from .campaign.search import Found
from .opdb.cell import PHASES, Cell, totals

_COLOUR = {"PASS": "green", "N/A": "dim", "FAIL": "red", "MISSING": "yellow", "UNMAPPABLE": "magenta", "EXCUSED": "blue",
           "ORACLE-ERROR": "cyan"}


@contextmanager
def progress():
    """Yields two callbacks that drive a progress bar on stderr: for the number of items, and for each one's name."""
    bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                   console=Console(stderr=True), transient=True)
    task = bar.add_task("starting", total=None)
    with bar:
        yield (lambda count: bar.update(task, total=count, description="running")), (
            lambda name: bar.update(task, advance=1, description=escape(name[:32])))


def table(cells: list[Cell], verbose: bool, console: Console) -> None:
    """Prints the ops that do not pass everything; with `verbose` their full reasons."""
    wanting = [cell for cell in cells if not cell.all_pass]
    if not wanting:
        return
    grid = Table("op", *PHASES, "reason", box=None, header_style="bold", pad_edge=False)
    for cell in wanting:
        grid.add_row(escape(cell.name), *(_state(cell.states[phase]) for phase in PHASES), escape(_reason(cell, verbose)))
    console.print(grid)


def summary(cells: list[Cell], console: Console) -> None:
    """Prints the counts per phase and the line `N of M ops pass ...`."""
    count = totals(cells)
    for phase in PHASES:
        parts = [f"{number} {state}" for state, number in count[phase].items() if number]
        console.print(f"{phase}  {', '.join(parts)}", highlight=False)
    console.print(f"{count['all_pass']} of {count['ops']} ops pass forward, backward and error inputs", highlight=False)


def failures(record: dict, verbose: bool, console: Console) -> None:
    """Prints failing calls: the first of each overload, dtype and property, or with `verbose` all that were kept."""
    for score in record["scores"]:
        shown = set()
        for failure in sorted(score["failures"], key=lambda failure: failure["lenient"]):
            name = failure["property"]
            if verbose or name not in shown:
                shown.add(name)
                mark = "LENIENT" if failure["lenient"] else "FAIL"
                line = f"{mark} {score['overload']} {score['dtype']} {name} #{failure['index']}: {failure['reason']}"
                console.print(line, markup=False, highlight=False, soft_wrap=True)
                console.print(f"    {failure['call']}", markup=False, highlight=False, soft_wrap=True, style="dim")


#: What the summary says of calls that ran otherwise than in eager mode.
_WAYS = {"graph": "equal eager mode as graphs", "vmap": "give in a batch what their examples give", "forward": "have tangents that fit their gradients"}


def campaign_summary(record: dict, console: Console) -> None:
    """Prints the states per property, how well the generator did, and how fast."""
    count, seconds = record["totals"], record["seconds"]
    grid = Table("property", *CAMPAIGN_STATES[::-1], box=None, header_style="bold", pad_edge=False)
    for name, states in count["properties"].items():
        grid.add_row(name, *(str(states[state] or "-") for state in CAMPAIGN_STATES[::-1]))
    console.print(grid)
    console.print(f"{count['reached']} of {count['overloads']} overloads reached by a valid call; "
                  f"{count['valid']} of {count['made']} calls valid ({count['valid'] / max(count['made'], 1):.0%}); "
                  f"{count['cases']} cases in {seconds:.0f} s ({count['cases'] / seconds:.0f} cases/s)", highlight=False)
    excused = count.get("excused", {})
    console.print(f"{sum(excused.values())} values excused ({sum(excused.values()) / max(count['cases'], 1):.2%} of cases)"
                  + "".join(f", {number} {kind}" for kind, number in sorted(excused.items(), key=lambda e: -e[1])), highlight=False)
    for way, words in _WAYS.items():
        of = count.get(way, {})
        answerable = of.get("asked", 0) - of.get("dynamic", 0)
        if answerable > of.get("refused", 0):  # a subject without graphs refuses all
            equal = answerable - of["refused"] - of["wrong"]
            more = f"; {of['dynamic']} more depend on values" if way != "forward" else ""
            console.print(f"{equal} of {answerable} calls {words} ({equal / answerable:.2%}); {of['refused']} are refused by name, {of['wrong']} wrong{more}", highlight=False)
    console.print(f"{count['failing']} overloads fail somewhere, {count['lenient']} accept what the oracle "
                  f"refuses, {count['missing']} are missing, {count['unsupported'] - count['missing']} support a part of what was asked", highlight=False)


def states(score: Score, console: Console) -> None:
    """Prints the state of every property that generated calls of one row were asked for."""
    def coverage(name: str) -> str:
        return f" of {score.asked[name]}, {score.absent[name]} unsupported" if score.absent[name] else ""

    asked = ", ".join(f"{name} {state}{coverage(name)}" for name, state in score.states().items() if state != "UNTESTED")
    why = score.unsupported or score.oracle_limit
    console.print(f"{score.overload} {score.dtype}, {score.cases} generated calls: {asked}{f' ({why})' if why else ''}",
                  markup=False, highlight=False, style="bold", soft_wrap=True)


def found(search: Found, console: Console) -> None:
    """Prints what a search met."""
    failures = sum((score.failed for score in search.failing), Counter())
    console.print(f"{search.cases} cases in {search.seconds:.0f} s", highlight=False)
    console.print(f"{len({score.overload for score in search.failing})} overloads fail: "
                  + (", ".join(f"{name} {count}" for name, count in failures.most_common()) or "none"), highlight=False)


def false_alarms(campaign: Campaign, console: Console) -> None:
    """Prints the share of cases that fail, by dtype and property, where none should."""
    for dtype in campaign.settings.dtypes:
        scores = [score for score in campaign.scores if score.dtype == dtype]
        cases, alarms = sum(score.cases for score in scores), sum((score.failed for score in scores), Counter())
        parts = ", ".join(f"{name} {count}" for name, count in alarms.most_common())
        console.print(f"{dtype}: {alarms.total()} false alarms in {cases} cases ({alarms.total() / max(cases, 1):.3%})"
                      + (f": {parts}" if parts else ""), highlight=False)


def kills(found: Kills, console: Console) -> None:
    """Prints how many planted faults of each kind were noticed, and who let them pass."""
    grid = Table("fault", "planted", "noticed", "rate", "of cases", "survives in", box=None, header_style="bold", pad_edge=False)
    for kind, planted in found.planted.items():
        survivors = found.survivors.get(kind, [])
        more = f" and {len(survivors) - 4} more" if len(survivors) > 4 else ""
        grid.add_row(kind, str(planted), str(found.noticed[kind]), f"{found.noticed[kind] / planted:.1%}",
                     f"{found.noticed_cases[kind] / found.cases[kind]:.1%} of {found.cases[kind]}",
                     escape(", ".join(survivors[:4]) + more))
    console.print(grid)
    console.print(f"{found.rate:.1%} of {sum(found.planted.values())} planted faults noticed", highlight=False)


def explain(cell: Cell, console: Console) -> None:
    """Prints the states of one op and its failing samples as code."""
    states = ", ".join(f"{phase} {cell.states[phase]}" for phase in PHASES)
    console.print(f"{cell.name}: {states}", markup=False, highlight=False, style="bold")
    for finding in cell.findings:
        where = f" sample {finding.index}" if finding.index is not None else ""
        console.print(f"\n{finding.phase} {finding.state}{where}", markup=False, highlight=False, style="bold")
        for line in finding.code.splitlines():
            console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
        console.print(f"  -> {finding.reason}", markup=False, highlight=False, soft_wrap=True)
    for phase in PHASES:
        hidden = cell.failures[phase] - Cell.KEEP
        if hidden > 0:
            console.print(f"\n{phase}: {hidden} more samples like these", markup=False, highlight=False)
    for note in sorted(set(cell.notes)):
        console.print(f"note: {note}", markup=False, highlight=False)


def _state(state: str) -> str:
    return f"[{_COLOUR[state]}]{'-' if state == 'N/A' else state}[/]"


def _reason(cell: Cell, verbose: bool) -> str:
    if verbose:
        return cell.reason
    first = cell.reason.split("\n")[0]
    return first if len(first) <= 140 else first[:137] + "..."

