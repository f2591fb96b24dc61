"""The proofs of a run: intervals of their trials, causes in words, and a comparison with the rules and the next
level."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from scale_sweep.analysis.proof import more, proof_of
from scale_sweep.base.units import with_interval
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.model.fitted import PointSummary, StoredRun
from scale_sweep.model.measured import BottleneckKind, TrialResult
from scale_sweep.model.proof import RESOURCES, Disturbance, Elasticity, LevelProof, NextLevel, Proof, ProofInterval

Series = Sequence[tuple[float, Mapping[str, float | None]]]
EDGE_S = 0.06  # by which an interval of the load may reach into the next phase
LONGEST_S = 1.5  # of an interval: a longer one is of a load that stood still
LEFT_MIN = 1e-3  # of a resource
BY_RULES = {  # what rules may name where the resource limits; who else takes it is no contradiction
    "cpu": set(map(BottleneckKind, "SERVER_CPU QUOTA OTHER_PROCESSES HYPERVISOR THROTTLING SHARED_CPU".split())),
    "load": {BottleneckKind.GENERATOR_CPU, BottleneckKind.GENERATOR_CEILING},
    "disk": {BottleneckKind.DISK, BottleneckKind.DISK_WAITS, BottleneckKind.UNEVEN_DISKS},
    "clients": {BottleneckKind.CONNECTIONS},
    "memory": {BottleneckKind.MEMORY_BANDWIDTH},
}
NONE = "none of these"
TOO_LONG = "no interval of the load lies in one phase of 2 s; let the load report each second"
WITH_SHARED = {"cpu": {BottleneckKind.SHARED_CPU, BottleneckKind.GENERATOR_CPU}}  # of a load on the same CPUs


def proofs_of_run(run: StoredRun, axis: AxisFacts, rate: str, points: Sequence[PointSummary]) -> tuple[LevelProof, ...]:
    """rate: the column of the time series. points: of the fit, for the ratio of neighbouring levels."""
    made = []
    for result in run.results:
        trial = result.trial
        if not trial.disturbed or not result.verdict.kind.is_fitted:
            continue
        rows = run.disturbances.get(trial.trial_id, ())
        intervals = proof_intervals(run.timeseries.get(trial.trial_id, ()), rows, rate)
        why = _slow_commits(result, rows) if axis.is_durable else ""
        why = why or ("" if intervals else TOO_LONG)
        proof = Proof(reason=why) if why else proof_of(intervals, trial.disturbed)
        kind = rules_at(run, trial.level)
        causes = {one for cause in proof.causes for one in BY_RULES[cause]}
        if trial.placement.shared and "cpu" in proof.causes:
            causes |= WITH_SHARED["cpu"]
        made.append(
            LevelProof(
                level=trial.level,
                trial_id=trial.trial_id,
                proof=proof,
                sentence=proof_words(proof),
                rules=kind.value if kind is not None else "",
                differs=_differs(proof, trial.disturbed, kind, causes),
                next_level=_next_level(trial.level, proof, axis, points),
            )
        )
    return tuple(sorted(made, key=lambda one: one.level))


def _slow_commits(result: TrialResult, rows: Sequence[Disturbance]) -> str:
    """Why the server's disks had not to follow the disturbances; "" if a block has a commit cycle."""
    commits, window_s = result.measurement.commits, result.measurement.window_s or 0.0
    blocks: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        blocks[row.block] += [row.start_s, row.end_s]
    block_s = max((max(ends) - min(ends) for ends in blocks.values()), default=0.0)
    if commits is None or commits * block_s >= window_s:
        return ""
    cycle = f"{window_s / commits:.0f} s" if commits else f"more than {window_s:.0f} s"
    return f"a commit cycle took {cycle}; let it take at most {block_s:.0f} s, a block of disturbances"


