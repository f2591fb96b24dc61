"""Reads counters of the machine once a second during a trial."""

from scale_sweep.machine.sampling.host_reader import HostReader
from scale_sweep.machine.sampling.lock_waits import lock_waits
from scale_sweep.machine.sampling.sampler import Sampler

__all__ = ["HostReader", "Sampler", "lock_waits"]
