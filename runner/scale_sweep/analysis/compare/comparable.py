"""Which runs can be compared at all: those whose levels and whose rates are of the same kind.

Refuses nothing that is only worth a caution: versions, settings and hosts may differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.base.errors import UsageError
from scale_sweep.model import StoredRun

_REMEDY = "scale list shows what the runs are"


def check_comparable(runs: Sequence[StoredRun]) -> None:
    """Raises UsageError for runs of different axes, or of rows/s and requests/s."""
    if len({run.plan.sweep.axis for run in runs}) > 1:
        raise UsageError("the runs do not sweep the same axis", remedy=_REMEDY)
    units = sorted({run.plan.sweep.work.rate_words for run in runs})
    if len(units) > 1:
        raise UsageError(f"the rates of the runs are not of one unit: {' and '.join(units)}", remedy=_REMEDY)
