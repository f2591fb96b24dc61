"""The bottleneck of each level, and what to change so that a trial that is not fitted would be."""

from __future__ import annotations

import re
from collections import Counter

from scale_sweep.base.texts import alike
from scale_sweep.base.units import counted, format_number
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import BottleneckKind, TrialResult, VerdictKind
from scale_sweep.model.proof import RESOURCES
from scale_sweep.report.figures import axis_name, fit_of, levels_of
from scale_sweep.report.table import ABSENT, Table

NAMES = {
    BottleneckKind.SERVER_CPU: "server's cores",
    BottleneckKind.QUOTA: "server's CPU quota",
    BottleneckKind.THROTTLING: "foreign CPU quota",
    BottleneckKind.GENERATOR_CEILING: "load generator's ceiling",
    BottleneckKind.GENERATOR_CPU: "load generator's CPUs",
    BottleneckKind.GENERATOR_LATE: "load generator's lateness",
    BottleneckKind.SHARED_CPU: "load generator on the server's CPUs",
    BottleneckKind.OTHER_PROCESSES: "other processes",
    BottleneckKind.HYPERVISOR: "hypervisor",
    BottleneckKind.CONNECTIONS: "connections",
    BottleneckKind.HOT_THREAD: "one hot thread",
    BottleneckKind.DISK: "disk",
    BottleneckKind.DISK_WAITS: "waits for a disk",
    BottleneckKind.UNEVEN_DISKS: "disks used unevenly",
    BottleneckKind.MEMORY: "memory",
    BottleneckKind.MEMORY_BANDWIDTH: "memory bandwidth",
    BottleneckKind.STALL: "stall",
    BottleneckKind.NETWORK: "network",
    BottleneckKind.LOCKS: "locks of the server",
    BottleneckKind.OFFERED_RATE: "offered rate",
    BottleneckKind.UNREAD: "not read",
    BottleneckKind.UNKNOWN: "not known",
}
BY_VERDICT = {  # no bottleneck explains these: the number is wrong, or belongs to more than one state
    VerdictKind.UNSTEADY: "a longer --warmup or --window-max, on a machine that does nothing else",
    VerdictKind.OFFERED_NOT_MET: "a lower --rate, or more cores",
    VerdictKind.ERRORS: "see the reasons and the end of the server's log (trials/<id>/server.log)",
    VerdictKind.LOST_ROWS: "see the end of the server's log (trials/<id>/server.log): no setting helps",
    VerdictKind.WRONG_ROWS: "see the reasons: the sums of the stored rows, and the right ones; no setting helps",
    VerdictKind.WRONG_ANSWER: "see the reasons: the query, its answer and the right answer; no setting helps",
    VerdictKind.ABORTED: "see the last messages of the server in the reasons, and repeat the sweep",
}
_FULL = re.compile(r"\b(is full|about to fill)\b|[Nn]o (space left|enough disk space)|0x012E", re.IGNORECASE)
_LARGER = "larger disks (--loop, --dir, --data-dir), or fewer --rows"
BY_VERDICT_OF_SEARCH = {  # a search without a capacity
    VerdictKind.UNSTEADY: "longer steps (--duration), on a machine that does nothing else",
    VerdictKind.OFFERED_NOT_MET: "a higher limit (--slo), or a larger level",
}
_NO_COUNTERS = (
    "Memory bandwidth is not distinguished from the server's CPU: the kernel gave no hardware counters (cycles, "
    "instructions, misses of the last-level cache), and a core that waits for memory counts as busy."
)
SHOWN_SHARE = 10.0  # percent of the seconds


def bottlenecks_table(run: StoredRun) -> Table:
    rows = tuple(_row(run, level) for level in levels_of(run))
    headers = (axis_name(run), "Bottleneck", "Share of the seconds", "Figures", "To go faster")
    return Table(title="Bottlenecks", headers=headers, rows=rows, words=(1, 2, 3, 4))


def bottleneck_notes(run: StoredRun) -> tuple[str, ...]:
    full = [r for r in run.on_curve if r.verdict.bottleneck and r.verdict.bottleneck.kind is BottleneckKind.SERVER_CPU]
    return (_NO_COUNTERS,) if any(r.measurement.server_cycles_per_miss is None for r in full) else ()


def _row(run: StoredRun, level: float) -> tuple[str, ...]:
    trials = [r for r in run.on_curve if r.trial.level == level and r.verdict.bottleneck is not None]
    kinds = Counter(r.verdict.bottleneck.kind for r in trials if r.verdict.bottleneck)
    proved = next((one for one in fit_of(run).proofs if one.level == level and one.differs), None)
    if not kinds:
        return format_number(level), ABSENT, ABSENT, ABSENT, ABSENT
    kind, count = kinds.most_common(1)[0]
    of_kind = [r.verdict.bottleneck for r in trials if r.verdict.bottleneck and r.verdict.bottleneck.kind is kind]
    _, figures = alike(one.sentence for one in of_kind)[0]
    name = NAMES[kind] + (f" ({count} of {counted(len(trials), 'trial')})" if count < len(trials) else "")
    if proved is not None:
        name = f"{', '.join(RESOURCES[cause] for cause in proved.proof.causes) or 'inside the server'} (by proof)"
        return format_number(level), name, _shares(trials), f"by the rules, {NAMES[kind]}: {figures}", ABSENT
    return format_number(level), name, _shares(trials), figures, of_kind[0].remedy or ABSENT


def _shares(trials: list[TrialResult]) -> str:
    totals: Counter[str] = Counter()
    for result in trials:
        totals.update(dict(result.verdict.bottleneck.shares) if result.verdict.bottleneck else {})
    shares = [
        f"{NAMES[BottleneckKind(kind)]} {share / len(trials):.0f} %"
        for kind, share in totals.most_common()
        if share / len(trials) >= SHOWN_SHARE
    ]
    return ", ".join(shares) or ABSENT


def remedies(run: StoredRun) -> tuple[str, ...]:
    """Remedies for trials that are not fitted, the most frequent first."""
    out = [r for r in run.on_curve if not r.verdict.kind.is_fitted]
    return tuple(f"{n} × {what}" for what, n in Counter(map(_remedy, out)).most_common())


def _remedy(result: TrialResult) -> str:
    kind, bottleneck = result.verdict.kind, result.verdict.bottleneck
    if kind is VerdictKind.ABORTED and any(map(_FULL.search, result.verdict.reasons)):
        return f"{kind.value}: {_LARGER}"
    of_kind = BY_VERDICT | BY_VERDICT_OF_SEARCH if result.trial.load.searches else BY_VERDICT
    if kind in of_kind:
        return f"{kind.value}: {of_kind[kind]}"
    if bottleneck is None or bottleneck.kind is BottleneckKind.UNKNOWN:
        return f"{kind.value}: see the trial's reasons"
    remedy = f": {bottleneck.remedy}" if bottleneck.remedy else ""
    return f"{kind.value}, bottleneck: {NAMES[bottleneck.kind]}{remedy}"
