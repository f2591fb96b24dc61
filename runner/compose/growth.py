"""The growing part of a run: are the intervals narrow enough after a block? If not, one block more, within a limit."""

from __future__ import annotations

from collections.abc import Callable

from runner.executing import Grow
from runner.fit import rate_of
from runner.model import LevelInterval, Plan
from runner.noise import intervals, rates_of
from runner.plan import next_block
from runner.store.writer import RunWriter
from runner.units import format_number


def growth(writer: RunWriter, say: Callable[[str], None]) -> Grow | None:
    """What the campaign asks when a block is done; None for a sweep that does not grow."""
    wanted = writer.plan.sweep.until_ci_percent
    if wanted is None:
        return None

    def grow() -> Plan | None:
        found = intervals(rates_of(writer.results, rate_of(writer.plan.sweep.axis)))
        wide = [i for i in found if i.half_percent is None or i.half_percent > wanted]
        if not wide:
            say(f"every interval is within ± {wanted:g} %: enough replicates")
            return None
        grown = next_block(writer.plan, {(i.level, i.variant) for i in wide})
        still = f"intervals still wider than ± {wanted:g} % ({', '.join(map(_told, wide))})"
        if grown is None:
            most = writer.plan.sweep.replicates_max
            say(f"{still}, but {most} replicates are the limit (--replicates-max)")
            return None
        say(f"{still}: {len(grown.trials) - len(writer.plan.trials)} trials more")
        writer.update_plan(grown)
        return grown

    return grow


def _told(interval: LevelInterval) -> str:
    half = f"± {interval.half_percent:.1f} %" if interval.half_percent is not None else "unknown"
    name = f" {interval.variant}" if interval.variant else ""
    return f"{format_number(interval.level)}{name}: {half}"
