"""Random command lines: valid ones, changed. Only commands that start nothing: what would begin to measure, install or
remove something is in the corpus, where a person wrote it."""

from __future__ import annotations

import random

from scale_sweep.sweep.settings import SETTINGS
from tools.provoking import odd
from tools.provoking.case import Case

# Valid values by a part of the flag's name; a flag without one gets any value.
VALID = {
    "--cores": ("1", "1..2", "0.5,1"), "--clients": ("1..4:x2", "2"), "--tables": ("10",), "--replicates": ("1", "3"),
    "--duration": ("10s",), "--columns": ("a:int,b:float", "10:double"), "--target": ("null", "postgres", "influxdb"),
    "--runtime": ("process", "auto"), "--method": ("copy", "discard"), "--rate": ("1000", "5k"),
    "--mix": ("write=9,range=1",),
    "--operation": ("range.span=1h",), "--preload": ("10k",), "--vary": ("rows_per_request=10,100",),
    "--knob": ("fsync=on",),
    "--predict": ("4",), "--need": ("1M",), "--disks": ("1",), "--loop": ("64MiB",), "--memory": ("1GiB",),
    "--server-cpus": ("0",), "--generator-cpus": ("1",), "--connections": ("2", "1..2=2"), "--tag": ("a=b",),
}  # fmt: skip
BASES = (
    ("plan", "cpu", "--cores", "1", "--target", "null", "--runtime", "process"),
    ("plan", "cpu", "--cores", "1..2", "--target", "postgres", "--runtime", "process"),
    ("plan", "clients", "--clients", "1..4:x2", "--target", "postgres", "--cores", "1"),
    ("plan", "disk", "--disks", "1", "--loop", "64MiB", "--target", "postgres"),
    ("plan", "cpu", "--cores", "1", "--target", "null", "--json"),
    ("plan", "cpu", "--cores", "1", "--endpoint", "127.0.0.1:1", "--target", "postgres"),
)
OTHERS = (
    ("list",),
    ("show", "last"),
    ("report", "last"),
    ("compare", "a", "b"),
    ("verify", "last"),
    ("export", "last", "--csv", "-"),
    ("fit", "data.csv", "--n", "cores", "--x", "rows_per_s"),
    ("size", "--run", "last", "--need", "1M", "--headroom", "30%", "--prices", "prices-example"),
    ("watch", "last"),
    ("doctor",),
    ("clean", "--dry-run"),
    ("servers", "list"),
    ("dashboards", "status"),
    ("disks", "list"),
    ("plan", "--help-all"),
    ("load", "-h", "127.0.0.1", "-P", "1", "-t", "2", "-n", "10", "-y"),
    ("--version",),
)
FLAGS = tuple(s.flag for s in SETTINGS)
FILES = (
    {"path": "fifo", "fifo": True},
    {"path": "folder", "folder": True},
    {"path": "data.csv", "text": "cores,rows_per_s\n1,100\n2,190\n3,270\n"},
)


def command_line(chance: random.Random, name: str) -> Case:
    """A case whose words were changed."""
    is_plan = chance.random() < 0.75
    words = list(chance.choice(BASES if is_plan else OTHERS))
    safe = words[0]
    for _ in range(chance.randint(1, 4)):
        _change(chance, words, is_plan)
    if safe == "clean":
        words = ["clean", "--dry-run", *words[2:]]
    return Case(name=name, words=tuple(word for word in words if "\0" not in word), files=FILES)


def _change(chance: random.Random, words: list[str], is_plan: bool) -> None:
    """One change, which leaves the first word as it is."""
    at = chance.randint(1, len(words))
    kind = chance.random()
    if is_plan and kind < 0.6:
        flag = chance.choice(FLAGS)
        valid = VALID.get(flag, ())
        words += [flag, chance.choice(valid) if valid and chance.random() < 0.3 else odd.value(chance)]
    elif kind < 0.75 and at < len(words):
        words[at] = odd.value(chance)
    elif kind < 0.85 and at < len(words):
        words[at] = odd.changed(chance, words[at])
    elif kind < 0.92:
        words.insert(at, odd.value(chance))
    elif at < len(words):
        del words[at]
