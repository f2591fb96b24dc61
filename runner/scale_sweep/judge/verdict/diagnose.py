"""Makes the verdict: is the number right; what was the bottleneck; was the rate steady?"""

from __future__ import annotations

from collections.abc import Mapping

from scale_sweep.base.units import counted, format_rate
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.verdict import thresholds as limit
from scale_sweep.judge.verdict.bottleneck import attribute, judge_standing, may_be_internal
from scale_sweep.judge.verdict.evidence import Evidence, LoadHalf
from scale_sweep.judge.verdict.rules.load import is_paused, unmet
from scale_sweep.judge.verdict.rules.server import uses
from scale_sweep.judge.verdict.steady import Steadiness, troubles
from scale_sweep.model.derived import NEW_PAGES, is_buffered
from scale_sweep.model.measured import Bottleneck, Measurement, Verdict, VerdictKind


def what_is_wrong(evidence: Evidence) -> list[tuple[VerdictKind, str]]:
    """The worst first."""
    m, integrity = evidence.measurement, evidence.integrity
    faults = [(VerdictKind.LOST_ROWS, reason) for reason in (integrity.miscounted, *integrity.gaps) if reason]
    faults += [(VerdictKind.WRONG_ROWS, reason) for reason in integrity.wrong_rows]
    faults += [(VerdictKind.WRONG_ANSWER, reason) for reason in integrity.wrong_answers]
    faults += [(VerdictKind.ERRORS, reason) for reason in (*integrity.mismatches, *integrity.suspicious)]
    if m.errors:
        faults.append((VerdictKind.ERRORS, f"{m.errors:,} of {counted(m.requests or 0, 'request')} failed"))
    has_some = m.rows or m.requests_per_s or not evidence.resources.is_counted
    if not has_some or evidence.window is None:
        faults.append((VerdictKind.ERRORS, f"no {evidence.resources.done} inside the window"))
    return faults + [(VerdictKind.ERRORS, reason) for reason in _beyond(evidence)]


def _beyond(evidence: Evidence) -> list[str]:
    disks = evidence.measurement.disks
    beyond = [name for name, disk in disks.items() if (disk.used_percent or 0.0) > limit.DISK_BEYOND_PERCENT]
    if not evidence.resources.prepared_disks or not beyond:
        return []
    return [f"{' and '.join(beyond)} wrote far more than its ceiling ({uses(disks)}): was its limit lifted?"]


def steadiness_of(evidence: Evidence) -> tuple[str, ...]:
    """Why the rate was not steady. Without answers, one that cannot be decided counts as unsteady: the network's
    buffers take the first rows."""
    m = evidence.measurement
    if m.rows_sent is not None and m.rate_drift_percent is None:
        too_short = f"the window of {m.window_s or 0:.3g} s is too short for a method without answers"
        return (f"{too_short}: its rate may be that of the network's buffers",)
    reasons = troubles(_figures(m), claims=evidence.claims)
    named = new_pages(evidence) if reasons else ""
    return (named, *reasons) if named else reasons


def _figures(m: Measurement) -> Steadiness:
    return Steadiness(
        intervals=round(m.window_s or 0.0),
        cv_percent=m.rate_cv_percent,
        drift_percent=m.rate_drift_percent,
        drift_error_percent=m.rate_drift_error_percent,
        correlation=m.rate_correlation,
        error_percent=m.rate_error_percent,
        halves_percent=m.rate_halves_percent,
    )


def cautions(evidence: Evidence) -> tuple[str, ...]:
    """About a steady rate: full buffers, two values instead of one, dearer pages."""
    m, sentences = evidence.measurement, []
    if is_buffered(evidence.commits_in_window):
        cycles = "only one" if evidence.commits_in_window else "no"
        sentences.append(f"{cycles} checkpoint (commit cycle) in the window; the durable rate includes it")
    if m.rate_low is not None and m.rate_high is not None:
        sentences.append(
            f"the rate alternates between {format_rate(m.rate_low)} and {format_rate(m.rate_high)} "
            f"{evidence.resources.unit}; the mean describes neither"
        )
    if m.steady_at_equal_speed:
        sentences.append(
            "the rate followed the speed of the CPUs, which other machines changed (by "
            f"{m.cpu_speed_cv_percent or 0:.0f} % from second to second); at an equal speed it was steady"
        )
    named = new_pages(evidence)
    if named and named not in steadiness_of(evidence):
        sentences.append(named)
    return tuple(sentences)


