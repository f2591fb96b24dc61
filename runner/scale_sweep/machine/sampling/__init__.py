"""Reads counters of the machine once a second during a trial. They stay cumulative; rates are computed later.

Refuses to guess: a counter that cannot be read is None. The sampler's own cost is measured and stored with every trial.
"""

from scale_sweep.machine.sampling.host_reader import HostReader
from scale_sweep.machine.sampling.lock_waits import lock_waits
from scale_sweep.machine.sampling.sampler import Sampler

__all__ = ["HostReader", "Sampler", "lock_waits"]
