"""Executes a plan on this machine: ceilings → disks → trials → fit → report. Stores every step.

`execute` runs an `Execution`. `ceilings` measures the load generator, `run_setup` provides disks, data sets and memory,
`orders` makes the order of each trial. Refuses to choose, to plan and to check: the caller has done that. Prints
nothing and ends no process.
"""

from scale_sweep.measure.executing.execute import Sink, execute, report
from scale_sweep.measure.executing.orders import Execution

__all__ = ["Execution", "Sink", "execute", "report"]
