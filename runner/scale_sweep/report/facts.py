"""What a reader needs to judge and repeat the run: machine, server, placement, settings, command. From the manifest.

The manifest is JSON from disk. If a key is missing or has another type, its line is left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from statistics import median

from scale_sweep.base.units import format_cpus, format_number, format_rate, format_seconds
from scale_sweep.experiment.axes import axis_of
from scale_sweep.model import Operation, StoredRun, Sweep
from scale_sweep.report.marks import unseen_words
from scale_sweep.report.table import fixed, known, mean

Fact = tuple[str, str]
VERDICT_MEANINGS = {
    "VALID": "the number is the server's",
    "SOFTWARE_BOTTLENECK": "the server does not use what it is given, for a reason of its own; the number is its own",
    "UNSTEADY": "the rate drifted or varied too much inside the window",
    "GENERATOR_BOUND": "the load generator was the bottleneck, or too near to its own",
    "RESOURCE_NOT_SATURATED": "the server left given cores idle: something else was the bottleneck",
    "OFFERED_NOT_MET": "the offered rate was not reached",
    "THROTTLED": "the kernel held the server back for lack of quota",
    "ERRORS": "requests failed, or the server was not set as planned",
    "LOST_ROWS": "the database does not hold what it acknowledged",
    "WRONG_ROWS": "the database holds other times or values than those that were sent",
    "WRONG_ANSWER": "a query was answered, and not with the right answer",
    "ABORTED": "the trial did not run to its end",
}


def _part(manifest: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = manifest.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, (Mapping, list, tuple)) else str(value).strip()


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def command_of(run: StoredRun) -> str:
    """The command that repeats the run, quoted for a shell; "" if it was not recorded."""
    return shlex.join(str(word) for word in _sequence(run.manifest.get("command")))


def created(run: StoredRun) -> str:
    """The run's start in UTC, to the minute: 2026-01-02 03:04 UTC."""
    text = _text(run.manifest.get("created_utc"))
    return f"{text[:16].replace('T', ' ')} UTC" if len(text) >= 16 else text


def server_name(run: StoredRun) -> str:
    """Each target of these trials, with the version that its server itself reported."""
    found = {r.trial.subject.target: r.effective.get("server_version", "") for r in run.results}
    if not any(found.values()):
        version = _text(_part(run.manifest, "server").get("version")) or run.plan.sweep.version or ""
        found = dict.fromkeys(found or (run.plan.sweep.target,), version)
    return ", ".join(v if v.startswith(f"{target} ") else f"{target} {v}".strip() for target, v in found.items())


def machine_facts(run: StoredRun) -> tuple[Fact, ...]:
    """The host and its programs."""
    host, server = _part(run.manifest, "host"), _part(run.manifest, "server")
    cpus = _sequence(host.get("cpus"))
    memory = host.get("memory_bytes")
    facts = [
        ("Host", _text(host.get("hostname"))),
        ("CPU", " × ".join(part for part in (f"{len(cpus)}" if cpus else "", _text(host.get("cpu_model"))) if part)),
        ("Memory", f"{memory / 1e9:.1f} GB" if isinstance(memory, (int, float)) else ""),
        ("Kernel", " · ".join(p for p in (_text(host.get("os")), _text(host.get("kernel"))) if p)),
        ("cgroup", _text(host.get("cgroup"))),
        ("CPU governor", _text(host.get("governor"))),
        ("Disks", "; ".join(filter(None, (_disk(d) for d in _disks(run))))),
        ("Server", ", ".join(filter(None, (server_name(run), run.plan.sweep.runtime, _as_user(run))))),
        ("Image", _text(server.get("image_digest")) or run.plan.sweep.image),
        ("Chosen because", _text(run.manifest.get("choice"))),
    ]
    return tuple((label, value) for label, value in facts if value)


