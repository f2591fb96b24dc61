"""The settings of knobs, generated from the registered targets: a flag for each role, and for each name of such a
knob."""

from __future__ import annotations

from scale_sweep.experiment.setting import Setting, Takes, readers
from scale_sweep.experiment.setting import setting as _s
from scale_sweep.experiment.setting import usual as _u
from scale_sweep.model import ROLES_BY_OTHER_NAME, KnobRole
from scale_sweep.server.targets import all_facts

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
