"""Reads the stored corpus, corpus.toml: cases that once failed, each with what has to come."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes

from tools.provoking.case import Case

FILE = Path(__file__).resolve().with_name("corpus.toml")


def corpus() -> Sequence[Case]:
    """The cases in their order. Raises ValueError for a name that is there twice."""
    with FILE.open("rb") as file:
        entries = tomllib.load(file)["case"]
    cases = [_case(dict(entry)) for entry in entries]
    if twice := {case.name for case in cases if [c.name for c in cases].count(case.name) > 1}:
        raise ValueError(f"{FILE} has two cases named {', '.join(sorted(twice))}")
    return cases


def _case(entry: dict) -> Case:
    """A case; `coded` are words whose %XX are bytes."""
    words = entry.pop("words", None)
    if words is None:
        words = [unquote_to_bytes(word).decode("utf-8", "surrogateescape") for word in entry.pop("coded")]
    tuples = {key: tuple(entry.pop(key, ())) for key in ("files", "exits", "says")}
    return Case(words=tuple(words), **tuples, **entry)