def _as_user(run: StoredRun) -> str:
    """The users that the servers' processes had, and why where one needs root."""
    users = {r.server["user"]: r.server.get("needs_root", "") for r in run.results if r.server.get("user")}
    return ", ".join(f"as {user}" + (f" ({why})" if why else "") for user, why in users.items())


def _disks(run: StoredRun) -> Sequence[object]:
    prepared = run.plan.sweep.disks is not None
    there = _sequence(run.manifest.get("disks"))
    return there if there and not prepared else _sequence(run.manifest.get("data_disks"))


def _disk(value: object) -> str:
    if not isinstance(value, Mapping):
        return _text(value)
    rotational = value.get("rotational")
    spins = "" if rotational is None else "rotating" if rotational else "solid state"
    where = _text(value.get("mount_point")) or _text(value.get("path"))
    named = " ".join(p for p in (_text(value.get("name")), _text(value.get("device"))) if p)
    parts = (named, _text(value.get("file_system")), spins, where, _cap(value.get("cap_bytes_per_s")))
    return " · ".join(p for p in parts if p)


def _cap(value: object) -> str:
    return f"capped at {value / 1e6:.1f} MB/s" if isinstance(value, (int, float)) and value else ""


def _apart(operation: Operation) -> str:
    """The connections and the rate that only this operation has."""
    many = str(operation.connections) if operation.connections else "as many"
    rate = f", {format_rate(operation.rate)} {operation.unit}/s" if operation.rate else ""
    return f"{operation.name} on {many} connections of its own{rate}"


def method_facts(run: StoredRun) -> tuple[Fact, ...]:
    """The method: how it was measured, on which CPUs, and the sampler's cost."""
    sweep, load = run.plan.sweep, run.plan.sweep.load
    each = f" for each {axis_of(sweep.axis).facts.unit}" if load.rows_by_level else ""
    window = f"{load.rows:,} rows{each}" if load.rows is not None else f"{format_number(load.duration_s or 0)} s window"
    offered = f"{format_rate(load.rate)} {sweep.work.rate_words}"
    pace = f"open loop at {offered}, {load.arrival}" if load.rate else "closed loop"
    pace += "".join(f"; {_apart(operation)}" for operation in sweep.work.operations if operation.is_apart)
    bound = f"{format_number(load.warmup_s)} s"
    warmup = bound if load.warmup_least_s is None else f"{format_number(load.warmup_least_s)} to {bound}, until level,"
    facts = [
        ("Load", f"{sweep.method}, {window} after {warmup} of warm-up, {pace}"),
        ("Warm-up", _warmups(run)),
        (
            "Rows",
            (
                f"{', '.join(sweep.work.data.columns)}; {sweep.work.data.tables:,} tables, "
                f"{sweep.work.data.rows_per_request:,} rows per request, {_in_a_row(sweep)}"
                f"values: {sweep.work.data.values}"
            ),
        ),
        ("Replicates", f"{sweep.replicates} of each level, interleaved, in an order of seed {sweep.seed_of_order}"),
        ("Not visible", unseen_words(run)),
        ("Load generator's own ceiling", _ceiling(run)),
        ("Stored rows", _compared(run)),
        ("Watching cost", _sampler(run)),
        ("Took", format_seconds(sum(r.wall_s for r in run.results))),
        (
            "Tool",
            " ".join(
                p
                for p in ("scale", _text(run.manifest.get("tool_version")), _text(run.manifest.get("commit"))[:12])
                if p
            ),
        ),
        ("Begun", created(run)),
        ("Tags", " ".join(f"{k}={v}" for k, v in sweep.tags.items())),
    ]
    return tuple((label, value) for label, value in facts if value)


