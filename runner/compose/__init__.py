"""Puts a run together: sweep → choice → plan → preflight → ceilings → campaign → fit → report.

The one place that knows all rooms. `execution` runs and stores what `preparing` has planned; `disks` and
`growth` are their parts of it. It holds no rule of its own, prints nothing and ends no process.
"""

from runner.compose.execution import asked_again, execute, new_run, reopen_run, reopen_to_report, report
from runner.preparing import Prepared, default_data_dir, prepare, prepare_again

__all__ = [
    "Prepared",
    "asked_again",
    "default_data_dir",
    "execute",
    "new_run",
    "prepare",
    "prepare_again",
    "reopen_run",
    "reopen_to_report",
    "report",
]
