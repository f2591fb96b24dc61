"""The settings of knobs, made from what the registered targets declare: a flag for each role, and for each name of one.

`--partitions` is a role: each target says which of its knobs plays it, and what that knob is called. Refuses to list
knobs here; one that plays no role is given by `--knob NAME=VALUE`.
"""

from __future__ import annotations

from runner.model import KnobRole
from runner.setting import Setting, readers
from runner.setting import setting as _s
from runner.targets import all_facts

_ROLES = {
    KnobRole.PARTITIONS: "Parts that the data are split into",
    KnobRole.WRITERS: "Writing threads of the generator, one connection each",
    KnobRole.COMMIT_THREADS: "Threads of the server that bring data to disk",
}
_VALUE = "a number or a rule '1..4=4,5..=12'."


def _of_role(role: KnobRole, meaning: str) -> Setting:
    """`--partitions`: in each database what plays the role."""
    named = [f"{k.help} ({f.title})" for f in all_facts() for k in f.role_knobs if k.role is role and k.help]
    where = f": {', '.join(named)}" if named else ""
    return _setting(role.value, f"{meaning}{where}; {_VALUE}")


def _of_name(name: str) -> Setting:
    """`--vgroups`: the same by the name that the database has for it."""
    owners = [(facts.title, knob.role) for facts in all_facts() for knob in facts.role_knobs if knob.name == name]
    titles = ", ".join(title for title, _ in owners)
    return _setting(name, f"The name that {_flag(owners[0][1])} has in {titles}.")


def _setting(name: str, text: str) -> Setting:
    return _s(f"knobs.{name}", _flag(name), readers.rule, "", text, "RULE")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _names() -> tuple[str, ...]:
    """Names of knobs that play a role and are not called like it."""
    declared = dict.fromkeys(knob.name for facts in all_facts() for knob in facts.role_knobs)
    return tuple(name for name in declared if name not in list(KnobRole))


KNOB_SETTINGS: tuple[Setting, ...] = (
    *(_of_role(role, meaning) for role, meaning in _ROLES.items()),
    *(_of_name(name) for name in _names()),
    _s(
        "knobs.other",
        "--knob",
        readers.named_rule,
        "",
        "Any other setting of the server, NAME=VALUE or NAME=RULE; repeatable.",
        "NAME=VALUE",
        many=True,
    ),
)
KNOB_NAMES = tuple(s.key.partition(".")[2] for s in KNOB_SETTINGS if not s.many)
"""Names that are a role, or a target's name for one."""
