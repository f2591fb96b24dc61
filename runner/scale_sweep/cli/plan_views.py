"""Tables and the document of a plan: its trials, the settings of its servers, the settings of the sweep with
origins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.texts import command_text
from scale_sweep.base.units import format_cpus, format_levels, format_number
from scale_sweep.experiment.axes import axis_of
from scale_sweep.experiment.setting.readers import SHARED, rule_text
from scale_sweep.model.declared import Sweep
from scale_sweep.model.planned import Plan, Trial
from scale_sweep.plan.power import GatePower, power_of
from scale_sweep.plan.preparing.prepared import Prepared
from scale_sweep.plan.summary import warmup_words
from scale_sweep.sweep.axis import constant_texts
from scale_sweep.sweep.commands import of_our_load
from scale_sweep.sweep.file import origin_words
from scale_sweep.sweep.server_settings import KNOB_NAMES
from scale_sweep.sweep.settings import BY_KEY, SETTINGS
from scale_sweep.sweep.vary import SUBJECT_FIELDS, label
from scale_sweep.sweep.window import workload_keys

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]
_VENDORS = "not sent"  # the server has its own default


def plan_rows(plan: Plan) -> Rows:
    """One row for each trial."""
    knobs = list(dict.fromkeys(name for t in plan.trials for name in t.knobs))
    rows = [
        [
            t.trial_id,
            format_number(t.cores),
            format_cpus(t.placement.server_cpus),
            format_cpus(t.placement.generator_cpus),
            format_cpus(t.placement.shared) if t.placement.shared else "none",
            *(t.knobs.get(k, "–") for k in knobs),
        ]
        for t in plan.trials
    ]
    return ["trial", "cores", "server CPUs", "load generator CPUs", "shared", *knobs], rows


def set_rows(prepared: Prepared) -> Rows:
    """Settings that each trial sends to its server, and the server's limits, by variant."""
    by_server: dict[tuple[str, ...], dict[str, list[Trial]]] = {}
    for trial in prepared.plan.trials:
        by_server.setdefault(trial.subject.server, {}).setdefault(label(trial.variant), []).append(trial)
    several = len(by_server) > 1
    rows = []
    for variants in by_server.values():
        of = next(iter(variants.values()))[0].subject.target if several else ""
        sent = {name: {t.level: _settings_sent(prepared, t) for t in trials} for name, trials in variants.items()}
        for setting in dict.fromkeys(
            one for levels in sent.values() for settings in levels.values() for one in settings
        ):
            texts = {name: _along({at: have.get(setting, "") for at, have in sent[name].items()}) for name in sent}
            if len(set(texts.values())) == 1:
                rows.append([_with(setting, of), next(iter(texts.values()))])
            else:
                rows += [[_with(setting, of, name), text or _VENDORS] for name, text in texts.items()]
    return ["setting sent to the server", "value (at level)"], rows


def _with(name: str, *of: str) -> str:
    names = ", ".join(filter(None, of))
    return f"{name} ({names})" if names else name


def _settings_sent(prepared: Prepared, trial: Trial) -> dict[str, str]:
    target, is_ours = prepared.choice_of(trial.subject).target, not trial.subject.endpoint
    reserves = target.reserves(trial, prepared.host.memory_bytes) if is_ours else {}
    return {**target.settings(trial, is_ours=is_ours), **reserves}


def _along(values: Mapping[float, str]) -> str:
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    by_value: dict[str, list[float]] = {}
    for level in sorted(values):
        by_value.setdefault(values[level], []).append(level)
    return ", ".join(f"{value} ({format_levels(tuple(at))})" for value, at in by_value.items())


def setting_rows(sweep: Sweep) -> Rows:
    """Values and origins."""
    values = setting_values(sweep)
    rows = []
    own_knobs = [key for key in values if key.startswith("knobs.") and key not in BY_KEY]
    for setting in SETTINGS:
        if setting.key == OPERATION:
            shown = operation_values(sweep)
            rows += [[key, text, origin_words(sweep, OPERATION, text)] for key, text in shown.items() if text]
            continue
        for key in (*(own_knobs if setting.key == "knobs.other" else ()), setting.key):
            if text := values.get(key, ""):
                rows.append([key, text, origin_words(sweep, key, text)])
    return ["setting", "value", "from"], rows


def settings_title(plan: Plan) -> str:
    servers = {trial.subject.server for trial in plan.trials}
    first = "A" if plan.sweep.variants_ab else plan.sweep.target if len(servers) > 1 else ""
    return f"Settings of {first}" if first else "Settings"


def plan_document(prepared: Prepared, gate: GatePower | None = None) -> dict[str, Any]:
    """gate: how often that of `scale ab` would pass."""
    return {
        "choice": "; ".join(choice.sentence for choice in prepared.choices.values()),
        "machine": prepared.elsewhere or None,
        "assumed": [choice.facts.name for choice in prepared.choices.values() if choice.missing],
        "plan": prepared.plan,
        "power": power_of(prepared.plan, prepared.noise),
        "gate": gate,
        "settings": {t.trial_id: _settings_sent(prepared, t) for t in prepared.plan.trials},
        "findings": prepared.findings,
    }


OPERATION = "operation"  # the key of the parameters, of which each operation has a row
_REPEATING = {"line", "sine", "square"}  # the laws of values with a period


