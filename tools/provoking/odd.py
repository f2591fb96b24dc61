"""Odd values, and random changes of texts, JSON values and ways into documents: what every generator draws from."""

from __future__ import annotations

import random
from typing import Any

NUMBERS = (
    "0", "-1", "1", "2", "0.0001", "1e999", "-1e999", "nan", "inf", "-inf", "99999999", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "1" + "0" * 400, "1e-400", "0x10", "1_000", "٣", "1,5", "+1",
    "--1",
    "1k", "1M", "1000000M", "1KiB", "1EiB", "1ms", "0s", "1e9d", "10%", "-5%", "1..", "..1", "3..1", "1..1000000",
    "1..64:x2", "1..4:x1", "1..4:0", "1,1", "1..4=4,5..=12", "=", "1=", "=1",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "a\nb", "-", "--", "''", '"', "\\", "%s%n", "{}", "[bold]x[/bold]", "[/]", "<img src=x>",
    "../../etc/passwd",
    "/", "/dev/zero", "/dev/full", "/dev/random", "/proc/self/mem", "/etc/passwd", "/nope", "fifo", "folder",
    "x" * 5000,
    "ä€𝄞", "\u202egpj.exe", "\ufeff", "\x1b]0;title\x07", "\x1b[2J", "\x7f", "\udcff", "\udc80abc", "a=b", "a=",
    "=b", "a:b", "a:",
    ":b", "a,,b", ",", "auto", "null", "postgres", "tdengine", "influxdb", "cassandra", "none", "true", "on",
    "off", "last",
    "localhost:0", "localhost:99999", "[::1", "[::1]:5432", "127.0.0.1:1", "x:int,x:int", "ts:int", "2000:float",
    "t:binary(0)",
    "t:binary(99999999)", "c:decimal(99,99)", "walk", "m1..m3", "select 1; drop table x", "$(id)", "`id`", "|id",
    "\r",
)  # fmt: skip
RAW = (
    "null", "true", "false", "0", "-1", "1.5", "1e308", "1e999", "-1e999", "NaN", "Infinity", "-Infinity", "[]",
    "{}", '""', '"x"',
    "[[]]", '{"a": {}}', "9223372036854775808", "1" + "0" * 400, "1" + "0" * 5000, '"\\ud800"', '"\\u0000"',
    '"\\u001b[31mred"',
    '"<img src=x onerror=alert(1)>"', '"[red]"', '"../../../../etc/passwd"', '"' + "y" * 3000 + '"', "[1, 2, 3]",
    '[null]',
    "[" * 150 + "]" * 150, "[" * 50000 + "]" * 50000,
)  # fmt: skip
CHARACTERS = "\x00\x01\x1b\t\n\r \"'\\/{}[]()<>=,:;.#%$&|~-+*ab01ä€\ufeff"


def value(chance: random.Random) -> str:
    """A value for a flag or a key."""
    return chance.choice(NUMBERS if chance.random() < 0.5 else TEXTS)


def changed(chance: random.Random, text: str) -> str:
    """The text with one to four changes of characters or lines."""
    for _ in range(chance.randint(1, 4)):
        text = chance.choice((_insert, _delete, _double, _cut, _swap_lines))(chance, text)
    return text


def _insert(chance: random.Random, text: str) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice((chance.choice(CHARACTERS), value(chance))) + text[at:]


def _delete(chance: random.Random, text: str) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + text[at + chance.choice((1, 1, 2, 10)) :]


def _double(chance: random.Random, text: str) -> str:
    begin = chance.randint(0, len(text))
    part = text[begin : begin + chance.randint(1, 40)]
    return text[:begin] + part * chance.choice((2, 2, 3, 1000)) + text[begin + len(part) :]


def _cut(chance: random.Random, text: str) -> str:
    return text[: chance.randint(0, len(text))]


def _swap_lines(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    chance.shuffle(lines)
    return "".join(lines)


def ways(document: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value of a JSON document, the document itself first."""
    found = [way]
    if isinstance(document, dict):
        for key, one in document.items():
            found += ways(one, (*way, key))
    elif isinstance(document, list):
        for index, one in enumerate(document[:3]):
            found += ways(one, (*way, index))
    return found
