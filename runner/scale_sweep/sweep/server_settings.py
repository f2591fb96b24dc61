"""The settings of the server, and the knobs of all registered targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scale_sweep.experiment.setting import Setting, Takes, readers, setting
from scale_sweep.model.declared_parts import DEFAULTS, LOADING, ROLES_BY_OTHER_NAME, KnobRole
from scale_sweep.server.runtimes import RUNTIMES
from scale_sweep.server.targets import all_facts

_OURS = "scale"
_FACTS = all_facts()
_TOOLS = {  # the titles of databases, by the name of a load generator of theirs
    name: ", ".join(facts.title for facts in _FACTS if name in facts.load_generators)
    for name in dict.fromkeys(name for facts in _FACTS for name in facts.load_generators if name != _OURS)
}


def _one_of(*names: str) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


_TARGETS = _one_of("auto", *(facts.name for facts in _FACTS))
_RANKED = sorted((facts for facts in _FACTS if facts.auto_rank is not None), key=lambda facts: facts.auto_rank or 0)
_AUTO = f"auto: the first of {', '.join(facts.name for facts in _RANKED)} that this machine has"
_TARGET = f"Database: {_TARGETS}. Several, like a,b, are measured in turn. {_AUTO}."
TARGET = replace(setting("target.name", "--target", str, "auto", _TARGET, "NAME"), usual=True)
_RUNTIMES = ("auto", *RUNTIMES.names())
RUNTIME = replace(
    setting(
        "target.runtime",
        "--runtime",
        readers.OneOf(*_RUNTIMES),
        "auto",
        f"Runtime of the server: {_one_of(*_RUNTIMES)}.",
        "NAME",
    ),
    usual=True,
)
SETTINGS_SET = setting(
    "target.settings",
    "--settings",
    readers.OneOf(DEFAULTS, LOADING),
    DEFAULTS,
    "Initial settings of the servers. defaults: durability and maintenance of the vendor; `scale plan` shows the few "
    "that a trial sets otherwise, such as the buffers of a disk sweep. loading: settings of "
    f"{' and '.join(facts.title for facts in _FACTS if facts.loading)} that make loading fast.",
    "NAME",
)
_METHODS = "; ".join(f"{facts.name}: {', '.join(facts.methods)}" for facts in _FACTS)
METHOD = setting("load.method", "--method", str, "", f"How rows are written. {_METHODS}.", "NAME")
_PROGRAMS = _one_of(f"{_OURS} (scale-loadgen)", *(f"{name} (the tool of {title})" for name, title in _TOOLS.items()))
LOAD_GENERATOR = setting(
    "load.generator",
    "--load-generator",
    readers.OneOf(_OURS, *_TOOLS),
    _OURS,
    f"Program that writes the rows: {_PROGRAMS}.",
    "NAME",
)

_ROLES = {
    KnobRole.PARTITIONS: "Number of parts into which the data is split",
    KnobRole.CONNECTIONS: "Connections of the load generator, each with one thread",
    KnobRole.COMMIT_THREADS: "Threads of the server that write data files",
}


_OWN = [(facts.title, knob) for facts in _FACTS for knob in facts.role_knobs]
# Targets' names for a role that have no flag: --commit-threads, --partitions and --knob take them.
_WITHOUT_FLAG = (
    "data_max_concurrent_compactions storage_max_concurrent_compactions smallmergeconcurrency wal_apply_worker_count "
    "memtable_flush_writers default_data_region_group_num_per_database flush_thread_count"
).split()
KNOB_NAMES = tuple(dict.fromkeys((*_ROLES, *(knob.name for _, knob in _OWN), *ROLES_BY_OTHER_NAME)))


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _knobs() -> Iterator[tuple[str, str]]:
    for role, meaning in _ROLES.items():
        named = "; ".join(f"{knob.help} ({title})" for title, knob in _OWN if knob.role is role and knob.help)
        yield role.value, f"{meaning}{f': {named}' if named else ''}. A number, or a rule such as '1..4=4,5..=12'."
    for name in dict.fromkeys(k.name for _, k in _OWN if k.name not in (*KnobRole, *_WITHOUT_FLAG)):
        owners = [(title, knob.role) for title, knob in _OWN if knob.name == name]
        yield name, f"The same as {_flag(owners[0][1])}, for {', '.join(title for title, _ in owners)}."
    for name, role in ROLES_BY_OTHER_NAME.items():
        yield name, f"The same as {_flag(role)}, by the name that taosBenchmark and the article use."


_NAMED = dict(_knobs())
_ANY = "Any other setting of the server, as a value, or as a rule by level (NAME='1=A,2..=B'). Repeatable."
KNOB_SETTINGS: tuple[Setting, ...] = (
    *(setting(f"knobs.{name}", _flag(name), readers.rule, "", text, "RULE") for name, text in _NAMED.items()),
    setting("knobs.other", "--knob", readers.named_rule, "", _ANY, "NAME=VALUE", takes=Takes.VALUES, usual=True),
)


def knob_flag(name: str) -> str:
    """ "--vgroups"; "--knob flush_thread_count" for a name without its own flag."""
    return _flag(name) if name in _NAMED else f"--knob {name}"
