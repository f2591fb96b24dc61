"""Tables and documents that the commands show. Takes model objects, returns rows; `show_run` shows them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scale_sweep.analysis.compare import compare_variants
from scale_sweep.analysis.connections_check import sentences
from scale_sweep.base.alike import alike
from scale_sweep.base.units import counted, format_cpus, format_levels, format_number
from scale_sweep.cli import console
from scale_sweep.cli.compared import show_comparison
from scale_sweep.cli.compose import Prepared
from scale_sweep.experiment.axes import axis_of
from scale_sweep.experiment.setting.readers import rule_text
from scale_sweep.model import Plan, StoredRun, Sweep, Trial, counted_verdicts, rate_per_cpu_s
from scale_sweep.plan import GatePower, power_of
from scale_sweep.plan.summary import warmup_words
from scale_sweep.report import console_table
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.report.capacity import capacity_table, has_objective
from scale_sweep.report.curve import with_fit
from scale_sweep.report.documents import comparison_table, labels_of, only
from scale_sweep.report.figures import fit_again
from scale_sweep.report.fitted import asked_table, interval_words
from scale_sweep.report.noise import noise_of, noise_sentences
from scale_sweep.report.open_loop import is_open_loop, response_table
from scale_sweep.report.table import Table
from scale_sweep.results.store.held import status_of
from scale_sweep.sweep.axis import constant_texts
from scale_sweep.sweep.settings import BY_KEY, SETTINGS

_REPORT = "report.html"
_MARKED = "†"
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


def plan_rows(plan: Plan) -> Rows:
    """One row per trial."""
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
    """Settings that each trial sends to its server, with derived ones, and which of the server's own limits it uses."""
    rows = []
    by_server = dict.fromkeys(t.subject.server for t in prepared.plan.trials)
    for server in by_server:
        trials = [t for t in prepared.plan.trials if t.subject.server == server]
        levels = {t.level: _settings_sent(prepared, t) for t in trials}
        of = f" ({trials[0].subject.target})" if len(by_server) > 1 else ""
        names = dict.fromkeys(name for settings in levels.values() for name in settings)
        rows += [[name + of, _along({at: settings.get(name, "") for at, settings in levels.items()})] for name in names]
    return ["setting sent to the server", "value (at level)"], rows


def _settings_sent(prepared: Prepared, trial: Trial) -> dict[str, str]:
    target, is_ours = prepared.choice_of(trial.subject).target, not trial.subject.endpoint
    reserves = target.reserves(trial, prepared.host.memory_bytes) if is_ours else {}
    return {**target.settings(trial, is_ours=is_ours), **reserves}


