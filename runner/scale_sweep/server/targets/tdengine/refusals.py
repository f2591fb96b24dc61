"""Mistakes that the sweep's settings alone show: knobs, values, columns, tables, load generator."""

from __future__ import annotations

import difflib

from scale_sweep.model import Finding, Trial
from scale_sweep.server.targets.tdengine import genuine
from scale_sweep.server.targets.tdengine.config import config_items, database_options, precision
from scale_sweep.server.targets.tdengine.dialect import DATABASE_OPTIONS, ONE_COLUMN, UNITS_PER_MS
from scale_sweep.server.targets.tdengine.items import BOUNDS, FORMER, ITEMS, OURS, spelled
from scale_sweep.server.targets.tdengine.tdengine_facts import ROLE_KNOBS

_FINEST = {"sml-telnet": "ms", "sml-json": "us"}
_WORDS = {
    "precision": ("ms", "us", "ns"),
    "cachemodel": ("none", "last_row", "last_value", "both"),
}


def refusals(trial: Trial, explicit: frozenset[str]) -> tuple[Finding, ...]:
    return (*_knobs(trial, explicit), *_values(trial), *_work(trial), *_load_generator(trial, explicit))


def _blocking(subject: str, sentence: str, remedy: str) -> Finding:
    return Finding(blocking=True, subject=subject, sentence=sentence, remedy=remedy)


def _free(trial: Trial) -> list[str]:
    return [k for k in trial.knobs if k not in ROLE_KNOBS and k.lower() not in DATABASE_OPTIONS]


def _knobs(trial: Trial, explicit: frozenset[str]) -> list[Finding]:
    findings = [f for f in map(_named, _free(trial)) if f]
    if not trial.subject.endpoint:
        return findings
    flags = [f"--knob {name}" for name in _free(trial)]
    flags += ["--commit-threads"] if "knobs.commit_threads" in explicit else []
    return findings + [
        _blocking(
            name,
            "an item of taos.cfg, and a server that already runs is not reconfigured",
            "leave it out, or let scale start the server (--runtime docker or process)",
        )
        for name in flags
    ]


def _named(knob: str) -> Finding | None:
    """A finding for a name that taosd would ignore, and for one that the trial sets itself."""
    name = spelled(knob)
    if name in OURS:
        return _blocking(
            f"--knob {knob}",
            "the trial decides where the server is and where its data go",
            "leave it out; --port and --data-dir set it",
        )
    if name in ITEMS:
        return None
    close = FORMER.get(knob.lower()) or next(
        (option for option in DATABASE_OPTIONS if option.replace("_", "") == knob.lower()), ""
    )
    if close:
        return _blocking(
            f"--knob {knob}",
            f"not an item of taos.cfg: taosd ignores it; 3.3 has {close} instead, an option of CREATE DATABASE",
            f"--knob {close}=VALUE",
        )
    near = difflib.get_close_matches(knob, (*ITEMS, *DATABASE_OPTIONS), n=1, cutoff=0.75)
    if near:
        return _blocking(
            f"--knob {knob}",
            "neither in taos.cfg nor in CREATE DATABASE: taosd would ignore it",
            f"--knob {near[0]}=VALUE",
        )
    return Finding(
        blocking=False,
        subject=f"--knob {knob}",
        sentence="not an item of taos.cfg of 3.3.0.0: a server that does not list it ignores it, and its trials fail",
        remedy="correct the name",
    )


def _values(trial: Trial) -> list[Finding]:
    findings = []
    for name, value in config_items(trial).items():
        if name in BOUNDS and not _within(value, *BOUNDS[name]):
            findings.append(
                _blocking(
                    f"--knob {name}",
                    f"{value} is not {_wanted(*BOUNDS[name])}: taosd would not start",
                    "correct the value",
                )
            )
    for name, value in database_options(trial).items():
        if name in _WORDS and value.strip("'").lower() not in _WORDS[name]:
            findings.append(
                _blocking(f"--knob {name}", f"{value} is not one of {', '.join(_WORDS[name])}", "correct the value")
            )
    return findings


def _wanted(low: float, high: float) -> str:
    kind = "a whole number" if isinstance(low, int) else "a number"
    return f"{kind} of at least {low}" if high > 2**62 else f"{kind} from {low} to {high:.0f}"


def _within(value: str, low: float, high: float) -> bool:
    try:
        number = int(value) if isinstance(low, int) else float(value)
    except ValueError:
        return False
    return low <= number <= high


def _work(trial: Trial) -> list[Finding]:
    findings = []
    data, method, load = trial.work.data, trial.subject.method, trial.load
    tables, vgroups = data.tables, trial.knobs["vgroups"]
    if load.is_ours and load.table_placement == "owned" and vgroups.isdigit() and tables < int(vgroups):
        findings.append(
            _blocking("--tables", f"{tables} tables cannot fill {vgroups} vgroups", "more --tables, or fewer --vgroups")
        )
    if method in ONE_COLUMN and len(data.columns) > 1:
        findings.append(
            _blocking(
                "--method", f"{method} writes one column, there are {len(data.columns)}", "--columns value:double"
            )
        )
    finest = _FINEST.get(method, "ns")
    unit = precision(trial)
    if unit in UNITS_PER_MS and UNITS_PER_MS[unit] > UNITS_PER_MS[finest]:
        findings.append(_blocking("--knob precision", f"{method} has times in {finest} at best", f"precision={finest}"))
    return findings


def _load_generator(trial: Trial, explicit: frozenset[str]) -> list[Finding]:
    load, method = trial.load, trial.subject.method
    if load.generator != "taosbenchmark":
        return []
    if method not in genuine.METHODS:
        return [
            _blocking(
                "--load-generator",
                f"taosBenchmark does not run with method {method}",
                f"--method {', '.join(genuine.METHODS)}",
            )
        ]
    findings = []
    if (load.rows or 0) % trial.work.data.tables:
        findings.append(
            _blocking(
                "--rows",
                f"taosBenchmark loads each of {trial.work.data.tables} tables with as many",
                "a multiple of the tables",
            )
        )
    if "load.placement" in explicit and load.table_placement == "owned":
        findings.append(
            _blocking(
                "--placement",
                "taosBenchmark names and distributes its tables itself",
                "leave it out, or --placement stock",
            )
        )
    return findings
