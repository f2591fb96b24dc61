"""Executes a plan on this machine: ceilings → disks → trials → fit → report. Stores every step.

`execute` runs an `Execution` and makes the order of each trial. `run_setup` measures the load generator and provides
data sets, `scale_sweep/measure/machine_setup.py` disks and memory. Refuses to choose, to plan and to check: the caller
has done that. Prints nothing and ends no process.
"""

from scale_sweep.measure.executing.execute import Execution, Sink, execute, report
from scale_sweep.measure.executing.place import Here, Place

__all__ = ["Execution", "Here", "Place", "Sink", "execute", "report"]
