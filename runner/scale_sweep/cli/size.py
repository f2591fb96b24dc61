"""`scale size`: the level that a rate needs, and the cheapest machine of a price list."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scale_sweep.base.errors import EXIT_NOT_SHOWN, UsageError
from scale_sweep.base.texts import not_one_of
from scale_sweep.base.units import counted, parse_headroom
from scale_sweep.cli import completion
from scale_sweep.cli.arguments import JSON, RESULTS, from_flags, read_flag

if TYPE_CHECKING:
    from scale_sweep.model.fitted import StoredRun
    from scale_sweep.model.sizing import LevelNeed, PriceList, Sizing

_EXAMPLE = "Example: scale size --run last --need 2M --headroom 30% --prices prices-example"
RUNS_MAX = 8
SHOWN = 6  # names of variants
PAGES = (".html", ".htm")


def register(app: typer.Typer) -> None:
    app.command("size", epilog=_EXAMPLE)(from_flags(size))


@dataclass(frozen=True, kw_only=True)
class SizeRequest:
    run: Annotated[
        list[str],
        typer.Option(
            metavar="RUN",
            help="A run's name, a part of it, its path, or `last`. Give it twice for runs of two axes, such as cores "
            "and disks.",
            autocompletion=completion.runs,
        ),
    ]
    need: Annotated[str, typer.Option(metavar="RATE", help="The rate to hold, in the unit of the run: 2000000 or 2M.")]
    headroom: Annotated[str, typer.Option(metavar="PERCENT", help="How much more than the need must be held.")] = "0%"
    prices: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A price list of machines (TOML), or the name of a bundled one, such as prices-example.",
            autocompletion=completion.prices,
        ),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write the answer with its pictures as a page.")
    ] = None
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="The variant to size, if the run has several: postgres, b.")
    ] = None
    results: RESULTS = Path("results")
    as_json: JSON = False


def size(request: SizeRequest) -> None:
    """Find the smallest level that holds a rate, and the cheapest machine of a price list that has it.

    A level holds the rate if the chance that its long-run rate is lower is at most 5 %. After a sweep with
    `--slo`, the rate of a level is the highest that holds the limits of response times. The exit code is 13 if no level
    or no machine is shown to hold it; the answer then names the sweep that would settle it.
    """
    from scale_sweep.analysis.sizing.levels import level_need
    from scale_sweep.analysis.sizing.machines import sized
    from scale_sweep.cli import console
    from scale_sweep.report.sizing_page import sizing_html
    from scale_sweep.results.store.outside import write_outside
    from scale_sweep.sweep.prices import read_prices

    need, headroom = _rate(request.need), read_flag("--headroom", parse_headroom, request.headroom)
    if request.out is not None and request.out.suffix not in PAGES:
        raise UsageError(f"--out {request.out}: is a page, and its name must end in {PAGES[0]}")
    prices = read_prices(request.prices) if request.prices is not None else None
    runs = [_of_variant(run, request.variant) for run in _read(request.results, request.run)]
    _comparable(runs, prices)
    machines = prices.machines if prices is not None else ()
    needs = [
        level_need(run, need * (1 + headroom), [machine.amounts[run.plan.sweep.axis] for machine in machines])
        for run in runs
    ]
    _refuse_unfitted(needs)
    sizing = sized(need, headroom, needs, prices)
    if request.out is not None:
        write_outside(request.out, sizing_html(sizing, runs).encode())
    if request.as_json:
        console.show_json(_document(sizing, runs))
    else:
        _show(sizing, runs)
        if request.out is not None:
            console.show_line(f"page: {request.out}")
    if not sizing.is_answered:
        raise typer.Exit(EXIT_NOT_SHOWN)


def _rate(text: str) -> float:
    from scale_sweep.experiment.setting.readers import rates

    wanted = read_flag("--need", rates, text)
    if len(wanted) != 1:
        raise UsageError(f"--need: {text!r} names {len(wanted)} rates; give one")
    return wanted[0]


def _read(results: Path, names: list[str]) -> list[StoredRun]:
    from scale_sweep.results.store.reader import find_run, read_run

    if len(names) > RUNS_MAX:
        raise UsageError(f"--run: {len(names)} runs; {RUNS_MAX} at most")
    runs = [find_run(results, name) for name in names]
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise UsageError("--run: a run is named twice")
    return [read_run(run) for run in runs]


def _of_variant(run: StoredRun, name: str | None) -> StoredRun:
    from scale_sweep.report.documents import only
    from scale_sweep.report.several_curves import labels_of

    labels = labels_of(run)
    if len(labels) < 2:
        return run
    if name is None:
        several = f"{counted(len(labels), 'variant')} ({', '.join(labels[:SHOWN])})"
        raise UsageError(f"--run {run.path}: has {several}; a size needs one", remedy="name it with --variant")
    if name not in labels:
        raise UsageError(f"--variant: {not_one_of(name, labels)}")
    return only(run, name)


def _comparable(runs: list[StoredRun], prices: PriceList | None) -> None:
    from scale_sweep.model.sizing import PRICED, is_priced

    for run in runs:
        axis = run.plan.sweep.axis
        if prices is not None and not is_priced(axis):
            raise UsageError(
                f"--prices: {run.path} is a sweep of {axis}, which no machine of a price list has",
                remedy=f"leave out --prices, or give a run of {' or '.join(PRICED)}",
            )
    units = {run.plan.rate_words for run in runs}  # of disks it counts to the end of the flush
    if len(units) > 1:
        raise UsageError(f"--run: the runs count {' and '.join(sorted(units))}, and --need is one of them")


def _refuse_unfitted(needs: list[LevelNeed]) -> None:
    for one in needs:
        if not one.chances:
            raise UsageError(
                f"--run: {one.run} has no rate that counts: {one.reason}",
                remedy=f"scale show {shlex.quote(one.run)} explains its verdicts; size a run with VALID trials",
            )


def _document(sizing: Sizing, runs: list[StoredRun]) -> dict[str, Any]:
    from dataclasses import asdict

    from scale_sweep.report.figures import fit_of
    from scale_sweep.report.sizing import answer_words, settled_words

    document = asdict(sizing)
    for one, need, run in zip(document["needs"], sizing.needs, runs, strict=True):
        one["settled_by_words"], one["cautions"] = list(settled_words(run, need)), list(fit_of(run).cautions)
    return {
        **document,
        "wanted": sizing.wanted,
        "is_answered": sizing.is_answered,
        "sentences": list(answer_words(sizing)),
    }


def _show(sizing: Sizing, runs: list[StoredRun]) -> None:
    from scale_sweep.cli import console
    from scale_sweep.report.figures import fit_of
    from scale_sweep.report.sizing import answer_words, levels_table, machines_table, settled_words

    for sentence in answer_words(sizing):
        console.show_line(sentence, "bold")
    for one, run in zip(sizing.needs, runs, strict=True):
        for words in settled_words(run, one):
            console.show_line(f"  {words}")
        for caution in (*one.notes, *fit_of(run).cautions):
            console.show_line(f"  but: {caution}", "yellow")
    for table in (*map(levels_table, sizing.needs), machines_table(sizing)):
        if table.rows:
            console.show_line("")
            console.show_report_table(table, "  ")
