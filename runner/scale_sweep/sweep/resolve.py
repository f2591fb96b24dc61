"""default < file < flag: makes one Sweep, or one error that lists every mistake."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.texts import plain_text, shortened
from scale_sweep.experiment.axes import Axis, all_axes
from scale_sweep.experiment.setting.readers import SHARED
from scale_sweep.machine.host.host_facts import Host
from scale_sweep.model.declared import Origin, Sweep, Tls, Work
from scale_sweep.model.declared_parts import Load, Objective, Rule
from scale_sweep.server.targets import all_facts
from scale_sweep.server.targets.certificates import OF_SYSTEM, VERIFYING
from scale_sweep.sweep import axis as axes
from scale_sweep.sweep import commands, proving, window
from scale_sweep.sweep.axis import refuse_too_many
from scale_sweep.sweep.file import read_sweep_file, sweep_path
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.server_settings import KNOB_NAMES
from scale_sweep.sweep.settings import FLAGS, SETTINGS
from scale_sweep.sweep.vary import ADDRESS
from scale_sweep.sweep.window import FIXED_WORK, QUICK_DEFAULTS, slo_mistakes, with_objective, work_of


@dataclass(frozen=True, kw_only=True)
class Texts:
    text: Mapping[str, str | list[str]]
    origin: Mapping[str, Origin]


def resolve_sweep(what: str, flags: Mapping[str, str | list[str]], host: Host | None = None) -> Sweep:
    """The sweep of an axis by its command, or of a file. host: the machine that words such as `all` mean; None: they
    are refused. Raises UsageError that lists all mistakes."""
    from_file = {} if axes.axis_of_command(what) else read_sweep_file(sweep_path(what))
    texts = _merge(from_file, flags)
    if host is not None:
        texts = replace(texts, text=axes.of_machine(texts.text, host))
    values, mistakes = _read_all(texts, host)
    swept = axes.swept_axis(what, texts.text)
    mistakes += axes.mistakes(swept, what, texts.text, values, texts.origin)
    mistakes += _conflicts(texts, values)
    mistakes += proving.mistakes(values, texts.origin)
    mistakes += window.mistakes(values, texts.origin, len(values[swept.key] or ()))
    mistakes += commands.mistakes(values, texts.origin, FLAGS)
    if mistakes:
        raise UsageError("\n".join(mistakes))
    work = work_of(values, texts.origin)
    if mistakes := slo_mistakes(values, texts.origin, work, is_steady=swept.facts.must_be_steady):
        raise UsageError("\n".join(mistakes))
    sweep = _build(what, swept, texts, values, work)
    _refuse_too_many(swept, sweep)
    return replace(sweep, confirms=sweep.confirms and sweep.load.is_long(0.0))


def _refuse_too_many(swept: Axis, sweep: Sweep) -> None:
    grows = sweep.until_ci_percent is not None
    replicates = sweep.replicates_max if grows else sweep.replicates
    refuse_too_many(
        {
            swept.facts.flag: ("levels", len(sweep.levels)),
            "--vary": ("combinations", math.prod(map(len, sweep.vary.values()))),
            "--replicates-max" if grows else "--replicates": ("replicates", replicates),
        }
    )


def _merge(from_file: Mapping[str, str | list[str]], flags: Mapping[str, str | list[str]]) -> Texts:
    text: dict[str, str | list[str]] = {}
    origin: dict[str, Origin] = {}
    named = NAMED.get(str(flags.get("workload.name") or from_file.get("workload.name") or ""), {})
    is_quick = str(flags.get("load.quick", from_file.get("load.quick", ""))) in ("1", "true")
    replaced = {**named, **(QUICK_DEFAULTS if is_quick else {})}
    overruled = {key for axis in all_axes() for key in axis.overruled(flags)}
    for setting in SETTINGS:
        text[setting.key] = replaced.get(setting.key, [] if setting.many else setting.default)
        origin[setting.key] = "default"
        sources: tuple[tuple[Mapping[str, Any], Origin], ...] = ((from_file, "file"), (flags, "flag"))
        for source, name in sources:
            if setting.key in source and not (name == "file" and setting.key in overruled):
                value = source[setting.key]
                before = text[setting.key]
                text[setting.key] = [*before, *value] if setting.many else value
                origin[setting.key] = name
    for key in ("name", "question"):
        if key in from_file:
            text[key] = from_file[key]
    return Texts(text=text, origin=origin)


def _read_all(texts: Texts, host: Host | None) -> tuple[dict[str, Any], list[str]]:
    values: dict[str, Any] = {}
    mistakes: list[str] = []
    there = {axis.key: axis.levels_of(texts.text, host) for axis in all_axes()} if host is not None else {}
    for setting in SETTINGS:
        text = texts.text[setting.key]
        is_empty = text == "" and not setting.default
        parts = text if isinstance(text, list) else [] if is_empty else [text]
        read: list[Any] = []
        for part in parts:
            try:
                read.append(setting.read(plain_text(part)))
            except ValueError as error:
                where = setting.flag if texts.origin[setting.key] == "flag" else setting.key
                has = f"; the machine has {words}" if (words := there.get(setting.key)) else ""
                mistakes.append(f"{where}: {shortened(str(error))}{has}")
        values[setting.key] = dict(read) if setting.many else read[0] if read else None
    return values, mistakes


def _conflicts(texts: Texts, values: Mapping[str, Any]) -> list[str]:
    mistakes = []
    for key, flag in FIXED_WORK.items():
        both = values[key] is not None and texts.origin["load.duration"] != "default"
        if both and texts.origin[key] == texts.origin["load.duration"]:
            mistakes.append(f"{flag} and --duration exclude each other: fixed work, or a fixed window")
    if all(values[key] is not None for key in FIXED_WORK) and len({texts.origin[key] for key in FIXED_WORK}) == 1:
        mistakes.append("--rows and --rows-per-level exclude each other: the same work at all levels, or in proportion")
    if values["method.detect"] and texts.origin["method.replicates"] == "flag":
        mistakes.append("--detect and --replicates exclude each other: --detect chooses the replicates")
    if values["method.until_ci"] and int(values["method.replicates"] or 0) > int(values["method.replicates_max"] or 0):
        mistakes.append("--replicates: more than --replicates-max, the most that --until-ci may come to")
    return mistakes + _tls_mistakes(texts, values)


def _tls_mistakes(texts: Texts, values: Mapping[str, Any]) -> list[str]:
    mode, has_file = values["target.sslmode"], texts.origin["target.sslrootcert"] != "default"
    flag = "--sslmode" if mode else "--sslrootcert"
    named = {*str(values["target.name"]).replace(" ", "").split(","), *values["vary"].get("target", ())}
    lacking = [facts.name for facts in all_facts() if facts.name in named and not facts.takes_tls]
    if (mode or has_file) and lacking:
        able = " and ".join(facts.name for facts in all_facts() if facts.takes_tls)
        return [f"{flag}: is only for {able}; {lacking[0]} is not reached by libpq; leave it out"]
    if (mode or has_file) and not texts.text["target.endpoint"] and ADDRESS not in values["vary"]:
        return [f"{flag}: TLS is for a server that runs already; name the server with --endpoint HOST:PORT"]
    if has_file and mode not in VERIFYING:
        return [f"--sslrootcert: is not read with --sslmode {mode or 'prefer'}; use --sslmode {VERIFYING[-1]}"]
    if mode in VERIFYING and not has_file:
        return [f"--sslmode {mode}: with which authority? Add --sslrootcert FILE, such as {OF_SYSTEM}"]
    return []


def _fixed_work(texts: Texts, values: Mapping[str, Any]) -> tuple[int | None, bool]:
    """The rows, and whether they are for each unit of the level. A flag replaces a file's value."""
    keys = [key for key in FIXED_WORK if values[key] is not None]
    keys.sort(key=lambda key: texts.origin[key] != "flag")
    if not keys or (texts.origin["load.duration"] == "flag" and texts.origin[keys[0]] == "file"):
        return None, False
    return values[keys[0]], keys[0] == "load.rows_per_level"