def caveats(evidence: Evidence) -> tuple[str, ...]:
    """Sentences for the end of the reasons."""
    m, sentences = evidence.measurement, [*cautions(evidence)]
    if evidence.contradiction:
        sentences.insert(0, evidence.contradiction)
    if m.rows_sent is not None:
        sentences.append(
            "the method has no answers, so no row was acknowledged and there are no response times: of "
            f"{counted(m.rows_sent, 'row')} sent the database counted {m.rows_counted or 0:,}; the rate uses that count"
        )
    sentences += [*evidence.hidden, *filter(None, [evidence.left_out])]
    if evidence.overdue:
        sentences.append(f"when the window ended, {counted(evidence.overdue, 'due request')} had no answer")
    sentences += filter(None, (evidence.warmup, evidence.transient))
    if evidence.resources.cut_units:
        sentences.append("below one a second was offered: whether the rate was steady is not judged")
    elif m.rate_drift_percent is None and (m.rows or m.requests_per_s):
        sentences.append("the window is too short to show whether the rate was steady")
    elif evidence.resources.is_by_cpu:
        sentences.append("the tool prints no progress: whether the rate was steady was judged by the server's CPU use")
    if not evidence.resources.is_counted:
        sentences.append("the tool's rate is not known: the verdict names only whose limit it was")
    if m.stalled_percent:
        sentences.append(f"the rate was under a tenth of its median for {m.stalled_percent:.0f} % of the window")
    if far := _far(evidence):
        sentences.append(far)
    most = limit.BUSIEST_NAMED * (m.server_cpu_cores or 0.0)
    if m.busiest_thread and m.busiest_thread_cores is not None and m.busiest_thread_cores < most:
        used = f"{m.busiest_thread_cores:.2f} cores together"
        sentences.append(f"of the server's threads, those named {m.busiest_thread} were busiest: {used}")
    if m.missed_ticks:
        sentences.append(f"the sampler missed {counted(m.missed_ticks, 'sample')}")
    return tuple(sentences)


def _far(evidence: Evidence) -> str:
    p50, trips = evidence.measurement.response_ms_p50, evidence.resources.round_trips_ms
    host = max(trips, key=lambda name: trips[name], default="")
    if not host or not p50 or trips[host] <= limit.ROUND_TRIP * p50:
        return ""
    return (
        f"a round trip between {host} and the server takes {trips[host]:.3g} ms, {100 * trips[host] / p50:.0f} % of "
        "the response time at p50"
    )


def diagnose(evidence: Evidence, axis: AxisFacts) -> Verdict:
    """The first step that finds something decides. Reasons that decide come first: a list shows the first alone."""
    if why := evidence.integrity.aborted or evidence.integrity.unfinished:
        return Verdict(kind=VerdictKind.ABORTED, reasons=(why,))
    wrong = what_is_wrong(evidence)
    standing, reasons, bottleneck = _bottleneck(evidence, axis)
    unsteady = steadiness_of(evidence) if axis.must_be_steady else ()
    internal = VerdictKind.UNSTEADY if unsteady else VerdictKind.SOFTWARE_BOTTLENECK
    noted = standing is VerdictKind.VALID  # its reasons then decide nothing
    steps = (*(kind for kind, _ in wrong), standing, *(VerdictKind.UNSTEADY for _ in unsteady))
    ordered = (*unsteady, *reasons) if noted else (*reasons, *unsteady)
    return Verdict(
        kind=next((kind for kind in steps if kind is not VerdictKind.VALID), VerdictKind.VALID),
        reasons=(*(reason for _, reason in wrong), *ordered, *caveats(evidence)),
        bottleneck=bottleneck,
        once_checked=internal if not wrong and _may_be_internal(evidence, axis, bottleneck) else None,
    )


