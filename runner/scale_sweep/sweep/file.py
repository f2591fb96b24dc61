"""Finds and reads a sweep file, says where each value comes from, and writes a schema and a first file."""

from __future__ import annotations

import json
import os
import shlex
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import bundled, read_input_text, toml_document
from scale_sweep.base.texts import did_you_mean, plain_text
from scale_sweep.experiment.axes import Axis, AxisFacts, all_axes
from scale_sweep.experiment.setting import Setting, Takes
from scale_sweep.experiment.setting.readers import OneOf
from scale_sweep.model.declared import Sweep
from scale_sweep.sweep.axis import commands
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.prices import PREFIX
from scale_sweep.sweep.settings import BY_KEY, DESCRIPTIVE_KEYS
from scale_sweep.sweep.window import QUICK_DEFAULTS

FILE_BYTES_MAX = 1 << 20
_EXPECTED = "a text, a number or a list is expected"
_PAIRS = ("tags", "vary", "mix")


def read_sweep_file(path: Path) -> dict[str, str | list[str]]:
    """Raises UsageError that names the file, or every unknown key with the nearest."""
    text = read_input_text(path, "sweep file", FILE_BYTES_MAX)
    document = toml_document(text, f"sweep file {path}")
    texts: dict[str, str | list[str]] = {}
    mistakes = [m for key, value in document.items() for m in _take(texts, key, value)]
    if mistakes:
        raise UsageError(f"sweep file {path}:\n  " + "\n  ".join(mistakes), remedy="scale schema prints every key")
    return texts


def _take(texts: dict[str, str | list[str]], section: str, value: object) -> list[str]:
    if section in DESCRIPTIVE_KEYS:
        return _take_description(texts, section, value)
    if section in _PAIRS and isinstance(value, Mapping):
        return _take_pairs(texts, section, value)
    if section == "operation" and isinstance(value, Mapping):
        return _take_operations(texts, value)
    sections = {k.partition(".")[0] for k in BY_KEY if "." in k}
    known = sections | {*_PAIRS, "operation"}
    if section in known and not isinstance(value, Mapping):
        return [f"{section} is a section: write [{section}]"]
    if section not in sections or not isinstance(value, Mapping):
        return [_unknown(section, sorted(known | {*DESCRIPTIVE_KEYS}))]
    mistakes: list[str] = []
    for name, entry in value.items():
        key = f"{section}.{name}"
        text = _text(entry)
        if text is None or (isinstance(entry, bool) and key in BY_KEY and not BY_KEY[key].switch):
            mistakes.append(f"{key}: {_EXPECTED}")
        elif key in BY_KEY and key != "knobs.other":
            texts[key] = text
        elif section == "knobs":
            other = texts.setdefault("knobs.other", [])
            assert isinstance(other, list)
            other.append(f"{name}={text}")
        else:
            mistakes.append(_unknown(key, [k for k in BY_KEY if k.startswith(section + ".")]))
    return mistakes


def _take_description(texts: dict[str, str | list[str]], key: str, value: object) -> list[str]:
    if not isinstance(value, str):
        return [f"{key}: a text is expected"]
    try:
        texts[key] = plain_text(" ".join(value.split())) if value else ""
    except ValueError as error:
        return [f"{key}: {error}"]
    return []


def _take_pairs(texts: dict[str, str | list[str]], section: str, pairs: Mapping[str, object]) -> list[str]:
    values = {name: _text(entry) for name, entry in pairs.items()}
    written = [f"{name}={text}" for name, text in values.items() if text is not None]
    texts[section] = ",".join(written) if section == "mix" else written
    return [f"{section}.{name}: {_EXPECTED}" for name, text in values.items() if text is None]


def _take_operations(texts: dict[str, str | list[str]], operations: Mapping[str, object]) -> list[str]:
    texts_of, mistakes = [], []
    for name, parameters in operations.items():
        if not isinstance(parameters, Mapping):
            mistakes.append(f'operation.{name}: a table is expected, like [operation.{name}] span = "1h"')
            continue
        for parameter, entry in parameters.items():
            text = _text(entry)
            if text is None:
                mistakes.append(f"operation.{name}.{parameter}: {_EXPECTED}")
            else:
                texts_of.append(f"{name}.{parameter}={text}")
    texts["operation"] = texts_of
    return mistakes


def _text(entry: object) -> str | None:
    if isinstance(entry, bool):
        return "1" if entry else "0"
    if isinstance(entry, (str, int, float)):
        return str(entry)
    if isinstance(entry, list) and all(isinstance(e, (str, int, float)) for e in entry):
        return ",".join(str(e) for e in entry)
    return None


