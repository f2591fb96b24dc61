"""Reads a price list (TOML) of machines, and names each mistake with its line."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import bundled, read_input_text, toml_document
from scale_sweep.base.texts import did_you_mean, plain_text, shortened
from scale_sweep.base.units import parse_bytes
from scale_sweep.model.resources import CORES, DISKS, MEMORY
from scale_sweep.model.sizing import PricedMachine, PriceList

PREFIX = "prices-"  # of bundled price lists, which are in the folder of the sweeps
FLAG = "--prices"
BYTES_MAX = 1 << 20
MACHINES_MAX = 1000
MISTAKES_MAX = 20  # that are counted: finding the line of each takes time
NUMBER_MAX = 1e15
NAME_CHARACTERS_MAX = 60
PRICE = "price_per_hour"
_NUMBERS = (CORES, DISKS, PRICE)
_KEYS = ("name", CORES, MEMORY, DISKS, PRICE)
_TABLES = ("machine", "currency")
_REMEDY = "sweeps/prices-example.toml is an example; docs/capacity.md explains each key"


def bundled_prices() -> dict[str, Path]:
    return {name: path for name, path in bundled("sweeps", ".toml").items() if name.startswith(PREFIX)}


def price_path(what: str) -> Path:
    path, shipped = Path(what), bundled_prices()
    if os.path.isfile(path) or path.suffix == ".toml" or (os.path.exists(path) and what not in shipped):
        return path
    if what in shipped:
        return shipped[what]
    names = ", ".join(shipped)
    raise UsageError(f"{FLAG}: {what[:80]!r} is neither a file nor one of {names}{did_you_mean(what, shipped)}")


def read_prices(what: str) -> PriceList:
    """Raises UsageError with one line for each mistake."""
    path = price_path(what)
    text = read_input_text(path, FLAG, BYTES_MAX)
    document = toml_document(text, f"{FLAG} {path}")
    try:
        return _price_list(document, _Lines(text))
    except _Mistakes as mistakes:
        raise UsageError(f"{FLAG} {path}: {shortened(str(mistakes))}", remedy=_REMEDY) from None


class _Mistakes(Exception):
    def __init__(self, sentences: Sequence[str]) -> None:
        others = len(sentences) - 1
        more = f" (and {'many' if others >= MISTAKES_MAX else others} more)" if others else ""
        super().__init__(sentences[0] + more)


class _Lines:
    """A parsed document has no lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._heads = [n for n, line in enumerate(self._lines, 1) if re.match(r"\s*\[\[\s*machine\s*\]\]", line)]

    def where(self, number: int, key: str = "") -> str:
        """ "line 12, " of a machine's key, else of its heading; "" if it is written in another way. number: from 0."""
        if number >= len(self._heads):
            return ""
        first, last = self._heads[number], [*self._heads, len(self._lines) + 1][number + 1]
        written = re.compile(rf"""\s*["']?{re.escape(key)}["']?\s*=""")
        of_key = (n for n in range(first + 1, last) if key and written.match(self._lines[n - 1]))
        return f"line {next(of_key, first)}, "


def _price_list(document: Mapping[str, Any], lines: _Lines) -> PriceList:
    unknown = [f"{key}: unknown key{did_you_mean(key, _TABLES)}" for key in document if key not in _TABLES]
    tables, currency = document.get("machine"), document.get("currency", "")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise _Mistakes([*unknown, "machine: at least one table [[machine]] is expected"])
    if len(tables) > MACHINES_MAX:
        raise _Mistakes([f"machine: {len(tables):,} machines; {MACHINES_MAX:,} at most"])
    of_currency = [f"currency: {mistake}"] if currency != "" and (mistake := _mistake("currency", currency)) else []
    of_machines = (m for number, table in enumerate(tables) for m in _of_machine(table, number, lines))
    mistakes = list(islice(chain(unknown, of_currency, of_machines), MISTAKES_MAX + 1))
    mistakes = mistakes or _doubled([table["name"] for table in tables], lines)
    if mistakes:
        raise _Mistakes(mistakes)
    return PriceList(machines=tuple(map(_machine, tables)), currency=str(currency))


def _of_machine(table: Mapping[str, Any], number: int, lines: _Lines) -> Iterator[str]:
    for key in table:
        if key not in _KEYS:
            yield f"{lines.where(number, key)}{_key(number, table, key)}: unknown key{did_you_mean(key, _KEYS)}"
    for key in _KEYS:
        mistake = _mistake(key, table[key]) if key in table else "is missing"
        if mistake:
            yield f"{lines.where(number, key)}{_key(number, table, key)}: {mistake}"


def _key(number: int, table: Mapping[str, Any], key: str) -> str:
    name = table.get("name")
    named = f" ({name})" if isinstance(name, str) and name.isprintable() and len(name) <= NAME_CHARACTERS_MAX else ""
    return f"machine {number + 1}{named}, {key}"


def _mistake(key: str, value: object) -> str:
    if key in _NUMBERS:
        return _mistake_of_number(key, value)
    if not isinstance(value, str):
        return 'an amount of memory is expected, like "32GiB"' if key == MEMORY else "a text is expected"
    try:
        if key == MEMORY:
            return "" if parse_bytes(value) > 0 else f"is {value}; it must be above 0"
        plain_text(value)
    except ValueError as error:
        return str(error)
    is_long = len(value) > NAME_CHARACTERS_MAX
    return f"has {len(value):,} characters; {NAME_CHARACTERS_MAX} at most" if is_long else ""


def _mistake_of_number(key: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return "a number is expected"
    if value < 0 or value == 0 and key != DISKS:
        return f"is {value:g}; it must be {'0 or more' if key == DISKS else 'above 0'}"
    if value > NUMBER_MAX:
        return f"is above {NUMBER_MAX:g}"
    return f"is {value:g}; it must be a whole number" if key == DISKS and value != int(value) else ""


def _doubled(names: list[str], lines: _Lines) -> list[str]:
    first = {name: number for number, name in reversed(list(enumerate(names)))}
    again = [number for number, name in enumerate(names) if first[name] != number]
    return [f"{lines.where(n, 'name')}machine {n + 1}, name: {names[n]!r} is named twice" for n in again]


def _machine(table: Mapping[str, Any]) -> PricedMachine:
    amounts = {CORES: float(table[CORES]), MEMORY: float(parse_bytes(table[MEMORY])), DISKS: float(table[DISKS])}
    return PricedMachine(name=table["name"], amounts=amounts, price_per_hour=float(table[PRICE]))