def _may_be_internal(evidence: Evidence, axis: AxisFacts, bottleneck: Bottleneck | None) -> bool:
    window, resources = evidence.window, evidence.resources
    return window is not None and bottleneck is not None and may_be_internal(bottleneck.kind, window, resources, axis)


def _bottleneck(evidence: Evidence, axis: AxisFacts) -> tuple[VerdictKind, tuple[str, ...], Bottleneck | None]:
    window, resources = evidence.window, evidence.resources
    if window is None:  # the number is already wrong
        return VerdictKind.VALID, (), None
    standing, reasons = judge_standing(window, resources, axis)
    if not is_paused(window) and (unmet_rates := unmet(evidence.offered)):  # whatever the server's cause
        standing, reasons = VerdictKind.OFFERED_NOT_MET, (*unmet_rates, *reasons)
    return standing, reasons, attribute(window, evidence.seconds, resources, axis)


def new_pages(evidence: Evidence) -> str:
    """With the figures of both halves; "" if the cost of pages explains no change."""
    if evidence.halves is None:
        return ""
    first, second = evidence.halves
    if min(first.count, second.count, first.cpu_us, second.cpu_us) <= 0:
        return ""
    if min(first.page_faults, second.page_faults) < limit.PAGES_FAULTS_MIN or not _explains(first, second):
        return ""
    before, after = first.fault_us, second.fault_us
    change = 100 * (second.count / second.cpu_us / (first.count / first.cpu_us) - 1)
    return (
        f"{NEW_PAGES}: the server's system time per page fault {_moved(after - before)} from {before:.1f} to "
        f"{after:.1f} µs in the second half of the window, and its rate per CPU-second {_moved(change)} by "
        f"{abs(change):.0f} %"
    )


def new_pages_between(trials: Mapping[str, LoadHalf]) -> str:
    """With the cheapest and the dearest of a level's trials, by their ids; "" if the cost of pages explains nothing."""
    counted = {name: one for name, one in trials.items() if one.page_faults >= limit.PAGES_FAULTS_MIN}
    if len(counted) < 2 or any(min(one.count, one.cpu_us) <= 0 for one in counted.values()):
        return ""
    low, *_, high = sorted(counted, key=lambda name: counted[name].fault_us)
    cheap, dear = counted[low], counted[high]
    if not _explains(cheap, dear):
        return ""
    less = 100 * (1 - dear.count / dear.cpu_us / (cheap.count / cheap.cpu_us))
    return (
        f"{NEW_PAGES}: the server's system time per page fault was {cheap.fault_us:.1f} µs in {low} and "
        f"{dear.fault_us:.1f} µs in {high}, whose rate per CPU-second is {less:.0f} % lower"
    )


def _explains(first: LoadHalf, second: LoadHalf) -> bool:
    """A page costs clearly more, a row touches as many, and the system time is most of what a row costs more."""
    cheap, dear = sorted((first, second), key=lambda half: half.fault_us)
    is_dearer = dear.fault_us >= max(limit.PAGES_TIMES * cheap.fault_us, cheap.fault_us + limit.PAGES_MORE_US)
    fewer, more = sorted((first.page_faults / first.count, second.page_faults / second.count))
    extra = dear.cpu_us / dear.count - cheap.cpu_us / cheap.count
    in_system = dear.system_us / dear.count - cheap.system_us / cheap.count
    slows = 100 * extra >= limit.PAGES_RATE_PERCENT * dear.cpu_us / dear.count
    return is_dearer and more <= limit.PAGES_FAULTS * fewer and slows and in_system >= limit.PAGES_EXPLAIN * extra


def _moved(change: float) -> str:
    return "rose" if change > 0 else "fell"
