"""Who was the limit, level by level, and what to change so that a trial that does not count would. Pure."""

from __future__ import annotations

from collections import Counter

from runner.model import LimitKind, StoredRun, TrialResult, VerdictKind
from runner.report.figures import axis_name, levels_of
from runner.report.table import ABSENT, Table
from runner.units import format_number

NAMES = {
    LimitKind.SERVER_CPU: "server's cores",
    LimitKind.QUOTA: "server's CPU quota",
    LimitKind.THROTTLING: "foreign CPU quota",
    LimitKind.GENERATOR_CEILING: "generator's ceiling",
    LimitKind.GENERATOR_CPU: "generator's CPUs",
    LimitKind.SHARED_CPU: "generator on the server's CPUs",
    LimitKind.OTHER_PROCESSES: "other processes",
    LimitKind.HYPERVISOR: "hypervisor",
    LimitKind.CONNECTIONS: "connections",
    LimitKind.HOT_THREAD: "one hot thread",
    LimitKind.DISK: "disk",
    LimitKind.DISK_WAITS: "waits for a disk",
    LimitKind.UNEVEN_DISKS: "disks used unevenly",
    LimitKind.MEMORY: "memory",
    LimitKind.MEMORY_BANDWIDTH: "memory bandwidth",
    LimitKind.STALL: "stall",
    LimitKind.NETWORK: "network",
    LimitKind.LOCKS: "locks of the server",
    LimitKind.OFFERED_RATE: "offered rate",
    LimitKind.UNREAD: "not read",
    LimitKind.UNKNOWN: "not known",
}
BY_VERDICT = {  # what no limit explains: the number is wrong, or no number of one state
    VerdictKind.UNSTEADY: "a longer --warmup or --window-max, on a machine that does nothing else",
    VerdictKind.OFFERED_NOT_MET: "a lower --rate, or more cores",
    VerdictKind.ERRORS: "see the reasons and the end of the server's log (trials/<id>/server.log)",
    VerdictKind.LOST_ROWS: "see the end of the server's log (trials/<id>/server.log): no setting helps",
    VerdictKind.ABORTED: "see the server's last words in the reasons, and repeat the sweep",
}
_NO_COUNTERS = (
    "Memory bandwidth is not distinguished from the server's CPU: the kernel gave no hardware counters (cycles, "
    "instructions, misses of the last-level cache), and a core that waits for memory counts as busy."
)
SHOWN_SHARE = 10.0  # percent of the seconds


def limits_table(run: StoredRun) -> Table:
    """One row per level: the limit of most trials, how its seconds were shared out, and what to change."""
    rows = tuple(_row(run, level) for level in levels_of(run))
    headers = (axis_name(run), "Limit", "Second by second", "Figures", "To move it")
    return Table(title="Who was the limit", headers=headers, rows=rows, words=(1, 2, 3, 4))


def limit_notes(run: StoredRun) -> tuple[str, ...]:
    """What the named limits cannot tell apart."""
    full = [r for r in run.on_curve if r.verdict.limit and r.verdict.limit.kind is LimitKind.SERVER_CPU]
    if all(r.measurement.server_cycles_per_miss is not None for r in full):
        return ()
    return (_NO_COUNTERS,)


def _row(run: StoredRun, level: float) -> tuple[str, ...]:
    trials = [r for r in run.on_curve if r.trial.level == level and r.verdict.limit is not None]
    kinds = Counter(r.verdict.limit.kind for r in trials if r.verdict.limit)
    if not kinds:
        return format_number(level), ABSENT, ABSENT, ABSENT, ABSENT
    kind, count = kinds.most_common(1)[0]
    first = next(r.verdict.limit for r in trials if r.verdict.limit and r.verdict.limit.kind is kind)
    name = NAMES[kind] + (f" ({count} of {len(trials)} trials)" if count < len(trials) else "")
    return format_number(level), name, _shares(trials), first.sentence, first.remedy or ABSENT


def _shares(trials: list[TrialResult]) -> str:
    totals: Counter[str] = Counter()
    for result in trials:
        totals.update(dict(result.verdict.limit.shares) if result.verdict.limit else {})
    told = [
        f"{NAMES[LimitKind(kind)]} {share / len(trials):.0f} %"
        for kind, share in totals.most_common()
        if share / len(trials) >= SHOWN_SHARE
    ]
    return ", ".join(told) or ABSENT


def remedies(run: StoredRun) -> tuple[str, ...]:
    """For the trials that are not fitted: why, how many, and what to change, most frequent first."""
    out = [r for r in run.on_curve if not r.verdict.kind.is_fitted]
    return tuple(f"{n} × {what}" for what, n in Counter(map(_remedy, out)).most_common())


def _remedy(result: TrialResult) -> str:
    kind, limit = result.verdict.kind, result.verdict.limit
    if kind in BY_VERDICT:
        return f"{kind.value}: {BY_VERDICT[kind]}"
    if limit is None or limit.kind is LimitKind.UNKNOWN:
        return f"{kind.value}: see the trial's reasons"
    return f"{kind.value}, limited by {NAMES[limit.kind]}" + (f": {limit.remedy}" if limit.remedy else "")
