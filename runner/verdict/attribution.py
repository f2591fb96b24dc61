"""Who was the limit of a trial: the rules on the whole window, and on each of its seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from runner.model import Limit
from runner.verdict.rules import limit_of
from runner.verdict.use import Given, Use


def attribute(window: Use, seconds: Sequence[Use], given: Given) -> Limit:
    """The limit over the window, with the share of its seconds that each kind takes."""
    counts = Counter(limit_of(second, given).kind.value for second in seconds)
    shares = {kind: 100 * count / len(seconds) for kind, count in counts.most_common()}
    return replace(limit_of(window, given), shares=shares)
