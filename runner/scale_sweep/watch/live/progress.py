"""The progress of a sweep, and its remaining time. Pure: the current time is an argument."""

from __future__ import annotations

from dataclasses import dataclass

from scale_sweep.watch.live.state import LiveState


@dataclass(frozen=True, kw_only=True)
class Progress:
    """done_ratio: of the plan, 0..1, with a part for the running trial. remaining_s: an estimate."""

    done: int
    total: int
    done_ratio: float
    remaining_s: float


def progress(state: LiveState, now_ns: int) -> Progress:
    """The progress at now_ns (monotonic). Until a trial of this execution has ended, it uses the plan's own
    estimate."""
    total, done = state.total or len(state.plan.trials), len(state.results)
    each_s = _trial_s(state)
    elapsed_s = max(0.0, (now_ns - state.running.started_ns) / 1e9) if state.running else 0.0
    part = min(elapsed_s / each_s, 1.0) if state.running and each_s > 0 else 0.0
    return Progress(
        done=done,
        total=total,
        done_ratio=min((done + part) / total, 1.0) if total else 1.0,
        remaining_s=max(0.0, (total - done - part) * each_s),
    )


def _trial_s(state: LiveState) -> float:
    walls = [r.wall_s for r in state.results[state.before :] if r.wall_s > 0]
    if walls:
        return sum(walls) / len(walls)
    return state.plan.seconds_estimated / max(1, len(state.plan.trials))
