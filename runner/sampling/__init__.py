"""Counters of the machine while a trial runs: read once a second, kept cumulative, made into rates later.

Refuses to guess: a counter that cannot be read is None. Its own cost is measured and stored with every trial.
"""

from runner.sampling.lock_waits import lock_waits
from runner.sampling.sampler import Sampler

__all__ = ["Sampler", "lock_waits"]
