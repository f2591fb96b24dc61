"""A published table beside ours, as a table and a picture. Machines differ, so only speedups are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scale_sweep.base.units import format_number, format_rate
from scale_sweep.model.fitted import StoredRun
from scale_sweep.report.figures import at_level, axis_facts, axis_name, fitted_rate, levels_of
from scale_sweep.report.level_tables import disk_words, range_notes
from scale_sweep.report.several_curves import stored_bytes
from scale_sweep.report.svg import Frame, axes, clipped, counted_lines, drawing, legend, line, shaped, swatch, x_levels
from scale_sweep.report.table import ABSENT, Table, fixed, level_cell, mean, short

Reference = Sequence[Mapping[str, str]]
PUBLISHED_KNOBS = ("vgroups", "partitions", "write_threads", "commit_threads")  # columns of published tables


@dataclass(frozen=True, kw_only=True)
class ReferenceRate:
    """In what the run's rate counts."""

    level: float
    rate: float | None
    cpu_percent: float | None
    disk: str = ABSENT  # text, because a range may be published
    valid: bool = True  # the rate is from VALID trials


@dataclass(frozen=True, kw_only=True)
class ReferenceComparison:
    """By level, with the level that counts as 1 in each."""

    published: Mapping[float, ReferenceRate]
    ours: Mapping[float, ReferenceRate]
    base_published: float | None
    base_ours: float | None

    def speedups(self, *, ours: bool) -> dict[float, float]:
        """In units of the base level, of valid rates alone."""
        sides, base = (self.ours, self.base_ours) if ours else (self.published, self.base_published)
        first = sides[base].rate if base is not None else None
        return {n: s.rate / first for n, s in sides.items() if s.rate and first and s.valid}


def number(text: object) -> float | None:
    try:
        value = float(str(text).replace(",", ""))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _disk(row: Mapping[str, str]) -> str:
    one, low, high = (number(row.get(f"disk_mb_per_s{end}")) for end in ("", "_low", "_high"))
    return f"{short(low)}–{short(high)}" if one is None and low is not None and high is not None else short(one)


def compare(run: StoredRun, reference: Reference) -> ReferenceComparison | None:
    """None if the published table has no such axis, or no rate of what the run counts."""
    axis, column = axis_facts(run), run.plan.sweep.work.rate_column
    published = {}
    for row in rows_of(run, reference):
        level, value = number(row.get(axis.name)), number(row.get(column))
        if level is not None and value is not None:
            cpu = number(row.get("cpu_percent"))
            published[level] = ReferenceRate(level=level, rate=value, cpu_percent=cpu, disk=_disk(row))
    ours = {}
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        ours[level] = ReferenceRate(
            level=level,
            rate=mean(getattr(r.measurement, fitted_rate(run).field) for r in trials),
            cpu_percent=mean(r.measurement.server_cpu_percent for r in trials),
            disk=disk_words(run, trials),
            valid=valid,
        )
    if not published:
        return None
    rated = sorted(n for n, s in ours.items() if s.rate and s.valid)
    common = [n for n in rated if n in published]
    return ReferenceComparison(
        published=published,
        ours=ours,
        base_published=common[0] if common else min(published),
        base_ours=next(iter(common or rated), None),
    )


def rows_of(run: StoredRun, reference: Reference) -> list[Mapping[str, str]]:
    varied = run.plan.trials[0].variant if run.plan.trials else {}
    wanted = {"target": run.plan.trials[0].subject.target, **varied} if run.plan.trials else {}
    return [row for row in reference if all(row.get(key, value) == value for key, value in wanted.items())]


