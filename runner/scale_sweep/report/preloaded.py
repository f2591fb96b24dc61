"""The rows that were there before each load: their size, how they were loaded, what of them was in memory."""

from __future__ import annotations

from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.report.table import mean, short

AT_REST = "at_rest"  # among the settings of a trial: how its server knows that it is at rest


def preload_words(run: StoredRun) -> list[str]:
    """Sentences for each database; none where nothing was loaded before."""
    found: dict[str, list[TrialResult]] = {}
    for result in run.results:
        if result.measurement.preload_rows:
            found.setdefault(result.trial.subject.target, []).append(result)
    several = len(found) > 1
    return [f"{target}: {words}" if several else words for target, some in found.items() for words in _words(some)]


def _words(results: list[TrialResult]) -> list[str]:
    first = results[0].measurement
    told = [f"{first.preload_rows or 0:,} rows were there before each load{_size(results[0])}."]
    copies = [r.measurement for r in results if r.measurement.preload_copied]
    if copies:
        seconds, way = mean(m.preload_copy_s for m in copies), copies[0].preload_copied
        told.append(
            f"They were loaded once, in {short(first.preload_s)} s; {len(copies)} trials got a {way} of the files, in "
            f"{short(seconds)} s each."
        )
    else:
        told.append(f"Each trial loaded them, in {short(mean(r.measurement.preload_s for r in results))} s.")
    cached = [r.measurement.preload_cached_percent for r in results]
    if any(share is not None for share in cached):
        cache = results[0].trial.work.cache
        told.append(f"{short(mean(cached))} % of the files were in the page cache just before the load ({cache}).")
    return told


def _size(result: TrialResult) -> str:
    m = result.measurement
    if m.preload_bytes_per_row is None:
        return ""
    rest = result.effective.get(AT_REST, "")
    raw = f" for {short(m.preload_raw_bytes_per_row)} bytes of values" if m.preload_raw_bytes_per_row else ""
    ratio = f" (compression ratio {short(m.preload_compression)})" if m.preload_compression else ""
    log = f", and {short(m.preload_log_gb)} GB of log" if m.preload_log_gb is not None else ""
    size = f": {short(m.preload_gb)} GB on disk, {short(m.preload_bytes_per_row)} bytes a row{raw}{ratio}"
    return f"{size}{log}, when the server was at rest" + (f" ({rest})" if rest else "")
