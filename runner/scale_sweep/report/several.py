"""Several on one page: databases or variants of one run side by side, and servers that each have a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.units import change_words, counted, format_number, format_rate
from scale_sweep.experiment.work import stores
from scale_sweep.model.compared import Comparison, PointRatio
from scale_sweep.model.derived import counted_verdicts
from scale_sweep.model.fitted import StoredRun
from scale_sweep.report import forms
from scale_sweep.report.comparison import ratio_cell
from scale_sweep.report.figures import agreement_in, axis_facts, axis_name, fitted_rate, shown_rates
from scale_sweep.report.forms import Headline, Section, Tile, folded, headline_html, sections_html, shell, valid_words
from scale_sweep.report.markup import table_html
from scale_sweep.report.operations import mixes_words, several_operations_table
from scale_sweep.report.replicates import beside_verdicts
from scale_sweep.report.run_facts import servers_table, starting_point
from scale_sweep.report.several_curves import (
    SubjectCurve,
    SubjectPoint,
    curves,
    curves_rows,
    curves_svg,
    labels_of,
    overlaid_svg,
    overlaps,
)
from scale_sweep.report.table import ABSENT, Table, fixed, level_cell, marked, mean, short
from scale_sweep.report.trials import trial_table
from scale_sweep.sweep.vary import label, slug

Say = Callable[[SubjectPoint], str]
# What a target says of itself among its settings as read back, by the heading that it has here.
TERMS = {"server": "server_version", "acknowledged when the rows are": "acknowledged", "stored": "compression"}


def tables(run: StoredRun) -> tuple[Table, ...]:
    """Several databases have their own tables: a ratio to the first would not say whether it is a difference."""
    if len({trial.subject.target for trial in run.plan.trials}) < 2:
        return (comparison_table(run),)
    each = several_operations_table(run)
    return (rates_table(run), *((each,) if each.rows else ()), cost_table(run), terms_table(run))


def figure_html(run: StoredRun) -> str:
    drawn_curves = curves(run)
    if len(drawn_curves) < 2:
        return ""
    drawn, narrow = curves_svg(run), curves_svg(run, 400, 320)
    points = [p for curve in drawn_curves for p in curve.points]
    interval = ", with their 95 % intervals" if any(p.low is not None for p in points) else ""
    hollow = "" if all(p.is_counted for p in points) else " Hollow: no trial counts."
    terms = " Beside each name: the place of the rows of a request when it is acknowledged."
    caption = f"Means of the trials that count{interval}.{hollow}{terms if stores(run.plan.sweep.work) else ''}"
    rows = curves_rows(run, drawn_curves, "database", [rate.field for rate in shown_rates(run)])
    return forms.figure_html("curves", drawn, caption, rows, narrow=narrow) if drawn else ""


def _of_points(
    title: str, first: tuple[str, str], rows: Iterable[tuple[str, str, SubjectPoint]], cells: Sequence[tuple[str, Say]]
) -> Table:
    """first: headings of the two names of a row."""
    made = tuple((*names, *(say(point) for _, say in cells)) for *names, point in rows)
    return Table(title=title, headers=(*first, *(heading for heading, _ in cells)), rows=made)


def _by_level(run: StoredRun) -> list[tuple[float, SubjectCurve, SubjectPoint]]:
    """The points by level, each level's in the order asked for."""
    points = [(p.level, curve, p) for curve in curves(run) for p in curve.points]
    return sorted(points, key=lambda point: point[0])


def _rate(at: int) -> Say:
    return lambda p: format_rate(p.rates[at])


def _level(p: SubjectPoint) -> str:
    return level_cell(p.level, p.is_counted)


def rates_table(run: StoredRun) -> Table:
    """A row for each level and database."""
    shown, databases = shown_rates(run), curves(run)
    compared = (mixed,) if (mixed := mixes_words(run)) else overlaps(run, databases)
    cells: list[tuple[str, Say]] = [
        ("verdicts", lambda p: p.verdicts),
        (shown[0].words, lambda p: marked(format_rate(p.rates[0], p.low, p.high), p.used, field=shown[0].field)),
        *((rate.words, _rate(at)) for at, rate in enumerate(shown) if at),
        ("speedup", lambda p: f"{p.speedup:.2f}×" if p.speedup else ABSENT),
        ("response p50 ms", lambda p: short(p.response_ms_p50)),
        ("response p99 ms", lambda p: short(p.response_ms_p99)),
    ]
    rows = ((_level(p), curve.name, p) for _, curve, p in _by_level(run))
    made = _of_points("The rates side by side", (axis_facts(run).name, "database"), rows, cells)
    interval = f"Parentheses have the 95 % interval of the mean of {shown[0].words}, over the trials that count"
    durable = "A durable rate counts to the end of the flush. " if any("durable" in r.words for r in shown) else ""
    note = f"{interval}. {durable}The speedup is relative to the first level of the database. "
    note += "† No trial counts: the mean is over all, and not the server's number."
    return replace(made, words=(1, 2), notes=(note, *compared))


