"""The disks' write rate as a mean with its range: the 5th to the 95th percentile of the seconds of the windows. Pure.

Published tables give such a range: a database writes in bursts, and a mean does not show them. Refuses a range of a few
seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.report.columns import disk_mb_per_s
from scale_sweep.report.figures import axis_facts
from scale_sweep.report.series import window_of
from scale_sweep.report.table import ABSENT, mean, short

SECONDS_MIN = 10
_RANGE_NOTE = "Parentheses beside the disk rate have the 5th to the 95th percentile of the windows' seconds."


def disk_words(run: StoredRun, trials: Sequence[TrialResult]) -> str:
    """MB/s: "85.0 (80.1–92.3)" over the trials; the mean alone without enough seconds."""
    average = mean(disk_mb_per_s(axis_facts(run), r.measurement) for r in trials)
    ends = disk_range(run, trials)
    return f"{short(average)} ({short(ends[0])}–{short(ends[1])})" if ends and average is not None else short(average)


def range_notes(cells: Iterable[str]) -> tuple[str, ...]:
    """The sentence that explains the ranges, if any of the cells has one."""
    return (_RANGE_NOTE,) if any("–" in cell.strip(ABSENT) for cell in cells) else ()


def disk_range(run: StoredRun, trials: Sequence[TrialResult]) -> tuple[float, float] | None:
    """The 5th and the 95th percentile in MB/s of the seconds of all windows together; None for fewer than
    SECONDS_MIN."""
    seconds: list[float] = []
    for result in trials:
        window = window_of(result)
        for t_s, values in run.timeseries.get(result.trial.trial_id, ()) if window else ():
            rate = values.get("disk_write_mb_per_s")
            if window and rate is not None and window[0] < t_s <= window[1]:
                seconds.append(rate)
    if len(seconds) < SECONDS_MIN:
        return None
    low, high = np.percentile(seconds, (5, 95))
    return float(low), float(high)
