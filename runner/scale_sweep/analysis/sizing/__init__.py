"""Sizes: the smallest level of a run that holds a rate, and the machines of a price list that have it. Pure.

`level_need` reads a run, `sized` puts runs and a price list together. Refuses to go beyond what the fit allows: the
answer then is the measurement that settles the question. Refuses to judge a price.
"""

from scale_sweep.analysis.sizing.levels import ACCEPTED, level_need
from scale_sweep.analysis.sizing.machines import sized

__all__ = ["ACCEPTED", "level_need", "sized"]
