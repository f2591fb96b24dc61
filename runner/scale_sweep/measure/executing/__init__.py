"""Executes a plan on this machine: ceilings → disks → trials → fit → report."""

from scale_sweep.measure.executing.execute import Execution, Sink, execute, report
from scale_sweep.measure.executing.place import Here, Place

__all__ = ["Execution", "Here", "Place", "Sink", "execute", "report"]
