"""A disk sweep in the report: what each disk did and can do alone, as a table and as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scale_sweep.base.units import counted, format_number
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.samples import DiskFigures
from scale_sweep.report.figures import at_level, levels_of
from scale_sweep.report.svg import Frame, axes, drawing, legend, swatch, text
from scale_sweep.report.table import ABSENT, Table, fixed, known, level_cell, mean, short

WAL_WORDS = {
    "data": "with its data, on the same disk",
    "first": "on disk d1",
    "off-axis": "with the server's own files, off the axis",
}


def has_prepared_disks(run: StoredRun) -> bool:
    return run.plan.sweep.disks is not None


def ceiling_points(run: StoredRun) -> list[tuple[float, float]]:
    """(level, rows/s) that the disks alone would allow, at the bytes for each row that the database writes there."""
    points = []
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        figures = ((t.measurement.disk_ceiling_mb_per_s, t.measurement.disk_bytes_per_row) for t in trials)
        rates = [1e6 * ceiling / per_row for ceiling, per_row in figures if ceiling and per_row]
        if rates and valid:
            points.append((level, sum(rates) / len(rates)))
    return points if has_prepared_disks(run) else []


def placement_words(run: StoredRun) -> str:
    if not has_prepared_disks(run):
        return ""
    why = run.manifest.get("disk_placement")
    where = str(why) if isinstance(why, str) and why else run.plan.sweep.disk_placement
    log = WAL_WORDS.get(run.plan.sweep.wal_disk)
    return f"data: {where}" + (f"; write-ahead log: {log}" if log else "")


def disk_table(run: StoredRun) -> Table:
    """Means over a level's VALID trials, else over all, marked †."""
    rows = []
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        names = list(dict.fromkeys(name for t in trials for name in t.measurement.disks))
        for at, name in enumerate(names):
            mine = [t.measurement.disks[name] for t in trials if name in t.measurement.disks]
            level_text = level_cell(level, valid) if at == 0 else ""
            rows.append((level_text, name, *_cells(mine), *(_level_cells(trials) if at == 0 else ("", "", "", ""))))
    headers = (
        "Disks",
        "Disk",
        "Written (MB/s)",
        "Share (%)",
        "Of its ceiling (%)",
        "Least free (GB)",
        "All: of their ceiling (%)",
        "Bytes per row",
        "Write amplification",
        "Stalled (s)",
    )
    notes: tuple[str, ...] = (
        "The figures are from the first request to the end of flush and sync. The ceilings are those of fio.",
        "Write amplification is bytes on the disks for each byte of the values. Stalled: nothing was acknowledged.",
    )
    if run.plan.sweep.disk_placement == "stripe":
        notes += ("The disks are striped, so the least free space is that of the whole array.",)
    return Table(title="Each disk", headers=headers, rows=tuple(rows), notes=notes if rows else (), words=(1,))


def _cells(mine: Sequence[DiskFigures]) -> tuple[str, ...]:
    return (
        short(mean(d.write_mb_per_s for d in mine)),
        fixed(mean(d.share_percent for d in mine), 1),
        fixed(mean(d.used_percent for d in mine)),
        short(min((d.free_gb_min for d in mine if d.free_gb_min is not None), default=None)),
    )


def _level_cells(trials: Sequence[TrialResult]) -> tuple[str, ...]:
    m = [t.measurement for t in trials]
    return (
        fixed(mean(x.disk_used_percent for x in m)),
        fixed(mean(x.disk_bytes_per_row for x in m)),
        short(mean(x.write_amplification for x in m)),
        fixed(mean(x.stalled_s for x in m), 1),
    )


def limit_words(run: StoredRun) -> str:
    rows = () if has_prepared_disks(run) else ceiling_table(run).rows
    return "".join(f"{rate} MB/s of sequential writes, by fio" for _, rate, _ in rows[:1])


def ceiling_table(run: StoredRun) -> Table:
    """By fio before the sweep: each disk alone, then all together."""
    rows = []
    ceilings = run.manifest.get("disk_ceilings")
    for one in ceilings if isinstance(ceilings, (list, tuple)) else ():
        if isinstance(one, Mapping):
            names = one.get("disks")
            which = " + ".join(map(str, names)) if isinstance(names, (list, tuple)) else ABSENT
            figures = (one.get("write_mb_per_s"), one.get("sync_writes_per_s"))
            rows.append((which, *(short(_number(f)) for f in figures)))
    notes = ["The disks were measured before the sweep, without a database."]
    if run.manifest.get("disks_share_a_bottleneck") is True:
        notes.append(
            "Together they are slower than the sum of each alone: they share a bottleneck, and no database can scale."
        )
    headers = ("Disks", "Sequential writes (MB/s)", "Small writes with fsync (1/s)")
    return Table(title="Ceilings of the disks", headers=headers, rows=tuple(rows), notes=tuple(notes), words=(0,))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def shares_svg(run: StoredRun, width: int = 520, height: int = 260) -> str:
    """Each disk's MB/s at each level as a bar, hollow if no trial of it counts, with a mark at its own ceiling."""
    bars = []
    for level in levels_of(run):
        trials, valid = at_level(run, level)
        for i, name in enumerate(dict.fromkeys(n for t in trials for n in t.measurement.disks)):
            mine = [t.measurement.disks[name] for t in trials if name in t.measurement.disks]
            rate = mean(d.write_mb_per_s for d in mine)
            used = mean(d.used_percent for d in mine)
            if rate is not None and known(rate):
                bars.append((level, i, name, rate, 100 * rate / used if used else None, valid))
    if not bars:
        return ""
    ceiling = [(swatch("limit"), "ceiling of the disk (fio)")] if any(bar[4] for bar in bars) else []
    kinds = {("bar", "written by the disk") if bar[5] else ("invalid", "written; no trial counts") for bar in bars}
    block = '<rect x="2" y="-6" width="13" height="11" class="{}"/>'
    keys, above = legend([*((block.format(css), words) for css, words in sorted(kinds)), *ceiling], width, 8, 14)
    top = 1.12 * max(max(bar[3], bar[4] or 0.0) for bar in bars)
    groups = len({level for level, *_ in bars})
    frame = Frame.within((width, height + above), (54, 14, above + 34, 58), (0.0, float(groups)), (0.0, top))
    parts = [keys, axes(frame, [], "", "MB/s")]
    for at, level in enumerate(sorted({level for level, *_ in bars})):
        group = [b for b in bars if b[0] == level]
        step = 0.8 / len(group)
        for _, i, name, rate, own, valid in group:
            left, right = frame.x(at + 0.1 + i * step), frame.x(at + 0.1 + (i + 0.86) * step)
            title = f"{name} of {format_number(level)}: {rate:.1f} MB/s"
            parts.append(_bar(frame, (left, right), rate, own, title, "bar" if valid else "invalid"))
            parts.append(text((left + right) / 2, frame.y(0) + 15, name, "dim", "middle"))
        parts.append(text(frame.x(at + 0.5), frame.y(0) + 33, counted(level, "disk"), "", "middle"))
    label = "Written by each disk at each level, beside its ceiling"
    return drawing(width, frame.height, label, "".join(parts), "small")


def _bar(frame: Frame, ends: tuple[float, float], rate: float, own: float | None, title: str, css: str) -> str:
    (left, right), top, bottom = ends, frame.y(rate), frame.y(0)
    mark = ""
    if own is not None:
        y = frame.y(own)
        mark = f'<line x1="{left - 2:.1f}" x2="{right + 2:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="limit"/>'
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}" class="{css}">'
        f"<title>{title}</title></rect>{mark}"
    )
