"""Several servers on one page: facts, curves, ratios to the first one, rates for the money, every trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scale_sweep.base.units import change_words, counted, format_number, format_rate
from scale_sweep.model import StoredRun, counted_verdicts
from scale_sweep.model.compared import Comparison, PointRatio
from scale_sweep.report.figures import axis_name, fitted_rate
from scale_sweep.report.forms import (
    Headline,
    Section,
    Tile,
    figure_html,
    folded,
    headline_html,
    sections_html,
    shell,
    valid_words,
)
from scale_sweep.report.markup import table_html
from scale_sweep.report.run_facts import Fact, load_hosts, machine_facts
from scale_sweep.report.several_curves import SubjectCurve, SubjectPoint, curves, overlaid_svg
from scale_sweep.report.table import ABSENT, Table, mean
from scale_sweep.report.trials import trial_table

_TILES = 6  # hosts that have a tile
_NOT_OF_A_HOST = ("Host", "Chosen because")  # the first is the row's name


@dataclass(frozen=True, kw_only=True)
class HostRun:
    name: str
    run: StoredRun
    comparison: Comparison | None  # with the first run; None for that one itself
    price_per_hour: float | None = None  # in units of `money`; None if no list has it
    curves: tuple[SubjectCurve, ...] = field(default=())


def host_runs(
    runs: Sequence[StoredRun], comparisons: Sequence[Comparison], prices: Mapping[str, float]
) -> tuple[HostRun, ...]:
    """The runs under the names of their hosts; a name that two runs share gets a number. prices: for an hour."""
    names = [host_name(run) for run in runs]
    unique = [f"{name} ({at})" if names.count(name) > 1 else name for at, name in enumerate(names, start=1)]
    return tuple(
        HostRun(
            name=name,
            run=run,
            comparison=comparison,
            price_per_hour=prices.get(host_name(run)),
            curves=tuple(_on_host(name, curve) for curve in curves(run)),
        )
        for name, run, comparison in zip(unique, runs, (None, *comparisons), strict=True)
    )


def host_name(run: StoredRun) -> str:
    for key, of in (("fleet", "host"), ("host", "hostname")):
        part = run.manifest.get(key)
        if isinstance(part, Mapping) and part.get(of):
            return str(part[of])
    return "unknown host"


def _on_host(name: str, curve: SubjectCurve) -> SubjectCurve:
    variant = ", ".join(curve.results[0].trial.variant.values())
    return replace(curve, name=f"{name} {variant}".strip())


def side_by_side_html(hosts: Sequence[HostRun], money: str) -> str:
    """The whole page. money: one unit of it in words. It loads nothing from elsewhere."""
    first, results = hosts[0], [result for host in hosts for result in host.run.results]
    sweep = first.run.plan.sweep
    headline = Headline(
        title=f"{sweep.name} on {counted(len(hosts), 'server')}",
        above=f"Base: {first.name} · {first.run.path.rstrip('/').rpartition('/')[2]}",
        question=sweep.question,
        answer=(valid_words((host.name, host.run.results) for host in hosts),),
        tiles=[_tile(host, first.name) for host in hosts[1 : 1 + _TILES]],
        note="Ratios and intervals: geometric means of the trials that count, with the 95 % interval of each alone.",
        cautions=cautions(hosts),
    )
    named = [(curve.name, curve) for host in hosts for curve in host.curves]
    drawn = overlaid_svg(first.run, named)
    caption = "Every server's curve. Filled marks are levels with trials that count."
    ratios, priced = ratio_table(hosts), money_table(hosts, money)
    sections = (
        Section("hosts", "The servers", table_html(facts_table(hosts), dense=True)),
        Section("curves", "All curves", figure_html("curves", drawn, caption, _curve_rows(hosts)) if drawn else ""),
        Section("ratios", f"Ratio to {first.name}", table_html(ratios)),
        Section("money", "Rate for the money", table_html(priced) if priced.rows else ""),
        Section("trials", "Every trial of every server", "".join(map(_trials, hosts))),
    )
    return shell(headline.title, headline_html(headline, results) + sections_html(sections))


def _tile(host: HostRun, base: str) -> Tile:
    overall = _overall(host)
    if overall is None or overall.ratio is None:
        return (ABSENT, f"{host.name} against {base}: no level counts in both")
    levels = "all levels" if overall.level is None else f"level {format_number(overall.level)} alone"
    return (change_words(overall.ratio, overall.low, overall.high), f"{host.name} against {base}, {levels}")


def _overall(host: HostRun) -> PointRatio | None:
    if host.comparison is None:
        return None
    points = [point for point in host.comparison.points if point.ratio is not None]
    return host.comparison.overall or (points[0] if len(points) == 1 else None)


def cautions(hosts: Sequence[HostRun]) -> tuple[str, ...]:
    """The sentences that weaken the whole page."""
    known = [h for h in hosts if h.comparison is not None and any(p.low is not None for p in h.comparison.points)]
    sentences = [
        (
            "each server has one run: a difference includes the spread between the sessions of a server, which is not "
            "known"
        ),
    ]
    if len(hosts) > 2:
        sentences.append(
            f"{len(hosts) - 1} servers are compared with one: among many intervals of 95 %, some exclude the true ratio"
        )
    if len(known) < len(hosts) - 1:
        sentences.append("some ratios have no interval: fewer than two trials of a level count")
    return tuple(sentences)


def facts_table(hosts: Sequence[HostRun]) -> Table:
    facts = [dict((*machine_facts(host.run), *_clock(host.run), *load_hosts(host.run))) for host in hosts]
    labels = [label for label in dict.fromkeys(name for of in facts for name in of) if label not in _NOT_OF_A_HOST]
    rows = tuple(
        (host.name, *(of.get(label, ABSENT) for label in labels)) for host, of in zip(hosts, facts, strict=True)
    )
    return Table(title="Servers", headers=("Host", *labels), rows=rows, words=tuple(range(len(labels) + 1)))


def _clock(run: StoredRun) -> tuple[Fact, ...]:
    """The clock rate of the server's CPUs, the mean of the trials; none where the kernel does not count it."""
    mhz = mean(result.measurement.server_cpu_mhz for result in run.results)
    return (("Clock rate", f"{mhz / 1000:.2f} GHz"),) if mhz is not None else ()


