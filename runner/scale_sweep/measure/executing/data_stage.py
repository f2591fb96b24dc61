"""The data sets of a run: which trials share one, and that none is left at the end. Each is loaded by the first trial
that needs it, so that what goes wrong is that trial's verdict, and the next one tries again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from scale_sweep.measure.trial.data_set import remove
from scale_sweep.measure.trial.order import DataSet
from scale_sweep.model import Plan, Trial
from scale_sweep.plan.data_sets import data_key, makers


@contextlib.contextmanager
def data_of_run(plan: Plan, run_id: str) -> Iterator[Callable[[Trial], DataSet | None]]:
    """Says of each trial which data set it gets a copy of, None: it loads its own rows. All are removed at the end."""
    by_key = makers(plan.trials)

    def name_of(key: str) -> str:
        return f"{run_id[-6:]}-data-{key}"

    def data_set(trial: Trial) -> DataSet | None:
        key = data_key(trial)
        return DataSet(name=name_of(key), maker=by_key.setdefault(key, trial)) if key else None

    try:
        yield data_set
    finally:
        for key in by_key:
            remove(name_of(key))
