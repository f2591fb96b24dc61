"""The JSON schema of sweep files, for editors that complete and check them, and a first sweep file with comments."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from scale_sweep.experiment.axes import Axis
from scale_sweep.experiment.setting import Setting, Takes
from scale_sweep.experiment.setting.readers import OneOf
from scale_sweep.sweep.settings import BY_KEY, DESCRIPTIVE_KEYS

SCHEMA_FILE = "scale-sweep.schema.json"
_SCALAR = {"type": ["string", "number"]}
_LIST = {"type": ["string", "number", "array"], "items": _SCALAR}
_OPEN = {"knobs": "any other key is a setting of the server", "tags": "notes that are stored with the run"}
# Tables whose keys the user chooses. A mix has a weight for each operation, an operation its parameters.
_TABLES: Mapping[str, Mapping[str, Any]] = {
    "tags": {"type": "object", "additionalProperties": _SCALAR},
    "vary": {"type": "object", "additionalProperties": _LIST},
    "mix": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
    "operation": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _LIST}},
}
# What a first file shows besides the axis and the target; the rest is on the page of settings.
_FIRST = ("workload.name", "workload.tables", "load.duration", "load.warmup", "method.replicates")
_WIDTH = 110


def sweep_schema() -> dict[str, Any]:
    """The schema as a JSON document, draft 7."""
    properties: dict[str, Any] = {key: {"type": "string"} for key in DESCRIPTIVE_KEYS}
    for section in dict.fromkeys(key.partition(".")[0] for key in BY_KEY if "." in key):
        properties[section] = {
            "type": "object",
            "properties": {s.key.partition(".")[2]: _value(s) for s in _section(section)},
            "additionalProperties": _LIST if section in _OPEN else False,
        }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "a sweep of scale",
        "type": "object",
        "properties": {**properties, **_TABLES},
        "additionalProperties": False,
    }


def _section(name: str) -> Iterable[Setting]:
    return (s for key, s in BY_KEY.items() if key.startswith(f"{name}.") and key != "knobs.other")


def _value(setting: Setting) -> dict[str, Any]:
    value: dict[str, Any] = dict(_LIST)
    if setting.switch:
        value = {"type": "boolean"}
    elif isinstance(setting.read, OneOf):
        value = {"enum": list(setting.read.choices)}
    value["description"] = setting.help
    if setting.default and setting.takes is Takes.VALUE:
        value["default"] = setting.default
    return value


def first_file(axis: Axis, target: str) -> str:
    """A sweep file for an axis, in TOML, with the settings of the axis' example. Its comments explain each key; a key
    in a comment has its default value."""
    facts = axis.facts
    sections: dict[str, list[str]] = {}
    for key, text in {**_of_example(facts.example), "target.name": target}.items():
        sections.setdefault(key.partition(".")[0], []).extend([*_comment(BY_KEY[key].help), _line(key, text)])
    for key in _FIRST:
        lines = [*_comment(BY_KEY[key].help), f"# {_line(key, BY_KEY[key].default)}"]
        sections.setdefault(key.partition(".")[0], []).extend(lines)
    head = [
        f"#:schema {SCHEMA_FILE}",
        f"# For editors that check: scale schema > {SCHEMA_FILE}",
        "# scale plan FILE shows what it would do, scale sweep FILE does it. A flag replaces a key of the file.",
        "# docs/settings.md lists all keys.",
        f"name = {json.dumps(facts.command)}",
        f"question = {json.dumps(facts.question)}",
    ]
    return "\n".join([*head, *(line for name, lines in sections.items() for line in ("", f"[{name}]", *lines))]) + "\n"


def _of_example(example: str) -> dict[str, str]:
    _, _, _, *words = shlex.split(example)
    keys = {s.flag: s.key for s in BY_KEY.values()}
    return {keys[flag]: text for flag, text in zip(words[::2], words[1::2], strict=True)}


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _line(key: str, text: str) -> str:
    name = key.partition(".")[2]
    return f"{name} = {text if text.isdecimal() else json.dumps(text, ensure_ascii=False)}"