def setting_values(sweep: Sweep) -> dict[str, str]:
    """ "" for a setting without a value here."""
    load, axis = sweep.load, axis_of(sweep.axis)
    key = "load.rows_per_level" if load.rows_by_level else "load.rows"
    window = "that of --load" if load.duration_s is None else f"{load.duration_s:g} s"
    work = {key: str(load.rows)} if load.rows is not None else {"load.duration": window}
    named = {k: f"knobs.{k}" for k in sweep.knobs if k in KNOB_NAMES}
    others = ", ".join(f"{k}={rule_text(r)}" for k, r in sweep.knobs.items() if k not in named)
    knobs = {**{key: rule_text(sweep.knobs[k]) for k, key in named.items()}, "knobs.other": others}
    values = {
        axis.key: format_levels(sweep.levels),
        **constant_texts(sweep.constants),
        **axis.shown(sweep),
        "target.name": sweep.target,
        **{f"target.{name}": getattr(sweep, name) for name in (*SUBJECT_FIELDS[1:], "settings", "data_dir")},
        "target.sslmode": sweep.tls.sslmode if sweep.tls else "",
        "target.sslrootcert": sweep.tls.sslrootcert if sweep.tls else "",
        "target.port": str(sweep.port or ""),
        "target.memory": f"{sweep.memory_bytes} B" if sweep.memory_bytes else "",
        "cpus.server": format_cpus(sweep.server_cpus),
        "cpus.generator": SHARED if sweep.shares_cpus else format_cpus(sweep.generator_cpus),
        **_work_values(sweep),
        "load.method": sweep.method,
        **work,
        "load.window_max": f"{load.window_max_s:g} s" if load.window_max_s else "",
        "load.quick": "on" if sweep.is_quick else "",
        "load.soak": f"{load.duration_s:g} s" if load.soak else "",
        "load.warmup": warmup_words(load),
        "load.rate": f"{load.rate:g}" if load.objective is None else "",
        "load.arrival": load.arrival,
        "load.request_timeout": f"{load.request_timeout_s:g} s" if load.request_timeout_s else "none",
        "load.drain": f"{load.drain_s:g} s",
        "load.trace": str(load.trace_every or ""),
        "load.trace_max": str(load.trace_max) if load.trace_every else "",
        "load.slo": load.objective.words if load.objective is not None else "",
        "load.generator": load.generator,
        "load.placement": load.table_placement,
        **knobs,
        **_method_values(sweep),
        "report.reference": sweep.reference,
        "report.predict": format_levels(sweep.predict) if sweep.predict else "",
        "report.need": ",".join(format_number(v) for v in sweep.need),
        "vary": "; ".join(f"{k}={','.join(v)}" for k, v in sweep.vary.items()),
        "tags": " ".join(f"{k}={v}" for k, v in sweep.tags.items()),
        **{f"load.{name}": "" for name in ("command", "prepare", "count", "rate_from")},
    }
    command = load.command
    if command is None:
        return values
    own = {name: command_text(getattr(command, field)) for name, field in _OF_COMMAND.items()}
    none = {key: "" for key in values if of_our_load(key)}
    return {**values, **none, **own, "load.rate_from": command.rate_from}


_OF_COMMAND = {"load.command": "argv", "load.prepare": "prepare", "load.count": "count"}  # fields of a LoadCommand


def _work_values(sweep: Sweep) -> dict[str, str]:
    work, w = sweep.work, sweep.work.data
    recent = next((o.parameters["recent"] for o in work.operations if "recent" in o.parameters), "")
    given_recent = sweep.origin.get("preload.read_recent", "default") != "default"
    texts = {
        key: _text(getattr(w, name)) for name, key in workload_keys().items() if w.disorder or "disorder" not in name
    }
    if not _REPEATING & set(re.findall(r"[a-z]+", w.values)):
        texts["workload.period_rows"] = ""
    if w.disorder:
        texts["workload.disorder_ratio"] += " %"
    return {
        "workload.name": sweep.workload or BY_KEY["workload.name"].default,
        "mix": ",".join(f"{o.name}={o.weight:g}" for o in work.operations),
        "preload.rows": str(work.preload_rows),
        "preload.read_recent": recent if given_recent else "",
        "method.cache": work.cache if work.preload_rows else "",
        **texts,
    }


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def operation_values(sweep: Sweep) -> dict[str, str]:
    """By the key: "operation.range"."""
    texts = {}
    for operation in sweep.work.operations:
        load = {"connections": f"{operation.connections}" if operation.connections else ""}
        load["rate"] = f"{operation.rate:g}" if operation.rate else ""
        every = {"kind": operation.kind, **operation.parameters, **load}
        texts[f"{OPERATION}.{operation.name}"] = ", ".join(f"{k}={text}" for k, text in every.items() if text)
    return texts


def _method_values(sweep: Sweep) -> dict[str, str]:
    return {
        "method.replicates": str(sweep.replicates),
        "method.until_ci": f"{sweep.until_ci_percent:g} %" if sweep.until_ci_percent else "",
        "method.replicates_max": str(sweep.replicates_max) if sweep.until_ci_percent else "",
        "method.drift_check": "long" if sweep.sentinel else "on" if sweep.drift_check else "off",
        **{f"method.{n}": "on" if getattr(sweep, n) else "" for n in ("ablation", "profile", "equal_durability")},
        "method.prove": ",".join(sweep.prove),
        "method.connections_check": "on" if sweep.connections_check else "off",
        "method.confirm": ("on" if sweep.confirms else "off") if sweep.load.objective is not None else "",
        "method.seed": str(sweep.seed),
        "method.detect": f"{sweep.detect_percent:g} %" if sweep.detect_percent else "",
        "method.order_seed": str(sweep.seed_of_order),
        "method.sample_hz": f"{sweep.sample_hz:g}",
        "method.network_speed": " ".join(f"{k}={bits / 1e6:g}Mbit" for k, bits in sweep.network_bits_per_s.items()),
    }
