"""Executes a plan on this machine: ceilings → disks → trials → fit → report. Stores every step.

`execute` runs an `Execution`. Refuses to choose, to plan and to check: the caller has done that. Prints nothing and
ends no process.
"""

from runner.executing.campaign import Sink
from runner.executing.execute import execute
from runner.executing.orders import Execution
from runner.executing.reporting import report

__all__ = ["Execution", "Sink", "execute", "report"]