def reference_table(run: StoredRun, reference: Reference) -> Table | None:
    """None if they cannot be compared."""
    both = compare(run, reference)
    if both is None:
        return None
    theirs, mine = both.speedups(ours=False), both.speedups(ours=True)
    rows = []
    for level in sorted({*both.published, *both.ours}):
        p, o = both.published.get(level), both.ours.get(level)
        rows.append(
            (
                level_cell(level, o is None or o.valid),
                format_rate(p.rate if p else None),
                format_rate(o.rate if o else None),
                fixed(theirs.get(level), 2),
                fixed(mine.get(level), 2),
                fixed(_efficiency(theirs, level, both.base_published)),
                fixed(_efficiency(mine, level, both.base_ours)),
                fixed(p.cpu_percent if p else None),
                fixed(o.cpu_percent if o else None),
                p.disk if p else ABSENT,
                o.disk if o else ABSENT,
            )
        )
    headers = (
        axis_name(run),
        f"Published {run.plan.sweep.work.rate_words}",
        f"Ours {run.plan.rate_words}",
        "Published speedup",
        "Ours speedup",
        "Published efficiency (%)",
        "Ours efficiency (%)",
        "Published CPU (%)",
        "Ours CPU (%)",
        "Published disk (MB/s)",
        "Ours disk (MB/s)",
    )
    return Table(
        title="Published and ours",
        headers=headers,
        rows=tuple(rows),
        notes=tuple(_notes(both, rows_of(run, reference), run)),
    )


def _published_knobs(run: StoredRun) -> dict[str, str]:
    own = {knob.column: knob.label.lower() for knob in run.plan.knobs if knob.column}
    return {column: column.replace("_", " ") for column in PUBLISHED_KNOBS} | own


def _efficiency(speedups: Mapping[float, float], level: float, base: float | None) -> float | None:
    return 100 * speedups[level] * base / level if level in speedups and base else None


def _notes(both: ReferenceComparison, reference: Reference, run: StoredRun) -> list[str]:
    same = both.base_ours in (both.base_published, None)
    base = format_number(both.base_published or 0)
    notes = [
        f"The rates come from different machines; compare the speedup, which is 1 at {base} in both tables."
        if same
        else f"No level is in both: the published speedup is 1 at {base}, ours at {format_number(both.base_ours or 0)}."
    ]
    for name, label in _published_knobs(run).items():
        values = list(dict.fromkeys(str(row[name]) for row in reference if row.get(name)))
        if len(values) > 1:
            notes.append(f"In the published table {label} moves along the axis ({' → '.join(values)}).")
    stored = {row["stored_bytes_per_row"] for row in reference if row.get("stored_bytes_per_row")}
    if stored:
        ours = short(mean(stored_bytes(r.measurement) for r in run.on_curve))
        notes.append(f"A row takes {', '.join(sorted(stored))} bytes on disk as published, {ours} in ours.")
    if axis_facts(run).published_note:
        notes.append(axis_facts(run).published_note)
    notes += range_notes(s.disk for s in both.ours.values())
    if any(not s.valid for s in both.ours.values()):
        notes.append("† No trial of ours is VALID at this level: the numbers are not the server's, without a speedup.")
    return notes


def speedup_svg(run: StoredRun, both: ReferenceComparison, width: int = 520, height: int = 330) -> str:
    """ "" if we have none. Machines differ, so rates are not drawn together."""
    theirs, ours = both.speedups(ours=False), both.speedups(ours=True)
    everything = [*theirs.items(), *ours.items()]
    if not ours:
        return ""
    base = both.base_published or both.base_ours or 1.0
    drawn = [css for css, rates in (("published", theirs), ("ours", ours)) if rates]
    items = [*((swatch(css) + _dot(8, 0, css), css) for css in drawn), (swatch("ideal"), "ideal")]
    keys, above = legend(items, width, 8, 14)
    last = max(n for n, _ in everything)
    y_max = 1.06 * max(last / base, *(v for _, v in everything))
    frame = Frame.over_levels((width, height), above, last, y_max)
    parts = [
        keys,
        axes(
            frame,
            x_levels([n for n, _ in everything], width - 80),
            run.plan.sweep.axis,
            f"speedup, 1 at {format_number(base)}",
        ),
        clipped(frame, line(frame, [(0, 0), (frame.x_max, frame.x_max / base)], "ideal")),
    ]
    for css, side, levels in (("published", theirs, both.published), ("ours", ours, both.ours)):
        parts.append(counted_lines(frame, [((n, side.get(n, 0.0)), n in side) for n in sorted(levels)], css))
        parts += [_dot(frame.x(n), frame.y(v), css, f"{css}: {v:.2f} at {format_number(n)}") for n, v in side.items()]
    return drawing(width, frame.height, "Speedup, published and ours", "".join(parts), "small")


def _dot(x: float, y: float, css: str, title: str = "") -> str:
    return shaped(x, y, "diamond" if css == "published" else "circle", css, title, 3.8)
