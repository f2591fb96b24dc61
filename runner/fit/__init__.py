"""The curve through the VALID trials: points, models, which one the points support, and how sure that is.

`fit_curve` is the door. Pure: no I/O, no clock, no chance. Refuses to fit what is not VALID, to choose a model that the
points are too few for, and to claim a parameter, a peak or a knee that its own error swallows.
"""

from runner.fit.axis import rate_of
from runner.fit.curve import fit_curve, value_at
from runner.fit.models import rate_at
from runner.fit.words import pair, quantity

__all__ = ["fit_curve", "pair", "quantity", "rate_at", "rate_of", "value_at"]
