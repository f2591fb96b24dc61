"""The settings of a sweep as texts by key, as a user would write them. Refuses to name the origin of a value."""

from __future__ import annotations

import re

from scale_sweep.base.units import format_cpus, format_levels, format_number
from scale_sweep.experiment.axes import axis_of
from scale_sweep.experiment.setting.readers import SHARED, rule_text
from scale_sweep.model import Sweep, Workload
from scale_sweep.plan.summary import warmup_words
from scale_sweep.sweep.axis import constant_texts
from scale_sweep.sweep.settings import BY_KEY

OPERATION = "operation"  # the key of the parameters, of which each operation has a row
_REPEATING = {"line", "sine", "square"}  # the laws of values with a period


def setting_values(sweep: Sweep) -> dict[str, str]:
    """The texts of all settings; "" for one that has no value here."""
    load = sweep.load
    key = "load.rows_per_level" if load.rows_by_level else "load.rows"
    work = {key: str(load.rows)} if load.rows is not None else {"load.duration": f"{load.duration_s:g} s"}
    named = {k: f"knobs.{k}" for k in sweep.knobs if f"knobs.{k}" in BY_KEY}
    others = ", ".join(f"{k}={rule_text(r)}" for k, r in sweep.knobs.items() if k not in named)
    knobs = {**{key: rule_text(sweep.knobs[k]) for k, key in named.items()}, "knobs.other": others}
    return {
        **_axis_values(sweep),
        "target.name": sweep.target,
        "target.runtime": sweep.runtime,
        "target.settings": sweep.settings,
        "target.version": sweep.version,
        "target.image": sweep.image,
        "target.home": sweep.home,
        "target.endpoint": sweep.endpoint,
        "target.port": str(sweep.port or ""),
        "target.data_dir": sweep.data_dir,
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
    }


def _work_values(sweep: Sweep) -> dict[str, str]:
    work, w = sweep.work, sweep.work.data
    recent = next((o.parameters["recent"] for o in work.operations if "recent" in o.parameters), "")
    given_recent = sweep.origin.get("preload.read_recent", "default") != "default"
    return {
        "workload.name": sweep.workload or BY_KEY["workload.name"].default,
        "mix": ",".join(f"{o.name}={o.weight:g}" for o in work.operations),
        "preload.rows": str(work.preload_rows),
        "preload.read_recent": recent if given_recent else "",
        "method.cache": work.cache if work.preload_rows else "",
        "workload.tables": str(w.tables),
        "workload.columns": ",".join(w.columns),
        "workload.tag_columns": ",".join(w.tags),
        "workload.values": w.values,
        "workload.text": w.text,
        "workload.rows_per_request": str(w.rows_per_request),
        "workload.interlace_rows": str(w.interlace_rows),
        "workload.requests_per_table": str(w.requests_per_table),
        "workload.start_ms": str(w.start_ms),
        "workload.step_ms": str(w.step_ms),
        "workload.period_rows": str(w.period_rows) if _REPEATING & set(re.findall(r"[a-z]+", w.values)) else "",
        "workload.decimals": "" if w.decimals is None else str(w.decimals),
        **(_disorder_values(w) if w.disorder else {}),
    }


def _disorder_values(w: Workload) -> dict[str, str]:
    return {
        "workload.disorder": w.disorder,
        "workload.disorder_ratio": f"{w.disorder_percent:g} %",
        "workload.disorder_lambda": f"{w.disorder_lambda:g}",
        "workload.disorder_max_k": str(w.disorder_max_k),
        "workload.disorder_rows": str(w.disorder_rows),
    }


def operation_values(sweep: Sweep) -> dict[str, str]:
    """The parameters of each operation that has some, by its key: "operation.range"."""
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
        "method.ablation": "on" if sweep.ablation else "",
        "method.profile": "on" if sweep.profile else "",
        "method.equal_durability": "on" if sweep.equal_durability else "",
        "method.connections_check": "on" if sweep.connections_check else "off",
        "method.confirm": ("on" if sweep.confirms else "off") if sweep.load.objective is not None else "",
        "method.seed": str(sweep.seed),
        "method.detect": f"{sweep.detect_percent:g} %" if sweep.detect_percent else "",
        "method.order_seed": str(sweep.seed_of_order),
        "method.sample_hz": f"{sweep.sample_hz:g}",
        "method.network_speed": " ".join(f"{k}={bits / 1e6:g}Mbit" for k, bits in sweep.network_bits_per_s.items()),
    }


def _axis_values(sweep: Sweep) -> dict[str, str]:
    axis = axis_of(sweep.axis)
    return {axis.key: format_levels(sweep.levels), **constant_texts(sweep.constants), **axis.shown(sweep)}
