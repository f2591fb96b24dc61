"""Differences of two runs or variants besides their rates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from scale_sweep.base.texts import is_same_value
from scale_sweep.model.compared import Differing
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult

ABSENT = "–"
_TOOL = ("tool_version", "commit", "code", "method", "python")
_HOST = ("hostname", "cpu_model", "kernel", "os", "cgroup", "governor", "memory_bytes", "cpu_quota")
_NOT_OF_THE_SWEEP = {"origin", "name", "question", "tags", "knobs", "order_seed"}
_ANY_TWO = {"port", "serverPort", "fqdn", "firstEp", "secondEp", "data_directory", "unix_socket_directories"}
_OF_A_SERVER = ("settings", "knobs")  # kinds whose values databases spell in several ways
_SHOWN = 160


def differing(a: StoredRun, b: StoredRun) -> tuple[Differing, ...]:
    """Everything that differs; what explains most comes first."""
    readers = {"server": _server, "settings": _settings, "knobs": _knobs, "sweep": _sweep, "host": _host, "tool": _tool}
    return tuple(one for kind, read in readers.items() for one in _named(kind, read(a), read(b)))


def differing_variants(run: StoredRun, side_of: Callable[[TrialResult], str]) -> tuple[Differing, ...]:
    a, b = (replace(run, results=tuple(r for r in run.results if side_of(r) == side)) for side in ("A", "B"))
    a, b = (replace(one, plan=replace(one.plan, trials=tuple(r.trial for r in one.results))) for one in (a, b))
    readers = {"server": _subject, "settings": _settings, "knobs": _knobs, "load": _load_of}
    return tuple(one for kind, read in readers.items() for one in _named(kind, read(a), read(b)))


def _subject(run: StoredRun) -> dict[str, str]:
    subject = asdict(run.results[0].trial.subject) if run.results else {}
    kept = {name: _text(value) for name, value in subject.items() if name not in ("variant", "version")}
    server = run.results[0].server if run.results else {}
    return {**kept, "version": _text(_version(run)), **_images(server, "image_digest", "image_id")}


def _images(server: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: _text(server[name]) for name in names if name in server}


def _load_of(run: StoredRun) -> dict[str, str]:
    if not run.results:
        return {}
    trial = run.results[0].trial
    return dict(_flat(_plain({"work": asdict(trial.work), "load": asdict(trial.load)})))


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(value, default=str))
    return plain


def _named(kind: str, a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[Differing]:
    for name in dict.fromkeys([*a, *b]):
        old, new = a.get(name, ABSENT), b.get(name, ABSENT)
        if not (is_same_value(old, new) if kind in _OF_A_SERVER else old == new):
            a_shown, b_shown = (t if len(t) <= _SHOWN else t[: _SHOWN - 1] + "…" for t in (old, new))
            yield Differing(kind=kind, name=name, a=a_shown, b=b_shown)


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
    version = _text(server.get("version") or _version(run))
    images = _images(server, "image_digest", "image_id", "image")
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
    return dict(_flat({k: v for k, v in _plain(asdict(run.plan.sweep)).items() if k not in _NOT_OF_THE_SWEEP}))


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
    stable = {name: by for name, by in values.items() if all(len(one) == 1 for one in by.values())}
    along = {name: [next(iter(by[level])) for level in sorted(by)] for name, by in stable.items()}
    return {name: shown[0] if len(set(shown)) == 1 else " / ".join(shown) for name, shown in along.items()}