def _build(what: str, swept: Axis, texts: Texts, values: Mapping[str, Any], work: Work) -> Sweep:
    v = values
    rows, by_level = _fixed_work(texts, v)
    name = str(texts.text.get("name") or axes.name_of(what))
    named = commands.target_of(v).split(",")
    targets = tuple(dict.fromkeys(part.strip() for part in named if part.strip())) or ("auto",)
    fixed_work = rows is not None and v["load.soak"] is None
    work_or_window: dict[str, Any] = {"rows": None, **window.window_of(v)}
    if fixed_work:
        work_or_window = {"rows": rows, "duration_s": None, "rows_by_level": by_level, "carries_claim": True}
    warmup = (None, 0.0) if fixed_work and texts.origin["load.warmup"] == "default" else v["load.warmup"]
    load = Load(
        **work_or_window,
        warmup_s=warmup[1],
        warmup_least_s=warmup[0],
        rate=float(v["load.rate"]),
        arrival=v["load.arrival"],
        generator=v["load.generator"],
        table_placement=v["load.placement"],
        may_discard=swept.facts.must_be_steady and v["load.soak"] is None,
        request_timeout_s=v["load.request_timeout"],
        drain_s=v["load.drain"],
        trace_every=v["load.trace"] or 0,
        trace_max=v["load.trace_max"],
        command=commands.load_command(v),
    )
    server: dict[str, Any] = {n: v[f"target.{n}"] or "" for n in ("version", "image", "home", "endpoint", "data_dir")}
    server |= commands.server_command(v)
    return Sweep(
        name=name,
        question=str(texts.text.get("question", _question(swept, work, v["load.slo"]))),
        axis=swept.facts.name,
        levels=v[swept.key],
        constants=axes.constants(swept, values),
        target=targets[0],
        runtime=v["target.runtime"],
        **server,
        tls=Tls(sslmode=v["target.sslmode"], **(v["target.sslrootcert"] or {})) if v["target.sslmode"] else None,
        port=v["target.port"],
        method=v["load.method"] or "",
        work=work,
        workload=v["workload.name"] if texts.origin["workload.name"] != "default" else "",
        load=with_objective(load, v, texts.origin),
        knobs=_knobs(v),
        settings=v["target.settings"],
        vary=({"target": targets} if len(targets) > 1 else {}) | v["vary"],
        server_cpus=v["cpus.server"] or (),
        generator_cpus=() if v["cpus.generator"] == SHARED else v["cpus.generator"] or (),
        shares_cpus=v["cpus.generator"] == SHARED,
        memory_bytes=v["target.memory"],
        reference=v["report.reference"] or "",
        predict=v["report.predict"] or (),
        need=v["report.need"] or (),
        tags=v["tags"],
        origin=dict(texts.origin),
        **_method(values, len(v[swept.key]), swept),
        **swept.fields(values),
    )