def _unknown(key: str, known: list[str]) -> str:
    name = key.rpartition(".")[2]
    if homes := [f"[{one.removesuffix(f'.{name}')}]" for one in BY_KEY if one.endswith(f".{name}")]:
        return f"{key}: belongs in the section {' or '.join(homes)}"
    return f"{key}: unknown key" + (did_you_mean(key, known) or f"; known are {', '.join(known)}")


def bundled_sweeps() -> dict[str, Path]:
    return {name: path for name, path in bundled("sweeps", ".toml").items() if not name.startswith(PREFIX)}


def sweep_path(what: str) -> Path:
    """A local file counts before a bundled one. Raises UsageError with all names."""
    path, shipped = Path(what), bundled_sweeps()
    if os.path.isfile(path) or path.suffix == ".toml" or (os.path.exists(path) and what not in shipped):
        return path
    if what in shipped:
        return shipped[what]
    known = (*commands(), *shipped)
    raise UsageError(
        f"{what[:80]!r} is neither a kind of sweep ({', '.join(commands())}), nor a bundled sweep "
        f"({', '.join(shipped)}), nor a sweep file{did_you_mean(what, known)}",
        remedy=", ".join((*(axis.facts.example for axis in all_axes()), "or scale sweep FILE.toml")),
    )


_BY_TARGET = ("load.method", "workload.rows_per_request")  # besides the knobs
_BY_FLAG = {
    "load.slo": ("load.duration", "knobs.connections", "method.connections_check"),
    "load.soak": ("load.duration", "method.replicates", "method.drift_check"),
    "load.quick": ("load.duration", "load.window_max", *QUICK_DEFAULTS),
}
_BY_OTHER = {"load.window_max": "--duration", "method.order_seed": "new for each run"}
_WORDS = {"host": "this machine", "detect": "--detect", "time": "--quick"}  # of the origins that a plan sets


def origin_words(sweep: Sweep, key: str, value: str) -> str:
    origin = sweep.origin.get(key, "default")
    if origin != "default":
        return _WORDS.get(origin, origin)
    if key == "workload.tables" and value != NAMED.get(sweep.workload, {}).get(key, BY_KEY[key].default):
        return "the connections"
    if by := _decided_by(sweep, key):
        return by
    if key.startswith("knobs.") or key in _BY_TARGET:
        return "default (target)"
    return _BY_OTHER.get(key, "default" if key in BY_KEY and BY_KEY[key].default else "this machine")


def _decided_by(sweep: Sweep, key: str) -> str:
    for by, keys in _BY_FLAG.items():
        if key in keys and sweep.origin.get(by, "default") != "default":
            return BY_KEY[by].flag
    return f"--workload {sweep.workload}" if key in NAMED.get(sweep.workload, {}) else ""


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
_COMMANDS = {
    "target.command": "redis-server --port {port} --dir {data} --save ''",
    "load.command": "redis-benchmark -p {port} -t set -n 1000000 -c 50 -P 16",
}
_OF_COMMANDS = {
    "target.ready": "log:Ready to accept connections",
    "load.prepare": "redis-cli -p {port} set first 1",
    "load.count": "redis-cli -p {port} dbsize",
    "load.rate_from": "ops/s: ([0-9.]+)",
}
_WIDTH = 110


def sweep_schema() -> dict[str, Any]:
    """A JSON document, draft 7."""
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
    """A key in a comment has its default value."""
    others = {key: BY_KEY[key].default for key in _FIRST}
    return _file(axis.facts, axis.facts.command, {"target.name": target}, others)


def first_command_file() -> str:
    """For a server that a command starts and another program loads. A key in a comment is an example."""
    others = {**_OF_COMMANDS, _FIRST[-1]: BY_KEY[_FIRST[-1]].default}
    return _file(all_axes()[0].facts, "command", _COMMANDS, others)


def _file(facts: AxisFacts, name: str, values: Mapping[str, str], others: Mapping[str, str]) -> str:
    question = facts.question.replace("write rate", "rate of requests") if "load.command" in values else facts.question
    sections: dict[str, list[str]] = {}
    for key, text in {**_of_example(facts.example), **values}.items():
        sections.setdefault(key.partition(".")[0], []).extend([*_comment(BY_KEY[key].help), _line(key, text)])
    for key, text in others.items():
        lines = [*_comment(BY_KEY[key].help), f"# {_line(key, text)}"]
        sections.setdefault(key.partition(".")[0], []).extend(lines)
    head = [
        f"#:schema {SCHEMA_FILE}",
        f"# For editors that check: scale schema > {SCHEMA_FILE}",
        "# scale plan FILE shows what it would do, scale sweep FILE does it. A flag replaces a key of the file.",
        "# docs/settings.md lists all keys.",
        f"name = {json.dumps(name)}",
        f"question = {json.dumps(question)}",
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
