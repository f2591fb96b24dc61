"""Puts a run together: sweep → choice → plan → preflight → execution.

The one place that knows all rooms. `prepared` plans for this machine, `runs` opens a run and has it executed, `growth`
says when it is large enough. It holds no rule of its own, prints nothing and ends no process.
"""

from runner.compose.prepared import Prepared, default_data_dir, prepare, prepare_again
from runner.compose.runs import asked_again, execute, new_run, reopen_run, reopen_to_report
from runner.executing import report

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