def rules_at(run: StoredRun, level: float) -> BottleneckKind | None:
    """That of most of the level's trials."""
    kinds = [r.verdict.bottleneck.kind for r in run.on_curve if r.trial.level == level and r.verdict.bottleneck]
    return Counter(kinds).most_common(1)[0][0] if kinds else None


def _differs(proof: Proof, disturbed: Sequence[str], kind: BottleneckKind | None, causes: set[BottleneckKind]) -> bool:
    """A proof that decides nothing agrees with all; one without a cause, with all that it did not disturb."""
    if proof.reason or kind is None:
        return False
    if proof.causes:
        return kind not in causes
    return any(kind in BY_RULES[resource] for resource in disturbed)


def proof_intervals(series: Series, rows: Sequence[Disturbance], rate: str) -> tuple[ProofInterval, ...]:
    """The intervals of the load that are wholly in one phase, whose disturbances are all known."""
    phases: dict[tuple[float, float], list[Disturbance]] = defaultdict(list)
    for row in rows:
        phases[row.start_s, row.end_s].append(row)
    return tuple(_intervals([(t, values.get(rate)) for t, values in series if values.get(rate) is not None], phases))


def _intervals(
    rates: Sequence[tuple[float, float | None]], phases: Mapping[tuple[float, float], Sequence[Disturbance]]
) -> Iterator[ProofInterval]:
    for (before_s, _), (end_s, rate) in zip(rates, rates[1:], strict=False):
        inside = ((a, b) for a, b in phases if a - EDGE_S <= before_s and end_s <= b + EDGE_S)
        phase = next(inside, None)
        if phase is None or not rate or rate <= 0 or end_s - before_s > LONGEST_S:
            continue
        left = left_of(phases[phase], phase[1] - phase[0])
        if left is not None:
            block = phases[phase][0].block
            yield ProofInterval(at_s=end_s, seconds=end_s - before_s, block=block, rate=rate, left=left)


def left_of(rows: Sequence[Disturbance], seconds: float) -> dict[str, float] | None:
    """For each disturbed resource the logarithm of the share that is left; None if it is not known."""
    left = {}
    for resource in {row.resource for row in rows if row.place}:
        own = [row for row in rows if row.resource == resource]
        taken = [row.taken_s for row in own if row.taken_s is not None]
        total = seconds * sum(row.of for row in own)
        if len(taken) < len(own) or total <= 0:
            return None
        left[resource] = math.log(max(LEFT_MIN, 1 - sum(taken) / total))
    return left


def _next_level(level: float, proof: Proof, axis: AxisFacts, points: Sequence[PointSummary]) -> NextLevel | None:
    e = next((one for one in proof.elasticities if one.resource == axis.swept_resource), None)
    here = next((point for point in points if point.level == level), None)
    above = next((point for point in points if point.level > level), None)
    if e is None or here is None or above is None:
        return None
    predicted, low, high = more(e, above.level / level)
    of_pair = here is points[0] and above.speedup is not None  # a speedup is against the first level
    return NextLevel(
        level=above.level,
        predicted=predicted,
        predicted_low=low,
        predicted_high=high,
        measured=above.speedup if of_pair and above.speedup else above.rate_mean / here.rate_mean,
        measured_low=above.speedup_low if of_pair else None,
        measured_high=above.speedup_high if of_pair else None,
    )


def value_words(e: Elasticity) -> str:
    return with_interval(e.value, e.low, e.high)


def proof_words(proof: Proof) -> str:
    """ "proved: the server's CPUs, 0.97 (0.88 to 1.06)", after the level."""
    if proof.reason:
        return f"not decided: {proof.reason}"
    of = {one.resource: value_words(one) for one in proof.elasticities}
    named = [f"{RESOURCES[cause]}, {of[cause]}" for cause in proof.causes]
    if len(named) == 1:
        return f"proved: {named[0]}"
    if named:
        return f"{'two' if len(named) == 2 else len(named)} share it: {'; '.join(named)}"
    return f"{NONE} ({', '.join(RESOURCES[resource] for resource in of)}): the server waits inside, or for another one"
