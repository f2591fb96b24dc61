"""Executes a plan on this machine: ceilings → disks → trials → fit → report. Stores every step.

`execute` runs an `Execution`. Refuses to choose, to plan and to check: the caller has done that. Prints nothing and
ends no process.
"""

from scale_sweep.measure.executing.execute import Sink, execute, report
from scale_sweep.measure.executing.orders import Execution

__all__ = ["Execution", "Sink", "execute", "report"]
