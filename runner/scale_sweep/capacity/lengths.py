"""How long the loads of a search are, besides a step's own length, which the sweep says. Data only."""

from __future__ import annotations

from typing import Final

OPENING_S: Final = 5.0  # seconds of the closed loop that a search begins with, after its warm-up
WARMUP_S: Final = 1.0  # seconds of a step that are discarded: a queue below capacity settles in a fraction of that
BETWEEN_S: Final = 0.5  # seconds from the end of a step to the begin of the next one
