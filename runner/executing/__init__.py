"""A plan, run on this machine: ceilings → disks → the campaign's trials → fit → report, stored at every step.

`execute` is the door, `Execution` what it is told. Refuses to choose, to plan and to check: all of that has been done.
Prints nothing and ends no process.
"""

from runner.executing.campaign import Sink
from runner.executing.execute import execute
from runner.executing.orders import Execution
from runner.executing.reporting import report

__all__ = ["Execution", "Sink", "execute", "report"]
