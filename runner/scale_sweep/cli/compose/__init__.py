"""Puts a run together: preparation, directory, execution.

Only this package imports all others. `runs` opens a run and executes it. It holds no rule of its own, prints nothing,
and ends no process.
"""

from scale_sweep.cli.compose.runs import asked_again, execute, new_run, reopen_run, reopen_to_report, stamped
from scale_sweep.measure.executing import report
from scale_sweep.plan.preparing import Prepared, default_data_dir, prepare, prepare_ab, prepare_again

__all__ = [
    "Prepared",
    "asked_again",
    "default_data_dir",
    "execute",
    "new_run",
    "prepare",
    "prepare_ab",
    "prepare_again",
    "reopen_run",
    "reopen_to_report",
    "report",
    "stamped",
]
