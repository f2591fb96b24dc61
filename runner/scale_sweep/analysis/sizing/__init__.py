"""Sizes: the smallest level of a run that holds a rate, and the machines of a price list that have it."""

from scale_sweep.analysis.sizing.levels import ACCEPTED, level_need
from scale_sweep.analysis.sizing.machines import sized

__all__ = ["ACCEPTED", "level_need", "sized"]