def _along(values: Mapping[float, str]) -> str:
    """One value if it is the same at all levels; else each value with its levels."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    by_value: dict[str, list[float]] = {}
    for level in sorted(values):
        by_value.setdefault(values[level], []).append(level)
    return ", ".join(f"{value} ({format_levels(tuple(at))})" for value, at in by_value.items())


def setting_rows(sweep: Sweep) -> Rows:
    """Every setting, its value, and the origin of the value."""
    values = _values(sweep)
    rows = []
    for setting in SETTINGS:
        value = values.get(setting.key, "")
        origin = sweep.origin.get(setting.key, "default")
        if value:
            rows.append([setting.key, value, origin if setting.default or origin != "default" else "default (target)"])
    return ["setting", "value", "from"], rows


def _values(sweep: Sweep) -> dict[str, str]:
    w, load = sweep.work.data, sweep.load
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
        "cpus.generator": format_cpus(sweep.generator_cpus),
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
        "load.method": sweep.method,
        **work,
        "load.window_max": f"{load.window_max_s:g} s" if load.window_max_s else "",
        "load.quick": "on" if sweep.origin.get("load.quick", "default") != "default" else "",
        "load.soak": f"{load.duration_s:g} s" if load.soak else "",
        "load.warmup": warmup_words(load),
        "load.rate": f"{load.rate:g}",
        "load.arrival": load.arrival,
        "load.request_timeout": f"{load.request_timeout_s:g} s" if load.request_timeout_s else "none",
        "load.drain": f"{load.drain_s:g} s",
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


def _method_values(sweep: Sweep) -> dict[str, str]:
    return {
        "method.replicates": str(sweep.replicates),
        "method.until_ci": f"{sweep.until_ci_percent:g} %" if sweep.until_ci_percent else "",
        "method.replicates_max": str(sweep.replicates_max) if sweep.until_ci_percent else "",
        "method.drift_check": "on" if sweep.drift_check else "off",
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


def plan_document(prepared: Prepared, gate: GatePower | None = None) -> dict[str, Any]:
    """The plan for scripts. gate: how often the gate of `scale ab` would pass."""
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


def run_document(stored: StoredRun) -> dict[str, Any]:
    """A run for scripts: every trial with its verdict, and the fit."""
    return {
        "path": stored.path,
        "status": status_of(Path(stored.path), stored.manifest),
        "choice": stored.manifest.get("choice"),
        "target": stored.plan.sweep.target,
        "runtime": stored.plan.sweep.runtime,
        "trials": [{**asdict(r), "rate_per_cpu_s": rate_per_cpu_s(r)} for r in stored.results],
        "fit": asdict(stored.fit) if stored.fit else None,
        "noise": asdict(noise_of(stored)),
        "comparison": asdict(compare_variants(stored)) if stored.plan.sweep.variants_ab else None,
        "report": str(page) if (page := Path(stored.path) / _REPORT).is_file() else None,
    }


def show_run(stored: StoredRun) -> None:
    """Shows the table, the fit in one sentence, the verdicts and the report; for `scale ab` also the comparison. A
    run without a finished trial gets one sentence, and an interrupted run the command that continues it."""
    if stored.results:
        _show_results(stored)
    else:
        console.show_line("no trial is finished")
    if status_of(Path(stored.path), stored.manifest) == "interrupted":
        done = f"{len(stored.results)} of {counted(len(stored.plan.trials), 'trial')}"
        again = f"scale resume {shlex.quote(stored.path)}"
        console.show_line(f"interrupted after {done}; continue it with: {again}", "yellow")
    console.show_line(report_line(Path(stored.path)))


def report_line(path: Path) -> str:
    """The path of a run's report, or how to make it: an interrupted run has no report."""
    page = path / _REPORT
    return f"report: {page}" if page.is_file() else f"report: none yet; make it with: scale report {path}"


def show_answers(stored: StoredRun) -> None:
    """Shows the predictions and needs that the sweep requests: one table, or one for each variant."""
    for name, table in _answers(stored).items():
        if table.rows:
            console.show_line("")
            console.show_table(f"{table.title}: {name}" if name else table.title, table.headers, table.rows)
            for note in table.notes:
                console.show_line(f"  {note}", "dim")


def _answers(stored: StoredRun) -> dict[str, Table]:
    """By the name of the variant. A run of several variants is stored without a fit of all."""
    if stored.fit:
        return {"": asked_table(stored.fit)}
    questions = stored.plan.sweep.predict or stored.plan.sweep.need
    return {name: asked_table(fit_again(only(stored, name))) for name in labels_of(stored)} if questions else {}


def _show_table(title: str, table: Table) -> None:
    """Shows a table with its notes. A note on a mark is shown if a cell has that mark."""
    console.show_table(title, table.headers, table.rows, table.essential)
    cells = " ".join(cell for row in table.rows for cell in row)
    for note in table.notes:
        if _MARKED not in note or _MARKED in cells:
            console.show_line(note, "dim")


def _show_results(stored: StoredRun) -> None:
    if stored.plan.sweep.variants_ab:
        show_comparison(compare_variants(stored))
        console.show_line("")
    if is_open_loop(stored) or len(labels_of(stored)) > 1:
        table = response_table(stored) if is_open_loop(stored) else comparison_table(stored)
        _show_table(stored.plan.sweep.question, table)
    else:
        fitted = with_fit(stored)
        _show_table(stored.plan.sweep.question, console_table(fitted))
        if fitted.fit and (words := interval_words(fitted.fit)):
            console.show_line(words, "dim")
    if has_objective(stored):
        searched = capacity_table(stored)
        console.show_line("")
        console.show_table(searched.title, searched.headers, searched.rows)
        console.show_line(f"  {searched.notes[0]}", "dim")
    if stored.fit:
        console.show_line("")
        console.show_line(stored.fit.sentence, "bold")
        for caution in stored.fit.cautions:
            console.show_line(f"  but: {caution}", "yellow")
        for sentence in (*noise_sentences(stored), *sentences(stored.plan, stored.results)):
            console.show_line(f"  {sentence}")
        show_answers(stored)
    console.show_line(f"verdicts: {counted_verdicts(stored.results)}")
    for count, reason in alike(reason for r in stored.results for reason in r.verdict.reasons[:1])[:6]:
        console.show_line(f"  {count} × {reason}")
    for sentence in remedies(stored):
        console.show_line(f"  to change: {sentence}")
