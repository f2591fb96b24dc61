"""Facts of a run from its manifest, of which any may be missing, and the settings that its servers reported."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from statistics import median

from scale_sweep.base.texts import is_same_value
from scale_sweep.base.units import counted, format_cpus, format_number, format_seconds
from scale_sweep.experiment.axes import axis_of
from scale_sweep.model.declared_parts import DEFAULTS, KnobRole
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import TrialResult
from scale_sweep.report.conditions import old_servers, quota_words
from scale_sweep.report.disk_tables import limit_words
from scale_sweep.report.load_words import ceiling_words, load_words, rows_words
from scale_sweep.report.noise import slow_changes
from scale_sweep.report.replicates import replicates_words
from scale_sweep.report.table import ABSENT, Table, fixed, known, mean, unseen_words

Fact = tuple[str, str]


def _part(manifest: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = manifest.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return "" if value is None or isinstance(value, (Mapping, list, tuple)) else str(value).strip()


def _sequence(value: object) -> Sequence[object]:
    return value if isinstance(value, (list, tuple)) else ()


def command_of(run: StoredRun) -> str:
    return shlex.join(str(word) for word in _sequence(run.manifest.get("command")))


def created(run: StoredRun) -> str:
    """ "2026-01-02 03:04 UTC", and whether `scale import` stored the run."""
    text, origin = _text(run.manifest.get("created_utc")), " · imported, redacted" * ("redacted" in run.manifest)
    return (f"{text[:16].replace('T', ' ')} UTC" if len(text) >= 16 else text) + origin


def server_name(run: StoredRun) -> str:
    versions = {r.trial.subject.target: r.effective.get("server_version", "") for r in run.results}
    if not any(versions.values()):
        version = _text(_part(run.manifest, "server").get("version")) or run.plan.sweep.version or ""
        versions = dict.fromkeys(versions or (run.plan.sweep.target,), version)
    return ", ".join(v if v.startswith(f"{target} ") else f"{target} {v}".strip() for target, v in versions.items())


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
        ("Limit of the disk", limit_words(run)),
        ("Server", ", ".join(filter(None, (server_name(run), run.plan.sweep.runtime, _as_user(run))))),
        ("Encryption", "; ".join(dict.fromkeys(r.effective.get("encryption", "") for r in run.results))),
        ("Image", _text(server.get("image_digest")) or run.plan.sweep.image),
        ("Chosen because", _text(run.manifest.get("choice"))),
    ]
    here = ("cgroup", "Disks", "Limit of the disk") if run.plan.is_simulated else ()  # of the load's machine
    return tuple((label, value) for label, value in facts if value and label not in here)


def _as_user(run: StoredRun) -> str:
    """With the reason where one needs root."""
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
    cap = value.get("cap_bytes_per_s")
    capped = f"capped at {cap / 1e6:.1f} MB/s" if isinstance(cap, (int, float)) and cap else ""
    parts = (named, _text(value.get("file_system")), spins, where, capped)
    return " · ".join(p for p in parts if p)


def method_facts(run: StoredRun) -> tuple[Fact, ...]:
    """How it was measured, and the sampler's cost."""
    sweep, version = run.plan.sweep, _text(run.manifest.get("tool_version"))
    facts = [
        ("Load", load_words(run)),
        ("Warm-up", _warmups(run)),
        ("Rows", rows_words(run)),
        ("Replicates", f"{replicates_words(run)}, interleaved, in an order of seed {sweep.seed_of_order}"),
        ("Not visible", unseen_words(run)),
        ("Ceiling of the load generator", ceiling_words(run)),
        ("Stored rows", _compared(run)),
        ("Watching cost", _sampler(run)),
        ("Took", format_seconds(sum(r.wall_s for r in run.results))),
        ("Tool", " ".join(filter(None, ("scale", version, _text(run.manifest.get("commit"))[:12])))),
        ("Begun", created(run)),
        ("Tags", " ".join(f"{k}={v}" for k, v in sweep.tags.items())),
    ]
    return tuple((label, value) for label, value in facts if value)


def _warmups(run: StoredRun) -> str:
    if run.plan.sweep.load.warmup_least_s is None:
        return ""
    by_level: dict[float, list[float]] = {}
    for r in run.on_curve:
        series = run.timeseries.get(r.trial.trial_id, ())
        if series and series[0][0] < 1:
            by_level.setdefault(r.trial.level, []).append(1 - series[0][0])
    axis = axis_of(run.plan.sweep.axis).facts
    lengths = [
        f"{_middle(seconds)} at {axis.count(format_number(level))}" for level, seconds in sorted(by_level.items())
    ]
    return f"took {', '.join(lengths)}" if lengths else ""


def _middle(seconds: Sequence[float]) -> str:
    middle, least, most = (f"{f(seconds):.0f}" for f in (median, min, max))
    return f"{middle} s" if least == most else f"{middle} s ({least} to {most} s)"


def _compared(run: StoredRun) -> str:
    measured = [r.measurement for r in run.results if r.measurement.rows_compared is not None]
    if not measured:
        return ""
    compared, stored = sum(m.rows_compared or 0 for m in measured), sum(m.rows_counted or 0 for m in measured)
    trials = counted(len(measured), "trial")
    return f"{compared:,} of {stored:,} in {trials} compared with the rows that were sent, by sums"


def _sampler(run: StoredRun) -> str:
    share = mean(r.measurement.sampler_cpu_percent for r in run.results)
    missed = sum(r.measurement.missed_ticks or 0 for r in run.results)
    if not known(share):
        return ""
    lost = counted(missed, "sample")
    return f"{fixed(share, 2)} % of one core for sampling at {run.plan.sweep.sample_hz:g} Hz; {lost} missed"