def _warmups(run: StoredRun) -> str:
    """How long the warm-ups of each level really took; "" if their length was fixed. The series of a trial begins with
    its load, and its time 0 is the end of the warm-up."""
    if run.plan.sweep.load.warmup_least_s is None:
        return ""
    by_level: dict[float, list[float]] = {}
    for r in run.on_curve:
        series = run.timeseries.get(r.trial.trial_id, ())
        if series and series[0][0] < 1:
            by_level.setdefault(r.trial.level, []).append(1 - series[0][0])
    axis = axis_of(run.plan.sweep.axis).facts
    told = [f"{_middle(seconds)} at {axis.count(format_number(level))}" for level, seconds in sorted(by_level.items())]
    return f"took {', '.join(told)}" if told else ""


def _middle(seconds: Sequence[float]) -> str:
    """ "12 s (9 to 26 s)": the median, and the shortest and the longest where they differ."""
    middle, least, most = (f"{f(seconds):.0f}" for f in (median, min, max))
    return f"{middle} s" if least == most else f"{middle} s ({least} to {most} s)"


def _in_a_row(sweep: Sweep) -> str:
    """ "in a row" before a comma; "" if the tables come in turn, which is the default."""
    several = sweep.work.data.requests_per_table
    return f"{several:,} requests of a table in a row, " if several > 1 else ""


def _ceiling(run: StoredRun) -> str:
    value = run.manifest.get("ceiling_rows_per_s")
    if isinstance(value, Mapping):
        unit = run.plan.sweep.work.rate_words
        rates = [f"{format_rate(v)} {unit} with {k}" for k, v in value.items() if isinstance(v, (int, float))]
        reasons = [f"{k}: {v}" for k, v in value.items() if isinstance(v, str)]
        return "; ".join([*rates, *reasons])
    return f"{format_rate(value)} rows/s" if isinstance(value, (int, float)) else ""


def _compared(run: StoredRun) -> str:
    """How many of the stored rows were compared with those that were sent; "" if none could be."""
    found = [r.measurement for r in run.results if r.measurement.rows_compared is not None]
    if not found:
        return ""
    compared, stored = sum(m.rows_compared or 0 for m in found), sum(m.rows_counted or 0 for m in found)
    return f"{compared:,} of {stored:,} in {len(found)} trials compared with the rows that were sent, by sums"


def _sampler(run: StoredRun) -> str:
    share = mean(r.measurement.sampler_cpu_percent for r in run.results)
    missed = sum(r.measurement.missed_ticks or 0 for r in run.results)
    if not known(share):
        return ""
    return f"{fixed(share, 2)} % of one core for sampling at {run.plan.sweep.sample_hz:g} Hz; {missed} samples missed"


def placements(run: StoredRun) -> tuple[tuple[str, ...], ...]:
    """One row for each level: level, server's CPUs, load generator's CPUs, shared CPUs."""
    rows: dict[tuple[float, str, str, str], None] = {}
    for r in sorted(run.results, key=lambda r: r.trial.level):
        p = r.trial.placement
        quota = f" (quota {format_number(p.quota_cores)})" if p.quota_cores is not None else ""
        rows[
            (
                r.trial.level,
                format_cpus(p.server_cpus) + quota,
                format_cpus(p.generator_cpus),
                format_cpus(p.shared) if p.shared else "none",
            )
        ] = None
    return tuple((format_number(level), *rest) for level, *rest in rows)


def effective_settings(run: StoredRun) -> tuple[tuple[str, str], ...]:
    """The server's own report of its settings. Values that differ between trials are joined by " / "."""
    found: dict[str, dict[str, None]] = {}
    for r in sorted(run.results, key=lambda r: r.trial.level):
        for name, value in r.effective.items():
            found.setdefault(name, {})[str(value)] = None
    return tuple((name, " / ".join(values)) for name, values in sorted(found.items()))


def cautions_of(run: StoredRun, cautions: Sequence[str]) -> tuple[str, ...]:
    """The cautions of confounds, fit and plan, each once."""
    said = (*(c.sentence for c in run.plan.confounds), *cautions, *run.plan.notes)
    return tuple(dict.fromkeys(said))