def cost_table(run: StoredRun) -> Table:
    """A row for each database and level. Bytes written where rows are."""
    unit, stored = run.plan.sweep.work.unit, stores(run.plan.sweep.work)
    cells: list[tuple[str, Say]] = [
        (f"{shown_rates(run)[0].words} per core", lambda p: format_rate(p.rate_per_core)),
        (f"server CPU-s / M {unit}", lambda p: short(p.server_cost)),
        (f"load generator CPU-s / M {unit}", lambda p: short(p.client_cost)),
        ("bytes in files / row", lambda p: short(p.stored_bytes)),
        ("bytes written / row", lambda p: short(p.written_bytes)),
    ]
    rows = ((curve.name, _level(p), p) for curve in curves(run) for p in curve.points)
    first = ("database", axis_facts(run).name)
    made = _of_points("Resources per row", first, rows, cells if stored else cells[:-1])
    files = "Bytes in files are those of all files of the server, also logs and reserved space, for each counted row."
    written = " Bytes written are those to the disk, by all processes." if stored else ""
    return replace(made, words=(0,), notes=(f"{files}{written} The load generator is the client.",))


def terms_table(run: StoredRun) -> Table:
    """A row for each database: what makes its rates comparable with the others', or not."""
    stored = stores(run.plan.sweep.work)
    terms = {heading: key for heading, key in TERMS.items() if stored or key != "acknowledged"}
    rows = []
    for curve in curves(run):
        load = sorted({r.trial.load.connections for r in curve.results})
        requests = sorted({r.trial.work.data.rows_per_request for r in curve.results})
        written = (curve.results[0].trial.subject.method, ", ".join(map(fixed, requests))) if stored else ()
        stated = tuple(curve.term(key) for key in terms.values())
        rows.append((curve.name, *stated, *written, ", ".join(map(fixed, load))))
    acknowledged = " A request is acknowledged when it is answered." if stored else ""
    return Table(
        title="Settings that affect comparability",
        headers=("database", *terms, *(("method", "rows a request") if stored else ()), "connections"),
        rows=tuple(rows),
        words=tuple(range(len(terms) + 1 + stored)),
        notes=(f"{starting_point(run)}, unless --knob changes it.{acknowledged}",),
    )


def comparison_table(run: StoredRun) -> Table:
    """A row for each level and variant: means over the trials that count, else over all, marked and without a ratio."""
    work, agreement, points = run.plan.sweep.work, agreement_in(run), _by_level(run)
    first = labels_of(run)[:1]

    def speed(p: SubjectPoint) -> float | None:
        return mean(r.achieved_per_s for r in p.used)

    bases = {p.level: speed(p) for _, _, p in points if p.is_counted and [slug(p.used[0].trial.variant)] == first}

    def of_first(p: SubjectPoint) -> str:
        rate, base = speed(p), bases.get(p.level)
        return f"{rate / base:.2f}×" if rate and base and p.is_counted else ABSENT

    cells: list[tuple[str, Say]] = [
        ("verdicts", lambda p: p.verdicts + beside_verdicts(agreement, p.used)),
        (work.rate_words, lambda p: marked(format_rate(speed(p)), p.used)),
        ("of the first", of_first),
        ("server cores", lambda p: fixed(mean(r.measurement.server_cpu_cores for r in p.used), 2)),
        ("load generator cores", lambda p: fixed(mean(r.measurement.generator_cpu_cores for r in p.used), 2)),
        (f"load generator CPU-s / M {work.unit}", lambda p: short(p.client_cost)),
        ("response p99 ms", lambda p: short(p.response_ms_p99)),
    ]
    rows = ((_level(p), label(p.used[0].trial.variant), p) for _, _, p in points)
    made = _of_points("The variants side by side", (axis_facts(run).name, "variant"), rows, cells)
    note = "The figures are means over the VALID trials. † No trial is VALID: the mean is over all."
    return replace(made, words=(1, 2), notes=(note,))


_TILES = 6  # servers that have a tile


@dataclass(frozen=True, kw_only=True)
class HostRun:
    name: str
    run: StoredRun
    comparison: Comparison | None  # with the first run; None for that one itself
    price_per_hour: float | None = None  # in units of `money`; None if no list has it
    curves: tuple[SubjectCurve, ...] = ()

    @property
    def points(self) -> tuple[PointRatio, ...]:
        return self.comparison.points if self.comparison is not None else ()

    @property
    def overall(self) -> PointRatio | None:
        points = [point for point in self.points if point.ratio is not None]
        whole = self.comparison.overall if self.comparison is not None else None
        return whole or (points[0] if len(points) == 1 else None)


