"""The output of `scale judge`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from scale_sweep.analysis.proved import value_words
from scale_sweep.base.units import counted, format_cpus, format_rate, with_interval
from scale_sweep.cli import console
from scale_sweep.measure.judging.watching import Judging, WatchedLoad
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.model.proof import OF_LOAD, RESOURCES, LevelProof


def _proof(run: StoredRun) -> LevelProof | None:
    return next(iter(run.fit.proofs), None) if run.fit is not None else None


def is_the_servers(run: StoredRun) -> bool | None:
    """None: a proof that was asked for decided nothing."""
    result, proof = run.results[0], _proof(run)
    if not result.trial.disturbed or not result.verdict.kind.is_fitted:
        return result.verdict.kind.is_fitted
    if proof is None or proof.proof.reason:
        return None
    return not OF_LOAD.intersection(proof.proof.causes)


def document(run: StoredRun, load: Judging, watched: WatchedLoad) -> dict[str, Any]:
    """The answer of --json."""
    result = run.results[0]
    m = result.measurement
    return {
        "schema": 1,
        "path": run.path,
        "command": load.shown,
        "server": load.server.words,
        "verdict": None if result.trial.disturbed else result.verdict.kind,
        "is_the_servers": is_the_servers(run),
        "proof": asdict(proof) if (proof := _proof(run)) else None,
        "rate_per_s": m.requests_per_s,
        "unit": watched.run.program.rows,
        "bottleneck": asdict(result.verdict.bottleneck) if result.verdict.bottleneck else None,
        "reasons": list(result.verdict.reasons),
        "code": watched.run.code,
        "left_behind": list(watched.left_behind),
        "measurement": asdict(m),
    }


def show(run: StoredRun, load: Judging, watched: WatchedLoad) -> None:
    """A line for each thing to know."""
    result = run.results[0]
    m, verdict, bottleneck = result.measurement, result.verdict, result.verdict.bottleneck
    server, cpus = format_cpus(load.server.cpus), format_cpus(watched.load_cpus)
    rows = [
        ("rate", _rate(watched, result)),
        ("verdict", f"{'' if _proof(run) else f'{verdict.kind.value}: '}{_meaning(run)}"),
        *_proof_rows(run, watched),
        ("limit", f"{bottleneck.kind.value}: {bottleneck.sentence}" if bottleneck else ""),
        ("because", "; ".join(_other_reasons(result)[:2])),
        ("to do", bottleneck.remedy if bottleneck else ""),
        ("server", f"{_cores(m.server_cpu_cores)} of {counted(result.trial.cores, 'core')}, on CPUs {server}"),
        ("load", f"{_cores(m.generator_cpu_cores)} of {counted(len(watched.load_cpus), 'CPU')} ({cpus})"),
        ("not known", "how many rows are stored; how long requests waited before they were sent"),
        ("still runs", ", ".join(watched.left_behind)),
        ("report", f"{run.path}/report.html"),
    ]
    for name, text in rows:
        if text:
            console.show_line(f"{name:<10} {text}")


def _other_reasons(result: TrialResult) -> list[str]:
    limit = result.verdict.bottleneck.sentence if result.verdict.bottleneck else ""
    return [reason for reason in result.verdict.reasons if not limit or limit not in reason]


def _meaning(run: StoredRun) -> str:
    is_known = run.results[0].measurement.requests_per_s is not None
    words = {
        True: "the number is the server's" if is_known else "the server's limit",
        False: "the number is not the server's",
        None: "whose number it is is not decided",
    }
    return words[is_the_servers(run)]


def _proof_rows(run: StoredRun, watched: WatchedLoad) -> Iterator[tuple[str, str]]:
    if watched.disturbing is not None and not run.results[0].trial.disturbed:
        yield "no proof", "the load ended before anything was disturbed"
    if watched.disturbing is not None and watched.disturbing.trouble:
        yield "not done", watched.disturbing.trouble
    if (proved := _proof(run)) is None:
        return
    yield "proof", proved.sentence
    for one in proved.proof.elasticities:
        more = with_interval(one.more_percent, one.more_low, one.more_high, " %")
        yield "", f"{RESOURCES[one.resource]}: e {value_words(one)}; 10 % more would bring {more}"


def _rate(watched: WatchedLoad, result: TrialResult) -> str:
    rate = result.measurement.requests_per_s
    if rate is None:
        return "" if watched.run.reader else "not known: give --rate-from REGEX, which finds it in the output"
    program, m = watched.run.program, result.measurement
    times = {"p50": m.response_ms_p50, "p95": m.response_ms_p95, "p99": m.response_ms_p99}
    known = "".join(f", {name} {value:.3g} ms" for name, value in times.items() if value is not None)
    return f"{format_rate(rate)} {program.rows or 'things'}/s by {program.name}, over {m.window_s or 0.0:.0f} s{known}"


def _cores(cores: float | None) -> str:
    return "not read" if cores is None else f"{cores:.2f}"