def placements(run: StoredRun) -> tuple[tuple[str, ...], ...]:
    """By level: server's CPUs, load generator's CPUs, shared CPUs."""
    rows = []
    for r in sorted(run.results, key=lambda r: r.trial.level):
        p = r.trial.placement
        quota = f" (quota {format_number(p.quota_cores)})" if p.quota_cores is not None else ""
        shared = format_cpus(p.shared) if p.shared else "none"
        rows.append((r.trial.level, format_cpus(p.server_cpus) + quota, format_cpus(p.generator_cpus), shared))
    return tuple((format_number(level), *rest) for level, *rest in dict.fromkeys(rows))


def effective_settings(run: StoredRun) -> tuple[tuple[str, str], ...]:
    values_of: dict[str, dict[str, None]] = {}
    for r in sorted(run.results, key=lambda r: r.trial.level):
        for name, value in r.effective.items():
            values_of.setdefault(name, {})[str(value)] = None
    return tuple((name, " / ".join(values)) for name, values in sorted(values_of.items()))


def cautions_of(run: StoredRun, cautions: Sequence[str]) -> tuple[str, ...]:
    confounds, fixed_here = (c.sentence for c in run.plan.confounds), (*_loading_words(run), *quota_words(run))
    first = run.plan.notes[:1] if run.plan.is_simulated else ()
    sentences = (*first, *confounds, *slow_changes(run), *cautions, *fixed_here, *run.plan.notes, *old_servers(run))
    return tuple(dict.fromkeys(sentences))


_NAMED = 4  # settings that a caution names
_FROM = {
    True: "Durability and maintenance have the vendors' defaults (--settings defaults)",
    False: "The servers had the set of settings for loading (--settings loading)",
}
_READ = "The server reported these values in the trials; those that differ between trials are joined by /."


def starting_point(run: StoredRun) -> str:
    named = {trial.settings == DEFAULTS for trial in run.plan.trials}
    return "; ".join(words for is_vendor, words in _FROM.items() if is_vendor in named)


def settings_words(run: StoredRun) -> str:
    """ "settings: defaults"; "" for servers that scale did not set, and for those that have no sets of settings."""
    known = _part(run.manifest, "vendor_defaults")
    sets = {t.settings for t in run.plan.trials if not t.subject.endpoint and known.get(t.subject.target)}
    return f"settings: {' and '.join(sorted(sets))}" if sets else ""


def _loading_words(run: StoredRun) -> tuple[str, ...]:
    """Which settings differ from the vendors', and where rows were."""
    results = [r for r in run.results if r.trial.settings != DEFAULTS]
    table = settings_table(run) if results else None
    names = list(dict.fromkeys(row[1] for row in table.rows)) if table is not None else []
    if not names:
        return ()
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    places = dict.fromkeys(r.effective.get("acknowledged", "") for r in results) if run.plan.sweep.work.writes else ()
    lost = [place for place in places if place.startswith("in ")]
    where = f"; rows were acknowledged {lost[0]}, so a crash of the machine can lose the last of them" if lost else ""
    sentence = f"not the vendors' defaults: {', '.join(names[:_NAMED])}{more}{where}. Compare with --settings defaults"
    return (sentence,)


def settings_table(run: StoredRun) -> Table | None:
    """None if the manifest has no defaults of the vendors."""
    stored = run.manifest.get("vendor_defaults")
    if not isinstance(stored, Mapping) or not run.results:
        return None
    load_knobs, rows = frozenset(knob.name for knob in run.plan.knobs if knob.role is not KnobRole.OTHER), []
    for name in dict.fromkeys(result.trial.subject.target for result in run.results):
        defaults = stored.get(name)
        mine = [result for result in run.results if result.trial.subject.target == name]
        rows += _rows(name, mine, defaults if isinstance(defaults, Mapping) else {}, load_knobs)
    return Table(
        title="Settings that differ from the defaults of the vendors",
        headers=("database", "setting", "here", "vendor's default"),
        rows=tuple(rows),
        words=(0, 1, 2, 3),
        notes=(starting_point(run), _READ),
    )


def _rows(
    database: str, results: list[TrialResult], defaults: Mapping[str, object], load_knobs: frozenset[str]
) -> list[tuple[str, ...]]:
    requested = {name for result in results for name in result.trial.knobs if name not in load_knobs}
    rows: list[tuple[str, ...]] = []
    for setting in sorted({*defaults, *requested}):
        values = list(dict.fromkeys(r.effective[setting] for r in results if setting in r.effective))
        default = str(defaults.get(setting, "not stated"))
        if any(not is_same_value(value, default) for value in values):
            rows.append((database, setting, " / ".join(values), default))
    return rows


def load_hosts(run: StoredRun) -> tuple[Fact, ...]:
    hosts = run.manifest.get("hosts")
    names = hosts.get("load") if isinstance(hosts, Mapping) else None
    return (("Load hosts", ", ".join(map(str, names))),) if isinstance(names, (list, tuple)) and names else ()


def servers_table(named: Sequence[tuple[str, StoredRun]]) -> Table:
    """With the mean clock rate where the kernel counts it."""
    facts = []
    for _, run in named:
        mhz = mean(result.measurement.server_cpu_mhz for result in run.results)
        clock = (("Clock rate", f"{mhz / 1000:.2f} GHz"),) if mhz is not None else ()
        facts.append(dict((*machine_facts(run), *clock, *load_hosts(run))))
    kept = [one for one in dict.fromkeys(one for of in facts for one in of) if one not in ("Host", "Chosen because")]
    rows = tuple((name, *(of.get(one, ABSENT) for one in kept)) for (name, _), of in zip(named, facts, strict=True))
    return Table(title="Servers", headers=("Host", *kept), rows=rows, words=tuple(range(len(kept) + 1)))
