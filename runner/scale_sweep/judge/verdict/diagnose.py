"""Makes the verdict of one evidence in three steps: is the number right; what was the bottleneck, and what does it mean
on this axis; was the rate steady.

Verdict and bottleneck come from the same finding, so they cannot contradict each other. Refuses to use anything but its
arguments, and to know an axis by its name.
"""

from __future__ import annotations

from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.verdict.bottleneck import attribute
from scale_sweep.judge.verdict.caveats import caveats
from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.judge.verdict.integrity import what_is_wrong
from scale_sweep.judge.verdict.rules import unmet
from scale_sweep.judge.verdict.standing import judge_standing, may_be_internal
from scale_sweep.judge.verdict.steadiness import steadiness_of
from scale_sweep.model import Bottleneck, Verdict, VerdictKind


def diagnose(evidence: Evidence, axis: AxisFacts) -> Verdict:
    """The first step that finds something decides the verdict. All reasons are kept, those that decide first, since a
    list shows the first one alone; the caveats follow.

    An aborted trial has no figures, and so no bottleneck.
    """
    if why := evidence.integrity.aborted or evidence.integrity.unfinished:
        return Verdict(kind=VerdictKind.ABORTED, reasons=(why,))
    wrong = what_is_wrong(evidence)
    standing, reasons, bottleneck = _bottleneck(evidence, axis)
    unsteady = steadiness_of(evidence) if axis.must_be_steady else ()
    internal = VerdictKind.UNSTEADY if unsteady else VerdictKind.SOFTWARE_BOTTLENECK
    noted = standing is VerdictKind.VALID  # its reasons then decide nothing
    steps = (*(kind for kind, _ in wrong), standing, *(VerdictKind.UNSTEADY for _ in unsteady))
    found = (*unsteady, *reasons) if noted else (*reasons, *unsteady)
    return Verdict(
        kind=next((kind for kind in steps if kind is not VerdictKind.VALID), VerdictKind.VALID),
        reasons=(*(reason for _, reason in wrong), *found, *caveats(evidence)),
        bottleneck=bottleneck,
        once_checked=internal if not wrong and _may_be_internal(evidence, axis, bottleneck) else None,
    )


def _may_be_internal(evidence: Evidence, axis: AxisFacts, bottleneck: Bottleneck | None) -> bool:
    """Whether the server left idle what the level gives, for a reason that may be inside it."""
    window, given = evidence.window, evidence.given
    return window is not None and bottleneck is not None and may_be_internal(bottleneck.kind, window, given, axis)


def _bottleneck(evidence: Evidence, axis: AxisFacts) -> tuple[VerdictKind, tuple[str, ...], Bottleneck | None]:
    window, given = evidence.window, evidence.given
    if window is None:  # without one, the number is already wrong
        return VerdictKind.VALID, (), None
    standing, reasons = judge_standing(window, given, axis)
    if told := unmet(evidence.offered):  # whatever the cause, which the bottleneck names
        standing, reasons = VerdictKind.OFFERED_NOT_MET, (*told, *reasons)
    return standing, reasons, attribute(window, evidence.seconds, given, axis)