def host_runs(
    runs: Sequence[StoredRun], comparisons: Sequence[Comparison], prices: Mapping[str, float]
) -> tuple[HostRun, ...]:
    """A name that two runs share gets a number. prices: for an hour."""
    names = [host_name(run) for run in runs]
    unique = [f"{name} ({at})" if names.count(name) > 1 else name for at, name in enumerate(names, start=1)]
    made = []
    for name, of, run, comparison in zip(unique, names, runs, (None, *comparisons), strict=True):
        variants = [(c, ", ".join(c.results[0].trial.variant.values())) for c in curves(run)]
        of_host = tuple(replace(curve, name=f"{name} {variant}".strip()) for curve, variant in variants)
        price = prices.get(of)
        made.append(HostRun(name=name, run=run, comparison=comparison, price_per_hour=price, curves=of_host))
    return tuple(made)


def host_name(run: StoredRun) -> str:
    for key, of in (("fleet", "host"), ("host", "hostname")):
        part = run.manifest.get(key)
        if isinstance(part, Mapping) and part.get(of):
            return str(part[of])
    return "unknown host"


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
    drawn_curves = [curve for host in hosts for curve in host.curves]
    drawn = overlaid_svg(first.run, [(curve.name, curve) for curve in drawn_curves])
    caption = "Every server's curve. Filled marks are levels with trials that count."
    data = curves_rows(first.run, drawn_curves, "host", [fitted_rate(first.run).words])
    servers, priced = servers_table([(host.name, host.run) for host in hosts]), money_table(hosts, money)
    # Without keys: the names of rows would be those of other hosts too.
    each = ((host, table_html(replace(trial_table(host.run), keys=()), dense=True)) for host in hosts)
    trials = "".join(folded(f"{host.name}: {counted_verdicts(host.run.results)}", table) for host, table in each)
    sections = (
        Section("hosts", "The servers", table_html(servers, dense=True)),
        Section("curves", "All curves", forms.figure_html("curves", drawn, caption, data) if drawn else ""),
        Section("ratios", f"Ratio to {first.name}", table_html(ratio_table(hosts))),
        Section("money", "Rate for the money", table_html(priced) if priced.rows else ""),
        Section("trials", "Every trial of every server", trials),
    )
    return shell(headline.title, headline_html(headline, results) + sections_html(sections))


def _tile(host: HostRun, base: str) -> Tile:
    overall = host.overall
    if overall is None or overall.ratio is None:
        return (ABSENT, f"{host.name} against {base}: no level counts in both")
    levels = "all levels" if overall.level is None else f"level {format_number(overall.level)} alone"
    return (change_words(overall.ratio, overall.low, overall.high), f"{host.name} against {base}, {levels}")


def cautions(hosts: Sequence[HostRun]) -> tuple[str, ...]:
    others = len(hosts) - 1
    one = "a difference includes the spread between the sessions of a server, which is not known"
    sentences = [f"each server has one run: {one}"]
    if others > 1:
        many = "among many intervals of 95 %, some exclude the true ratio"
        sentences.append(f"{others} servers are compared with one: {many}")
    if sum(any(p.low is not None for p in host.points) for host in hosts) < others:
        sentences.append("some ratios have no interval: fewer than two trials of a level count")
    return tuple(sentences)


def ratio_table(hosts: Sequence[HostRun]) -> Table:
    """The rate of the first host at each level, the ratio to it of the others."""
    first, compared = hosts[0], [((p.level, p.variant), p) for host in hosts for p in host.points]
    keys = dict.fromkeys(key for key, _ in compared)
    base = {key: format_rate(p.rate_a) for key, p in reversed(compared) if p.rate_a is not None}
    rows = [(first.name, *(base.get(key, ABSENT) for key in keys), "1")]
    for host in hosts[1:]:
        points = {(p.level, p.variant): p for p in host.points}
        rows.append((host.name, *(ratio_cell(points.get(key)) for key in keys), ratio_cell(host.overall)))
    headers = (axis_name(first.run), *(f"{format_number(level or 0)} {v}".strip() for level, v in keys), "all")
    notes = (f"The first has its {fitted_rate(first.run).words}, the others the ratio to it with the 95 % interval.",)
    return Table(title=f"Ratio to {first.name}", headers=headers, rows=tuple(rows), notes=notes, words=(0,))


def money_table(hosts: Sequence[HostRun], money: str) -> Table:
    """The highest rate, and that rate for one unit of money an hour."""
    words, rows = fitted_rate(hosts[0].run).words, []
    for name, price, of_host in ((h.name, h.price_per_hour, h.curves) for h in hosts):
        if price is not None:
            points = [p for curve in of_host for p in curve.points if p.is_counted and p.rates[0] is not None]
            best = max(points, key=lambda p: p.rates[0] or 0.0, default=None)
            own = (best.rates[0], best.low, best.high) if best else (None, None, None)
            of_money = [v / price if v is not None else None for v in own]
            cells = (format_number(best.level), format_rate(*own), format_rate(*of_money)) if best else [ABSENT] * 3
            rows.append((name, format_number(price), *cells))
    headers = ("Host", f"{money} an hour", axis_name(hosts[0].run), words, f"{words} for one {money} an hour")
    notes = ("Each rate is that of the host's best level with trials that count.",)
    return Table(title="Rate for the money", headers=headers, rows=tuple(rows), notes=notes, words=(0,))