def ratio_table(hosts: Sequence[HostRun]) -> Table:
    """A row for each host, a column for each level: its rate, and its ratio to the first host with the interval."""
    first = hosts[0]
    keys = list(dict.fromkeys((p.level, p.variant) for h in hosts[1:] if h.comparison for p in h.comparison.points))
    rows = [(first.name, *(_base_rate(hosts, key) for key in keys), "1")]
    for host in hosts[1:]:
        points = {(p.level, p.variant): p for p in host.comparison.points} if host.comparison else {}
        rows.append((host.name, *(_ratio(points.get(key)) for key in keys), _ratio(_overall(host))))
    headers = (axis_name(first.run), *(f"{format_number(level or 0)} {v}".strip() for level, v in keys), "all")
    notes = (f"The first has its {fitted_rate(first.run).words}, the others the ratio to it with the 95 % interval.",)
    return Table(title=f"Ratio to {first.name}", headers=headers, rows=tuple(rows), notes=notes, words=(0,))


def _base_rate(hosts: Sequence[HostRun], key: tuple[float | None, str]) -> str:
    compared = [p for h in hosts[1:] if h.comparison for p in h.comparison.points if (p.level, p.variant) == key]
    return next((format_rate(p.rate_a) for p in compared if p.rate_a is not None), ABSENT)


def _ratio(point: PointRatio | None) -> str:
    if point is None or point.ratio is None:
        return ABSENT
    if point.low is None or point.high is None:
        return f"{point.ratio:.3f}"
    return f"{point.ratio:.3f} ({point.low:.3f} to {point.high:.3f})"


def money_table(hosts: Sequence[HostRun], money: str) -> Table:
    """The highest rate of each host that has a price, and that rate for one unit of money an hour."""
    words = fitted_rate(hosts[0].run).words
    rows = []
    for host in hosts:
        best = _best(host)
        if host.price_per_hour is None:
            continue
        if best is None:
            rows.append((host.name, format_number(host.price_per_hour), ABSENT, ABSENT, ABSENT))
            continue
        of_money = [v / host.price_per_hour if v is not None else None for v in (best.rates[0], best.low, best.high)]
        own = (best.rates[0], best.low, best.high)
        rows.append(
            (
                host.name,
                format_number(host.price_per_hour),
                format_number(best.level),
                format_rate(*own),
                format_rate(*of_money),
            )
        )
    headers = ("Host", f"{money} an hour", axis_name(hosts[0].run), words, f"{words} for one {money} an hour")
    notes = ("Each rate is that of the host's best level with trials that count.",)
    return Table(title="Rate for the money", headers=headers, rows=tuple(rows), notes=notes, words=(0,))


def _best(host: HostRun) -> SubjectPoint | None:
    points = [p for curve in host.curves for p in curve.points if p.is_counted and p.rates[0] is not None]
    return max(points, key=lambda p: p.rates[0] or 0.0, default=None)


def _curve_rows(hosts: Sequence[HostRun]) -> list[tuple[object, ...]]:
    first = hosts[0].run
    headers = ("host", first.plan.sweep.axis, fitted_rate(first).words, "low", "high", "is_fitted")
    points = [(curve.name, p) for host in hosts for curve in host.curves for p in curve.points]
    return [headers, *((name, p.level, p.rates[0], p.low, p.high, p.is_counted) for name, p in points)]


def _trials(host: HostRun) -> str:
    table = replace(trial_table(host.run), keys=())  # the names of rows would be those of other hosts too
    return folded(f"{host.name}: {counted_verdicts(host.run.results)}", table_html(table, dense=True))
