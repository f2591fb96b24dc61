"""The settings of the server: its database, runtime, method, and the knobs of all registered targets."""

from __future__ import annotations

from scale_sweep.experiment.setting import Setting, Takes, readers
from scale_sweep.experiment.setting import setting as _s
from scale_sweep.experiment.setting import usual as _u
from scale_sweep.model import DEFAULTS, LOADING, ROLES_BY_OTHER_NAME, KnobRole
from scale_sweep.server.runtimes import RUNTIMES
from scale_sweep.server.targets import all_facts

_OURS = "scale"


def _one_of(*names: str) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def _loaded() -> str:
    return " and ".join(facts.title for facts in all_facts() if facts.loading)


def _methods() -> str:
    return "; ".join(f"{facts.name}: {', '.join(facts.methods)}" for facts in all_facts())


def _genuine() -> dict[str, str]:
    titles_of: dict[str, list[str]] = {}
    for facts in all_facts():
        for name in facts.load_generators:
            titles_of.setdefault(name, []).append(facts.title)
    return {name: ", ".join(titles) for name, titles in titles_of.items() if name != _OURS}


TARGET = _u(
    "target.name",
    "--target",
    str,
    "auto",
    f"Database: {_one_of('auto', *(f.name for f in all_facts()))}.",
    "NAME",
)
RUNTIME = _u(
    "target.runtime",
    "--runtime",
    readers.OneOf("auto", *RUNTIMES.names()),
    "auto",
    f"Runtime of the server: {_one_of('auto', *RUNTIMES.names())}.",
    "NAME",
)
SETTINGS_SET = _s(
    "target.settings",
    "--settings",
    readers.OneOf(DEFAULTS, LOADING),
    DEFAULTS,
    "Initial settings of the servers. defaults: durability and maintenance of the vendor. loading: settings of "
    f"{_loaded()} that make loading fast.",
    "NAME",
)
METHOD = _s("load.method", "--method", str, "", f"How rows are written. {_methods()}.", "NAME")
LOAD_GENERATOR = _s(
    "load.generator",
    "--load-generator",
    readers.OneOf(_OURS, *_genuine()),
    _OURS,
    "Program that writes the rows: "
    + _one_of(f"{_OURS} (scale-loadgen)", *(f"{name} (the tool of {title})" for name, title in _genuine().items()))
    + ".",
    "NAME",
)


_ROLES = {
    KnobRole.PARTITIONS: "Number of parts into which the data is split",
    KnobRole.CONNECTIONS: "Connections of the load generator, each with one thread",
    KnobRole.COMMIT_THREADS: "Threads of the server that write data files",
}
_VALUE = "A number, or a rule such as '1..4=4,5..=12'."


def _of_role(role: KnobRole, meaning: str) -> Setting:
    named = [f"{k.help} ({f.title})" for f in all_facts() for k in f.role_knobs if k.role is role and k.help]
    where = f": {'; '.join(named)}" if named else ""
    return _setting(role.value, f"{meaning}{where}. {_VALUE}")


def _of_name(name: str) -> Setting:
    owners = [(facts.title, knob.role) for facts in all_facts() for knob in facts.role_knobs if knob.name == name]
    titles = ", ".join(title for title, _ in owners)
    return _setting(name, f"The same as {_flag(owners[0][1])}, for {titles}.")


def _setting(name: str, text: str) -> Setting:
    return _s(f"knobs.{name}", _flag(name), readers.rule, "", text, "RULE")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _names() -> tuple[str, ...]:
    declared = dict.fromkeys(knob.name for facts in all_facts() for knob in facts.role_knobs)
    return tuple(name for name in declared if name not in list(KnobRole))


KNOB_SETTINGS: tuple[Setting, ...] = (
    *(_of_role(role, meaning) for role, meaning in _ROLES.items()),
    *(_of_name(name) for name in _names()),
    *(
        _setting(name, f"The same as {_flag(role)}, by the name that taosBenchmark and the article use.")
        for name, role in ROLES_BY_OTHER_NAME.items()
    ),
    _u(
        "knobs.other",
        "--knob",
        readers.named_rule,
        "",
        "Any other setting of the server, as a value or a rule. Repeatable.",
        "NAME=VALUE",
        takes=Takes.VALUES,
    ),
)
KNOB_NAMES = tuple(s.key.partition(".")[2] for s in KNOB_SETTINGS if not s.many)
"""Names that are a role, or a target's name for one."""
