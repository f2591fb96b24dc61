"""Reads a sweep file (TOML) into texts by key, and reports every mistake by its key.

Refuses to interpret values: settings.py and resolve.py do that. A sweep file cannot run anything.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path

from runner.errors import UsageError
from runner.sweep.settings import BY_KEY, DESCRIPTIVE_KEYS, FORMER_KEYS

FILE_BYTES_MAX = 1 << 20


def read_sweep_file(path: Path) -> dict[str, str | list[str]]:
    """Texts by key. Keys of `[knobs]` that are not known knobs become entries of knobs.other; `[tags]` of tags.

    Raises UsageError that names the file, or every unknown key with the nearest known one.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"sweep file {path}: {error.strerror}", remedy="give the path of a readable TOML file"
        ) from None
    if len(raw) > FILE_BYTES_MAX:
        raise UsageError(f"sweep file {path} has {len(raw)} bytes; {FILE_BYTES_MAX} at most")
    try:
        document = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"sweep file {path} is not valid TOML: {error}") from None
    texts: dict[str, str | list[str]] = {}
    mistakes = [m for key, value in document.items() for m in _take(texts, key, value)]
    if mistakes:
        raise UsageError(f"sweep file {path}:\n  " + "\n  ".join(mistakes), remedy="see docs/settings.md for every key")
    return texts


def _take(texts: dict[str, str | list[str]], section: str, value: object) -> list[str]:
    if section in DESCRIPTIVE_KEYS:
        texts[section] = str(value)
        return []
    if section == "tags" and isinstance(value, Mapping):
        texts["tags"] = [f"{k}={v}" for k, v in value.items()]
        return []
    if section == "vary" and isinstance(value, Mapping):
        texts["vary"] = [f"{k}={_text(v)}" for k, v in value.items()]
        return []
    if section == "mix" and isinstance(value, Mapping):
        texts["mix"] = ",".join(f"{name}={weight}" for name, weight in value.items())
        return []
    if section == "operation" and isinstance(value, Mapping):
        return _take_operations(texts, value)
    sections = {k.partition(".")[0] for k in BY_KEY if "." in k}
    if section not in sections or not isinstance(value, Mapping):
        return [_unknown(section, sorted(sections | {"tags", "vary", "mix", "operation", *DESCRIPTIVE_KEYS}))]
    mistakes: list[str] = []
    for name, entry in value.items():
        key = FORMER_KEYS.get(f"{section}.{name}", f"{section}.{name}")
        text = _text(entry)
        if key in texts and key != "knobs.other":
            mistakes.append(f"{section}.{name}: means {key}, which is given too; leave out the former name")
        elif text is None:
            mistakes.append(f"{key}: a text, a number or a list is expected")
        elif key in BY_KEY and key != "knobs.other":
            texts[key] = text
        elif section == "knobs":
            other = texts.setdefault("knobs.other", [])
            assert isinstance(other, list)
            other.append(f"{name}={text}")
        else:
            mistakes.append(_unknown(key, [k for k in BY_KEY if k.startswith(section + ".")]))
    return mistakes


def _take_operations(texts: dict[str, str | list[str]], operations: Mapping[str, object]) -> list[str]:
    """Reads [operation.NAME] with its parameters."""
    found, mistakes = [], []
    for name, parameters in operations.items():
        if not isinstance(parameters, Mapping):
            mistakes.append(f'operation.{name}: a table is expected, like [operation.{name}] span = "1h"')
            continue
        for parameter, entry in parameters.items():
            text = _text(entry)
            if text is None:
                mistakes.append(f"operation.{name}.{parameter}: a text, a number or a list is expected")
            else:
                found.append(f"{name}.{parameter}={text}")
    texts["operation"] = found
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
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"{key}: unknown key" + (f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}")
