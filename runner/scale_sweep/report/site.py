"""A static site of stored runs: an index with the chosen curves in one picture, and each run's report."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from scale_sweep.base.texts import visible
from scale_sweep.base.units import counted, format_levels, format_number, format_rate
from scale_sweep.model.fitted import FitReport, StoredRun
from scale_sweep.report import run_facts
from scale_sweep.report.documents import HTML, documents, only
from scale_sweep.report.figures import axis_facts, fit_of, shown_rates
from scale_sweep.report.forms import shell
from scale_sweep.report.markup import escape
from scale_sweep.report.several_curves import SubjectCurve, SubjectPoint, curves, labels_of
from scale_sweep.report.style import part
from scale_sweep.report.svg import Frame, drawing, line
from scale_sweep.report.table import ABSENT

INDEX = "index.html"
_PLAIN = re.compile(r"[A-Za-z0-9][\w.+-]*")


@dataclass(frozen=True, kw_only=True)
class SiteCurve:
    page: str
    title: str
    planned: str  # the levels of the sweep, in words
    database: str
    version: str
    machine: str
    axis: str
    kind: str  # curves of one kind can be drawn together: the axis and the unit of the rate
    unit: str
    created: str
    answer: str
    fitted: str
    # the fitted ones, ascending, each with its mean rate and the 95 % interval of it (None where there is none)
    levels: tuple[float, ...]
    rates: tuple[float, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]


def folder_of(run: StoredRun) -> str:
    """Its name, if that is plain. Raises ValueError for any other."""
    name = run.path.rstrip("/").rpartition("/")[2]
    if not _PLAIN.fullmatch(name):
        raise ValueError(f"{name!r} is not a plain name")
    return f"runs/{name}"


def curves_of(run: StoredRun) -> tuple[SiteCurve, ...]:
    named = dict(zip(labels_of(run), curves(run), strict=False))
    several = len(named) > 1
    return tuple(_curve(only(run, label) if several else run, curve, several) for label, curve in named.items())


def _curve(run: StoredRun, curve: SubjectCurve, several: bool) -> SiteCurve:
    sweep, axis = run.plan.sweep, axis_facts(run)
    points = [p for p in curve.points if p.is_counted and p.rates[0]]
    facts = dict(run_facts.machine_facts(run))
    fitted = sum(1 for result in run.results if result.verdict.kind.is_fitted)
    database, _, version = run_facts.server_name(run).partition(" ")
    unit = shown_rates(run)[0].words
    return SiteCurve(
        page=f"{folder_of(run)}/report.html",
        title=sweep.name,
        planned=f"{format_levels(sweep.levels)} {axis.name}",
        database=visible(database),
        version=visible(version),
        machine=visible(facts.get("CPU", "")) or "not known",
        axis=axis.name,
        kind=f"{axis.label}, {unit}",
        unit=unit,
        created=run_facts.created(run),
        answer=_answer(points, None if several else fit_of(run), axis.name),
        fitted=f"{fitted} of {len(run.results)}",
        levels=tuple(p.level for p in points),
        rates=tuple(p.rates[0] or 0.0 for p in points),
        lows=tuple(p.low for p in points),
        highs=tuple(p.high for p in points),
    )


def _answer(points: Sequence[SubjectPoint], fit: FitReport | None, units: str) -> str:
    """ "1 → 2 cores: 1.84 (1.51 to 2.27) ×"; without a speedup, the reason."""
    if len(points) < 2:
        return "one fitted level" if points else "no fitted trial"
    span = f"{format_number(points[0].level)} → {format_number(points[-1].level)} {units}"
    last = next((p for p in fit.points if p.level == points[-1].level), None) if fit else None
    if last is not None and last.speedup and last.speedup_low and last.speedup_high:
        return f"{span}: {last.speedup:.2f} ({last.speedup_low:.2f} to {last.speedup_high:.2f}) ×"
    return f"{span}: {points[-1].speedup:.2f} ×" if points[-1].speedup else span


def index_html(listed: Sequence[SiteCurve], title: str) -> str:
    """Filters, the picture, and a row for each curve, the newest first."""
    ordered = sorted(listed, key=lambda curve: (curve.created, curve.title), reverse=True)
    rows = "".join(_row(number, curve) for number, curve in enumerate(ordered))
    heads = ("draw", "run", "database", "machine", "speedup", "best rate", "fitted trials", "curve")
    head = "".join(f'<th scope="col" class="w">{name}</th>' for name in heads)
    data = json.dumps([asdict(curve) for curve in ordered], ensure_ascii=True).replace("<", "\\u003c")
    style, script = part("site.css"), part("site.js")
    body = (
        f"<h1>{escape(title)}</h1>"
        f'<p class="question">{_count(ordered)}. Each row is one curve; its report has the trials, '
        "their verdicts and the method. In parentheses: 95 % interval.</p>"
        '<form id="filters" class="filters" hidden></form>'
        '<figure id="picture" hidden><div id="drawing"></div><figcaption id="caption"></figcaption></figure>'
        '<div class="scroll" tabindex="0" role="region" aria-label="All curves"><table class="site">'
        f"<caption>All curves</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        f'<style>{style}</style><script type="application/json" id="curves">{data}</script><script>{script}</script>'
    )
    return shell(title, body)


def _count(listed: Sequence[SiteCurve]) -> str:
    runs, databases = ({getattr(curve, name) for curve in listed} for name in ("page", "database"))
    without = sum(not curve.levels for curve in listed)
    many = counted(len(listed) - without, "curve"), counted(len(runs), "run"), counted(len(databases), "database")
    rest = f"; {counted(without, 'row')} without a fitted trial" if without else ""
    return f"{many[0]} of {many[1]}, {many[2]}{rest}"


def _row(number: int, curve: SiteCurve) -> str:
    best = f"{format_rate(max(curve.rates))} {curve.unit}" if curve.rates else ABSENT
    named = f"{curve.database} {curve.version}".strip()
    cells = (named, curve.machine, curve.answer, best, curve.fitted)
    name = escape(f"{curve.title}, {curve.planned}, {curve.created}")
    link = f'<th scope="row" class="w"><a href="{escape(curve.page)}">{name}</a></th>'
    box = f'<td class="w"><input type="checkbox" data-curve="{number}" aria-label="draw {name}" disabled></td>'
    rest = "".join(f'<td class="w">{escape(cell)}</td>' for cell in cells)
    return f'<tr>{box}{link}{rest}<td class="w">{_small(curve)}</td></tr>'


def _small(curve: SiteCurve) -> str:
    if len(curve.levels) < 2:
        return ""
    frame = Frame.within((90, 34), (2, 2, 2, 2), (0.0, curve.levels[-1]), (0.0, max(curve.rates)))
    points = list(zip(curve.levels, curve.rates, strict=True))
    return drawing(90, 34, f"Rate over {curve.axis}: {curve.answer}", line(frame, points, "fit"), "small")


def site(runs: Iterator[StoredRun], title: str) -> Iterator[tuple[str, str]]:
    """Pages by their path; the index comes last. Only one run is in memory at a time."""
    listed: list[SiteCurve] = []
    for run in runs:
        listed += curves_of(run)
        pages = documents(run, makers=HTML).pages
        yield from ((f"{folder_of(run)}/{name}", text) for name, text in pages.items())
    yield INDEX, index_html(listed, title)
