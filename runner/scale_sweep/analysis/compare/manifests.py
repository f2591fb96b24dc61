"""Differences of two runs, or of two variants, besides their rates: tool, server, settings, host, knobs, sweep."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from scale_sweep.base.texts import is_same_value
from scale_sweep.model import StoredRun, TrialResult
from scale_sweep.model.compared import Differing

ABSENT = "–"
_TOOL = ("tool_version", "commit", "code", "method", "python")
_HOST = ("hostname", "cpu_model", "kernel", "os", "cgroup", "governor", "memory_bytes", "cpu_quota")
_NOT_OF_THE_SWEEP = {"origin", "name", "question", "tags", "knobs", "order_seed"}
_ANY_TWO = {"port", "serverPort", "fqdn", "firstEp", "secondEp", "data_directory", "unix_socket_directories"}
_OF_A_SERVER = ("settings", "knobs")  # kinds whose values databases spell in several ways
_SHOWN = 160


def differing(a: StoredRun, b: StoredRun) -> tuple[Differing, ...]:
    """Everything that differs. What explains most comes first."""
    differences = [
        *_named("server", _server(a), _server(b)),
        *_named("settings", _settings(a), _settings(b)),
        *_named("knobs", _knobs(a), _knobs(b)),
        *_named("sweep", _sweep(a), _sweep(b)),
        *_named("host", _host(a), _host(b)),
        *_named("tool", _tool(a), _tool(b)),
    ]
    return tuple(differences)


def differing_variants(run: StoredRun, side_of: Callable[[TrialResult], str]) -> tuple[Differing, ...]:
    """Differences of A and B of one run: server, settings as it reported them, knobs, work and load."""
    a, b = (replace(run, results=tuple(r for r in run.results if side_of(r) == side)) for side in ("A", "B"))
    a, b = (replace(one, plan=replace(one.plan, trials=tuple(r.trial for r in one.results))) for one in (a, b))
    return (
        *_named("server", _subject(a), _subject(b)),
        *_named("settings", _settings(a), _settings(b)),
        *_named("knobs", _knobs(a), _knobs(b)),
        *_named("load", _load_of(a), _load_of(b)),
    )


def _subject(run: StoredRun) -> dict[str, str]:
    subject = asdict(run.results[0].trial.subject) if run.results else {}
    server = dict(run.results[0].server) if run.results else {}
    images: dict[str, str] = {name: _text(server[name]) for name in ("image_digest", "image_id") if name in server}
    kept = {name: _text(value) for name, value in subject.items() if name not in ("variant", "version")}
    return {**kept, "version": _text(_version(run)), **images}


def _load_of(run: StoredRun) -> dict[str, str]:
    if not run.results:
        return {}
    trial = run.results[0].trial
    plain = json.loads(json.dumps({"work": asdict(trial.work), "load": asdict(trial.load)}, default=str))
    return dict(_flat(plain))


def _named(kind: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Differing]:
    for name in dict.fromkeys([*a, *b]):
        old, new = a.get(name, ABSENT), b.get(name, ABSENT)
        if not (is_same_value(old, new) if kind in _OF_A_SERVER else old == new):
            yield Differing(kind=kind, name=name, a=_cut(old), b=_cut(new))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _text(value: Any) -> str:
    if value is None or value == "":
        return ABSENT
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _tool(run: StoredRun) -> dict[str, str]:
    return {name: _text(run.manifest.get(name)) for name in _TOOL}


def _server(run: StoredRun) -> dict[str, str]:
    sweep = run.plan.sweep
    stored = run.manifest.get("server")
    server = stored if isinstance(stored, Mapping) else {}
    images = {name: _text(server[name]) for name in ("image_digest", "image_id", "image") if name in server}
    version = _text(server.get("version") or _version(run))
    return {"target": sweep.target, "runtime": sweep.runtime, "version": version, **images}


def _version(run: StoredRun) -> str:
    return next((r.effective["server_version"] for r in run.results if "server_version" in r.effective), "")


def _host(run: StoredRun) -> dict[str, str]:
    host = run.manifest.get("host")
    facts = dict(host) if isinstance(host, Mapping) else {}
    shown = {name: _text(facts.get(name)) for name in _HOST}
    cpus = facts.get("cpus")
    shown["cpus"] = str(len(cpus)) if isinstance(cpus, (list, tuple)) else ABSENT
    disks = run.manifest.get("disks")
    for at, disk in enumerate(disks if isinstance(disks, (list, tuple)) else ()):
        if isinstance(disk, Mapping):
            kept = {k: v for k, v in disk.items() if k not in ("free_bytes", "size_bytes")}
            shown[f"disk {at + 1}"] = _text(kept)
    return shown


def _sweep(run: StoredRun) -> dict[str, str]:
    plain = json.loads(json.dumps(asdict(run.plan.sweep), default=str))
    return dict(_flat({k: v for k, v in plain.items() if k not in _NOT_OF_THE_SWEEP}))


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(inner)


def _knobs(run: StoredRun) -> dict[str, str]:
    return _by_level([(t.level, t.knobs) for t in run.plan.trials if t.role == "point"])


def _settings(run: StoredRun) -> dict[str, str]:
    reported = [(r.trial.level, r.effective) for r in run.on_curve if r.effective]
    return {k: v for k, v in _by_level(reported).items() if k not in _ANY_TWO and k != "server_version"}


def _by_level(reported: list[tuple[float, Mapping[str, str]]]) -> dict[str, str]:
    values: dict[str, dict[float, set[str]]] = {}
    for level, settings in reported:
        for name, value in settings.items():
            values.setdefault(name, {}).setdefault(level, set()).add(value)
    stable = {n: by for n, by in values.items() if all(len(v) == 1 for v in by.values())}
    return {name: _along(by) for name, by in stable.items()}


def _along(by_level: Mapping[float, set[str]]) -> str:
    values = [next(iter(by_level[level])) for level in sorted(by_level)]
    return values[0] if len(set(values)) == 1 else " / ".join(values)