def _question(swept: Axis, work: Work, objective: Objective | None) -> str:
    rate = "rate of requests" if work.counts_requests else "write rate"
    held = f"highest {rate} that holds {objective.words}" if objective is not None else rate
    return swept.facts.question.replace("write rate", held)


def _knobs(v: Mapping[str, Any]) -> dict[str, Rule]:
    rules = {name: v.get(f"knobs.{name}") for name in KNOB_NAMES}
    return {**{name: rule for name, rule in rules.items() if rule is not None}, **v["knobs.other"]}


def _method(v: Mapping[str, Any], levels: int, swept: Axis) -> dict[str, Any]:
    """Drift checks are planned if replicates cannot separate drift."""
    replicates = 1 if v["load.soak"] is not None else int(v["method.replicates"])
    many = levels > 1 and replicates > 1
    return {
        "replicates": replicates,
        **{name: v[f"method.{name}"] for name in ("seed", "order_seed", "sample_hz", "replicates_max")},
        "detect_percent": v["method.detect"],
        "network_bits_per_s": v["method.network_speed"],
        "drift_check": v["method.drift_check"] == "on" or v["method.drift_check"] == "auto" and many,
        "sentinel": v["method.drift_check"] == "long",
        "until_ci_percent": v["method.until_ci"],
        **{name: bool(v[f"method.{name}"]) for name in ("ablation", "profile", "equal_durability")},
        "connections_check": v["method.connections_check"] == "on" and v["load.slo"] is None,
        "prove": (v["method.prove"] or swept.facts.proves) if v["method.prove"] is not None else (),
        "confirms": v["method.confirm"] == "on" and v["load.slo"] is not None,
    }
