"""Mistakes of settings: what taosd ignores or changes, and what the mnode would refuse."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from scale_sweep.model.planned import Finding, Trial
from scale_sweep.server.targets import Surroundings
from scale_sweep.server.targets.records import blocking, wrong_input
from scale_sweep.server.targets.tdengine.config import (
    FORMER,
    ITEM_BOUNDS,
    ITEMS,
    OURS,
    config_items,
    database_options,
    precision,
    spelled,
)
from scale_sweep.server.targets.tdengine.dialect import DATABASE_OPTIONS, ONE_COLUMN, UNITS_PER_MS
from scale_sweep.server.targets.tdengine.genuine import METHODS as GENUINE_METHODS
from scale_sweep.server.targets.tdengine.tdengine_facts import ROLE_KNOBS

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
_FINEST = {"sml-telnet": "ms", "sml-json": "us"}
_WORDS = {"precision": ("ms", "us", "ns"), "cachemodel": ("none", "last_row", "last_value", "both")}
_CORRECT = "correct the value"


def memory_needed_bytes(trial: Trial) -> int:
    options = database_options(trial)
    pages = int(options.get("pages", "256")) * int(options.get("pagesize", "4")) * 2**10
    return int(options["vgroups"]) * (int(options.get("buffer", "256")) * 2**20 + pages)


def memory_allowed_bytes(trial: Trial, memory_bytes: int) -> int:
    limit = config_items(trial).get("rpcQueueMemoryAllowed")
    queue = int(limit) if limit else min(max(memory_bytes // 10, 100 * 2**20), 100 * 2**30)
    return memory_bytes - queue - 16 * 2**20


def figures(trial: Trial, memory_bytes: int) -> dict[str, str]:
    """Empty if a value is not a number."""
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
    """With less than minimalDataDirGB (default 2) free on dataDir, taosd refuses writes."""
    return float(config_items(trial).get("minimalDataDirGB", "2")) * 2**30


def findings(trial: Trial, around: Surroundings) -> tuple[Finding, ...]:
    problems = [*_ranges(trial), *refusals(trial, around.explicit)]
    # Memory and disk of a server elsewhere are unknown, and invalid values allow no computation.
    if not trial.subject.endpoint and not any(f.blocking for f in problems):
        problems += [*_room(trial, around), *_threads(trial)]
    return tuple(problems)


def refusals(trial: Trial, explicit: frozenset[str]) -> tuple[Finding, ...]:
    return (*_knobs(trial, explicit), *_values(trial), *_work(trial), *_load_generator(trial, explicit))


def _ranges(trial: Trial) -> Iterator[Finding]:
    for name, value in database_options(trial).items():
        low, high = _BOUNDS.get(name, (0, 0))
        if name in _BOUNDS and not (value.isdigit() and low <= int(value) <= high):
            why = " in the community edition" if name == "stt_trigger" else ""
            flag = f"--{'vgroups' if name == 'vgroups' else 'knob ' + name}"
            yield wrong_input(flag, f"{value} is not between {low} and {high}{why}", _CORRECT)


def _room(trial: Trial, around: Surroundings) -> Iterator[Finding]:
    needed, allowed = memory_needed_bytes(trial), memory_allowed_bytes(trial, around.memory_bytes)
    reserve = f"{trial.knobs['vgroups']} vgroups reserve {needed / 1e9:.1f} GB"
    limit = trial.resources.memory_bytes
    if needed > allowed:
        sentence = f"{reserve}, the server would admit {allowed / 1e9:.1f} GB"
        yield blocking("--vgroups", sentence, "lower --vgroups, or --knob buffer=64")
    elif limit and needed > 0.8 * limit:
        yield blocking(
            "--memory",
            f"{reserve} of the limit of {limit / 1e9:.1f} GB: taosd does not see the limit and would be killed",
            "raise --memory, or lower --vgroups or --knob buffer=N",
        )
    if around.free_bytes < disk_needed_bytes(trial):
        yield blocking(
            "--data-dir",
            f"{around.free_bytes / 1e9:.1f} GB are free, taosd refuses writes below minimalDataDirGB "
            f"({disk_needed_bytes(trial) / 1e9:.1f} GB)",
            "free some space, choose another disk with --data-dir, or lower --knob minimalDataDirGB=N",
        )


def _threads(trial: Trial) -> Iterator[Finding]:
    items, vgroups = config_items(trial), trial.knobs["vgroups"]
    vnodes, commits, rpc = (items[f] for f in ("supportVnodes", "numOfCommitThreads", "numOfRpcThreads"))
    if int(vnodes) > 4096 or int(vnodes) < int(vgroups) + 1:
        sentence = f"{vgroups} vgroups need supportVnodes above that; it is {vnodes} (at most 4096)"
        yield wrong_input("--vgroups", sentence, "lower --vgroups, or raise --knob supportVnodes=N")
    if int(commits) > COMMIT_THREADS_MAX:
        sentence = f"{commits} commit threads: above {COMMIT_THREADS_MAX} taosd silently falls back to 4"
        yield wrong_input("--commit-threads", sentence, f"at most {COMMIT_THREADS_MAX}")
    if int(rpc) > RPC_THREADS_MAX:
        sentence = f"{rpc} is accepted, but taosd uses {RPC_THREADS_MAX} at most"
        yield Finding(blocking=False, subject="--knob numOfRpcThreads", sentence=sentence)


def _knobs(trial: Trial, explicit: frozenset[str]) -> Iterator[Finding]:
    free = [k for k in trial.knobs if k not in ROLE_KNOBS and k.lower() not in DATABASE_OPTIONS]
    yield from (finding for knob in free if (finding := _named(knob)))
    if trial.subject.endpoint:
        flags = [f"--knob {name}" for name in free]
        for name in [*flags, *(["--commit-threads"] if "knobs.commit_threads" in explicit else [])]:
            yield wrong_input(
                name,
                "an item of taos.cfg, and a server that already runs is not reconfigured",
                "leave it out, or let scale start the server (--runtime docker or process)",
            )


def _named(knob: str) -> Finding | None:
    name, flag = spelled(knob), f"--knob {knob}"
    if name in OURS:
        sentence = "the trial decides where the server is and where its data go"
        return wrong_input(flag, sentence, "leave it out; --port and --data-dir set it")
    if name in ITEMS:
        return None
    alike = (option for option in DATABASE_OPTIONS if option.replace("_", "") == knob.lower())
    if close := FORMER.get(knob.lower()) or next(alike, ""):
        sentence = f"not an item of taos.cfg: taosd ignores it; 3.3 has {close} instead, an option of CREATE DATABASE"
        return wrong_input(flag, sentence, f"--knob {close}=VALUE")
    if near := difflib.get_close_matches(knob, (*ITEMS, *DATABASE_OPTIONS), n=1, cutoff=0.75):
        sentence = "neither in taos.cfg nor in CREATE DATABASE: taosd would ignore it"
        return wrong_input(flag, sentence, f"--knob {near[0]}=VALUE")
    return Finding(
        blocking=False,
        subject=flag,
        sentence="not an item of taos.cfg of 3.3.0.0: a server that does not list it ignores it, and its trials fail",
        remedy="correct the name",
    )


def _values(trial: Trial) -> Iterator[Finding]:
    for name, value in config_items(trial).items():
        if name in ITEM_BOUNDS and not _within(value, *ITEM_BOUNDS[name]):
            sentence = f"{value} is not {_wanted(*ITEM_BOUNDS[name])}: taosd would not start"
            yield wrong_input(f"--knob {name}", sentence, _CORRECT)
    for name, value in database_options(trial).items():
        if name in _WORDS and value.strip("'").lower() not in _WORDS[name]:
            yield wrong_input(f"--knob {name}", f"{value} is not one of {', '.join(_WORDS[name])}", _CORRECT)


def _wanted(low: float, high: float) -> str:
    kind = "a whole number" if isinstance(low, int) else "a number"
    return f"{kind} of at least {low}" if high > 2**62 else f"{kind} from {low} to {high:.0f}"


def _within(value: str, low: float, high: float) -> bool:
    try:
        return low <= (int(value) if isinstance(low, int) else float(value)) <= high
    except ValueError:
        return False


def _work(trial: Trial) -> Iterator[Finding]:
    data, method, load = trial.work.data, trial.subject.method, trial.load
    tables, vgroups, columns = data.tables, trial.knobs["vgroups"], len(data.columns)
    if load.is_ours and load.table_placement == "owned" and vgroups.isdigit() and tables < int(vgroups):
        sentence = f"{tables} tables cannot fill {vgroups} vgroups"
        yield wrong_input("--tables", sentence, "more --tables, or fewer --vgroups")
    if method in ONE_COLUMN and columns > 1:
        yield wrong_input("--method", f"{method} writes one column, there are {columns}", "--columns value:double")
    finest, unit = _FINEST.get(method, "ns"), precision(trial)
    if unit in UNITS_PER_MS and UNITS_PER_MS[unit] > UNITS_PER_MS[finest]:
        yield wrong_input("--knob precision", f"{method} has times in {finest} at best", f"precision={finest}")


def _load_generator(trial: Trial, explicit: frozenset[str]) -> Iterator[Finding]:
    load, method, tables = trial.load, trial.subject.method, trial.work.data.tables
    if load.generator != "taosbenchmark":
        return
    if method not in GENUINE_METHODS:
        sentence = f"taosBenchmark does not run with method {method}"
        yield wrong_input("--load-generator", sentence, f"--method {', '.join(GENUINE_METHODS)}")
        return
    if (load.rows or 0) % tables:
        sentence = f"taosBenchmark loads each of {tables} tables with as many"
        yield wrong_input("--rows", sentence, "a multiple of the tables")
    if "load.placement" in explicit and load.table_placement == "owned":
        sentence = "taosBenchmark names and distributes its tables itself"
        yield wrong_input("--placement", sentence, "leave it out, or --placement stock")
