"""Tables and the document of a plan: its trials, the settings of its servers, the settings of the sweep with
origins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scale_sweep.base.units import format_cpus, format_levels, format_number
from scale_sweep.cli.compose import Prepared
from scale_sweep.cli.setting_values import OPERATION, operation_values, setting_values
from scale_sweep.model import Plan, Sweep, Trial
from scale_sweep.plan.power import GatePower, power_of
from scale_sweep.sweep.file import origin_words
from scale_sweep.sweep.settings import SETTINGS
from scale_sweep.sweep.vary import label

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]
_VENDORS = "not sent"  # the server has its own default


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
    """Settings that each trial sends to its server, with derived ones, and which of the server's own limits it uses.
    A setting that differs between the variants of a server has a row for each variant."""
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
    """The name of a setting, and of which server and variant it is."""
    names = ", ".join(filter(None, of))
    return f"{name} ({names})" if names else name


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
    """Every setting that has a value, the value, and its origin."""
    values = setting_values(sweep)
    rows = []
    for setting in SETTINGS:
        shown = operation_values(sweep) if setting.key == OPERATION else {setting.key: values.get(setting.key, "")}
        rows += [[key, text, origin_words(sweep, setting.key, text)] for key, text in shown.items() if text]
    return ["setting", "value", "from"], rows


def settings_title(plan: Plan) -> str:
    """The heading of the settings. The plan has those of its first variant or server."""
    servers = {trial.subject.server for trial in plan.trials}
    first = "A" if plan.sweep.variants_ab else plan.sweep.target if len(servers) > 1 else ""
    return f"Settings of {first}" if first else "Settings"


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
