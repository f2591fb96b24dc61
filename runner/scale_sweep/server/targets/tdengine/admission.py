"""Computes before the start what the mnode would refuse: vnodes, memory, ranges of the community edition."""

from __future__ import annotations

from scale_sweep.model import Finding, Trial
from scale_sweep.server.targets import Surroundings
from scale_sweep.server.targets.tdengine.config import config_items, database_options
from scale_sweep.server.targets.tdengine.refusals import refusals

_BOUNDS = {
    "vgroups": (1, 1024),
    "buffer": (3, 16384),
    "pages": (64, 2**31),
    "pagesize": (1, 16384),
    "comp": (0, 2),
    "wal_level": (1, 2),
    "wal_fsync_period": (0, 180000),
    "stt_trigger": (1, 1),
    "replica": (1, 1),
    "minrows": (10, 1_000_000),
    "maxrows": (200, 10_000_000),
    "tsdb_pagesize": (1, 16384),
}
RPC_THREADS_MAX = 10
COMMIT_THREADS_MAX = 256


def memory_needed_bytes(trial: Trial) -> int:
    options = database_options(trial)
    per_vgroup = (
        int(options.get("buffer", "256")) * 2**20
        + int(options.get("pages", "256")) * int(options.get("pagesize", "4")) * 2**10
    )
    return int(options["vgroups"]) * per_vgroup


def memory_allowed_bytes(trial: Trial, memory_bytes: int) -> int:
    limit = config_items(trial).get("rpcQueueMemoryAllowed")
    queue = int(limit) if limit else min(max(memory_bytes // 10, 100 * 2**20), 100 * 2**30)
    return memory_bytes - queue - 16 * 2**20


def figures(trial: Trial, memory_bytes: int) -> dict[str, str]:
    """The trial's use of the server's limits, for the plan; empty if a value is not a number."""
    try:
        needed, allowed = memory_needed_bytes(trial), memory_allowed_bytes(trial, memory_bytes)
        disk = disk_needed_bytes(trial)
    except ValueError:  # a finding names it
        return {}
    return {
        "vnodes": f"{trial.knobs['vgroups']} of supportVnodes {config_items(trial)['supportVnodes']}",
        "memory reserved by vgroups": f"{needed / 1e9:.1f} of {allowed / 1e9:.1f} GB that the server would admit",
        "free on the data's disk": f"at least {disk / 1e9:.1f} GB (minimalDataDirGB)",
    }


def disk_needed_bytes(trial: Trial) -> float:
    """The space that the trial needs. With less than minimalDataDirGB (default 2) free on dataDir, taosd refuses
    writes."""
    return float(config_items(trial).get("minimalDataDirGB", "2")) * 2**30


def findings(trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
    """Everything in this trial's settings that the server would refuse or silently change."""
    problems: list[Finding] = [f for f in (_range(name, value) for name, value in database_options(trial).items()) if f]
    problems += refusals(trial, around.explicit)
    # Memory and disk of a server elsewhere are unknown, and invalid values allow no computation.
    if trial.subject.endpoint or any(f.blocking for f in problems):
        return tuple(problems)
    problems += _memory(trial, around.memory_bytes)
    problems += _disk(trial, around.free_bytes)
    items = config_items(trial)
    if int(items["supportVnodes"]) > 4096 or int(items["supportVnodes"]) < int(trial.knobs["vgroups"]) + 1:
        problems.append(
            Finding(
                blocking=True,
                subject="--vgroups",
                sentence=f"{trial.knobs['vgroups']} vgroups need "
                f"supportVnodes above that; it is {items['supportVnodes']} (at most 4096)",
                remedy="lower --vgroups, or raise --knob supportVnodes=N",
            )
        )
    if int(items["numOfCommitThreads"]) > COMMIT_THREADS_MAX:
        problems.append(
            Finding(
                blocking=True,
                subject="--commit-threads",
                sentence=f"{items['numOfCommitThreads']} commit "
                f"threads: above {COMMIT_THREADS_MAX} taosd silently falls back to 4",
                remedy=f"at most {COMMIT_THREADS_MAX}",
            )
        )
    if int(items["numOfRpcThreads"]) > RPC_THREADS_MAX:
        problems.append(
            Finding(
                blocking=False,
                subject="--knob numOfRpcThreads",
                sentence=f"{items['numOfRpcThreads']} is accepted, but taosd uses {RPC_THREADS_MAX} at most",
            )
        )
    return tuple(problems)


def _range(name: str, value: str) -> Finding | None:
    if name not in _BOUNDS:
        return None
    low, high = _BOUNDS[name]
    if value.isdigit() and low <= int(value) <= high:
        return None
    why = " in the community edition" if name == "stt_trigger" else ""
    return Finding(
        blocking=True,
        subject=f"--{'vgroups' if name == 'vgroups' else 'knob ' + name}",
        sentence=f"{value} is not between {low} and {high}{why}",
        remedy="correct the value",
    )


def _disk(trial: Trial, free_bytes: int) -> list[Finding]:
    if free_bytes >= disk_needed_bytes(trial):
        return []
    return [
        Finding(
            blocking=True,
            subject="--data-dir",
            sentence=f"{free_bytes / 1e9:.1f} GB are free, taosd refuses writes below minimalDataDirGB "
            f"({disk_needed_bytes(trial) / 1e9:.1f} GB)",
            remedy="free some space, choose another disk with --data-dir, or lower --knob minimalDataDirGB=N",
        )
    ]


def _memory(trial: Trial, memory_bytes: int) -> list[Finding]:
    needed, allowed = memory_needed_bytes(trial), memory_allowed_bytes(trial, memory_bytes)
    if needed > allowed:
        return [
            Finding(
                blocking=True,
                subject="--vgroups",
                sentence=f"{trial.knobs['vgroups']} vgroups reserve "
                f"{needed / 1e9:.1f} GB, the server would admit {allowed / 1e9:.1f} GB",
                remedy="lower --vgroups, or --knob buffer=64",
            )
        ]
    limit = trial.resources.memory_bytes
    if limit and needed > 0.8 * limit:
        return [
            Finding(
                blocking=True,
                subject="--memory",
                sentence=f"{trial.knobs['vgroups']} vgroups reserve "
                f"{needed / 1e9:.1f} GB of the limit of {limit / 1e9:.1f} GB: taosd does not see the "
                "limit and would be killed",
                remedy="raise --memory, or lower --vgroups or --knob buffer=N",
            )
        ]
    return []
