"""Samples a machine without any load: the files of a trial, events for the same sinks. Refuses to start or stop a
server, and to judge what it saw.
"""

from scale_sweep.measure.observing.record import Observation, Watched, record
from scale_sweep.measure.observing.subject import accounting_of, plan_of

__all__ = ["Observation", "Watched", "accounting_of", "plan_of", "record"]
