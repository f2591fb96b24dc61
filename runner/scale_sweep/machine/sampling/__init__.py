"""Reads counters of the machine once a second during a trial."""

from scale_sweep.machine.sampling.sampler import HostReader, Sampler
from scale_sweep.machine.sampling.waits import lock_waits

__all__ = ["HostReader", "Sampler", "lock_waits"]
