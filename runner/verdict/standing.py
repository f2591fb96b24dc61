"""What a bottleneck makes of a number along an axis: its standing there, the verdict that follows, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping

from runner.axes import AxisFacts
from runner.model import LimitKind, Standing, VerdictKind
from runner.units import format_rate
from runner.verdict.bottleneck import findings, swept_words
from runner.verdict.evidence import Given, Use
from runner.verdict.rules import Found, is_met

# The verdict on a bottleneck that is neither what the axis varies nor the server's own. An open loop that was met is
# judged by what was offered alone, so that its number stands.
EXTERNAL: Mapping[LimitKind, VerdictKind] = {
    **dict.fromkeys(LimitKind, VerdictKind.RESOURCE_NOT_SATURATED),
    LimitKind.OFFERED_RATE: VerdictKind.VALID,
    LimitKind.GENERATOR_CEILING: VerdictKind.GENERATOR_BOUND,
    LimitKind.GENERATOR_CPU: VerdictKind.GENERATOR_BOUND,
    LimitKind.THROTTLING: VerdictKind.THROTTLED,
}


def verdict_of(kind: LimitKind, axis: AxisFacts) -> VerdictKind:
    """What the number is worth when this was the limit."""
    standing = axis.standings[kind].standing
    if standing is Standing.SWEPT:
        return VerdictKind.VALID
    return axis.own_verdict if standing is Standing.OWN else EXTERNAL[kind]


def judge_standing(use: Use, given: Given, axis: AxisFacts) -> tuple[VerdictKind, tuple[str, ...]]:
    """The verdict that the window's bottleneck leads to, with its reasons.

    An open loop that fell short is OFFERED_NOT_MET whatever kept it back; the limit says what that was.
    """
    if is_met(use, given) is False:
        offered, achieved = format_rate(given.offered_rows_per_s), format_rate(use.rows_per_s)
        return VerdictKind.OFFERED_NOT_MET, (f"{offered} rows/s offered, {achieved} achieved",)
    found = findings(use, given, axis)
    kind = verdict_of(found.bottleneck.kind, axis)
    told = [found.bottleneck] if kind is VerdictKind.VALID else list(found.overruling)
    if kind is not VerdictKind.VALID and (not told or found.first.kind is not LimitKind.UNKNOWN):
        told.append(found.first)
    return kind, tuple(reason for each in told for reason in _reasons(each, use, given, axis))


def _reasons(found: Found, use: Use, given: Given, axis: AxisFacts) -> tuple[str, ...]:
    """One sentence that joins how far the axis' own resource was used with what kept it from more."""
    if verdict_of(found.kind, axis) is VerdictKind.VALID and not found.noted:
        return ()
    used, opening = swept_words(use, given, axis), axis.standings[found.kind].reason
    if opening:
        return tuple(told for told in (f"{opening}: {found.sentence}", used) if told)
    if found.reason or not used or found.sentence.startswith(used):
        return (found.reason or found.sentence,)
    return (f"{used}{found.link}{found.sentence}",)
