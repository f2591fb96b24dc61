"""Upgrades stored documents of an older format to today's: plain JSON values, before they become model objects. Pure.

Each document states its own format (none: 1), so that a run which was killed while it was rewritten can still be read.
Refuses an unknown format: FormatUnknown says which formats can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.store import format1, format2
from runner.store.codec import SCHEMA

Plain = dict[str, Any]
FIRST = 1


class FormatUnknown(ValueError):
    """The document's format is unknown. The message names it and the formats that can be read."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step from a format to the next, with one function for each kind of document.

    result also takes the run's plan, in the step's old format.
    """

    manifest: Callable[[Plain], Plain]
    plan: Callable[[Plain], Plain]
    result: Callable[[Plain, Plain], Plain]
    fit: Callable[[Plain], Plain]


STEPS: Mapping[int, Step] = {
    1: Step(manifest=format1.manifest, plan=format1.plan, result=format1.result, fit=format1.fit),
    2: Step(manifest=format2.manifest, plan=format2.plan, result=format2.result, fit=format2.fit),
}


def format_of_run(manifest: object) -> int:
    """The number in a manifest, which every format has. Raises FormatUnknown as format_of does."""
    if isinstance(manifest, dict) and "schema" not in manifest:
        raise FormatUnknown("says no schema")
    return format_of(manifest)


def format_of(document: object) -> int:
    """The number in the document. Raises FormatUnknown for one that this version does not read."""
    if not isinstance(document, dict):
        raise FormatUnknown("is not a JSON object")
    number = document.get("schema", FIRST)
    if number != SCHEMA and number not in STEPS:
        raise FormatUnknown(f"is of schema {number}; this version reads {', '.join(map(str, STEPS))} and {SCHEMA}")
    return int(number)


def manifest_now(document: Plain) -> Plain:
    """manifest.json in today's format. Raises FormatUnknown, or KeyError or TypeError for another document."""
    format_of_run(document)
    for step in _steps(document):
        document = step.manifest(document)
    return _marked(document)


def plan_now(document: Plain) -> Plain:
    """plan.json. Raises as manifest_now."""
    for step in _steps(document):
        document = step.plan(document)
    return _marked(document)


def result_now(document: Plain, plan: Plain) -> Plain:
    """trial.json. plan: the run's plan.json as stored, needed if both have the same older format.

    Raises as manifest_now, and FormatUnknown if the plan has another format than an older trial.
    """
    steps = _steps(document)
    if steps and format_of(plan) != format_of(document):
        raise FormatUnknown(f"is of schema {format_of(document)}, plan.json of {format_of(plan)}")
    for step in steps:
        document, plan = step.result(document, plan), step.plan(plan)
    return _marked(document)


def fit_now(document: Plain) -> Plain:
    """fit.json. Raises as plan_now."""
    for step in _steps(document):
        document = step.fit(document)
    return _marked(document)


def row_now(row: Mapping[str, Any]) -> Plain:
    """A row of a table of any format, with today's names of the columns."""
    return format2.table_row(row)


def table_now(text: str) -> str:
    """A table of any format (CSV), with today's names of the columns in its first line."""
    header, end, rows = text.partition("\n")
    return format2.table_header(header) + end + rows


def _steps(document: Plain) -> Sequence[Step]:
    return [STEPS[number] for number in range(format_of(document), SCHEMA)]


def _marked(document: Plain) -> Plain:
    return {"schema": SCHEMA, **{name: value for name, value in document.items() if name != "schema"}}
