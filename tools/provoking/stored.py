"""Random result directories: stored runs, changed, and a command that reads them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from tests.unit.stored_runs import NAMES, contents
from tools.provoking import odd
from tools.provoking.case import Case

COMMANDS = (
    ("list",),
    ("list", "--json"),
    ("show", "r"),
    ("show", "r", "--json"),
    ("report", "r"),
    ("report", "r", "--predict", "4"),
    ("compare", "r", "b"),
    ("compare", "r", "r"),
    ("compare", "r"),
    ("verify", "r"),
    ("verify", "r", "--json"),
    ("export", "r", "--csv", "-"),
    ("export", "r", "--json", "-", "--what", "timeseries"),
    ("export", "r", "--openmetrics", "-"),
    ("export", "r", "--parquet", "p.parquet"),
    ("export", "r", "--sql", "sqlite:///x.db"),
    ("resume", "r", "--yes"),
    ("watch", "r"),
    ("dashboards", "load", "r"),
    ("fit", "results/r/points.csv", "--n", "point", "--x", "rows_per_s"),
)
HOME = "home"
GIVEN = ((), ("--home", "/usr"), ("--endpoint", "127.0.0.1:1"), ("--data-dir", "/tmp"), ("--knob", "a=b"))
SPECIAL = (
    {"fifo": True},
    {"socket": True},
    {"folder": True},
    {"gone": True},
    {"text": ""},
    {"text": "\x00" * 100},
    {"text": "null"},
    {"link": "/dev/zero"},
    {"link": "/etc/passwd"},
    {"link": "/proc/self/environ"},
    {"link": "../../outside"},
    {"link": "manifest.json"},
    {"link": "."},
    {"size": 1 << 34},
    {"repeat": "[", "times": 100_000},
    {"repeat": '{"a":', "times": 5000, "end": "1" + "}" * 5000},
    {"repeat": "x,1\n", "times": 100_000},
)


def _documents(run: str) -> Mapping[str, str]:
    """The texts of a stored run's files by name."""
    return {name: content.decode("utf-8", "replace") for name, content in contents(run).items()}


def results(chance: random.Random, name: str) -> Case:
    """A command on a stored run with one to three changes."""
    run = chance.choice(NAMES)
    recipes: list[dict[str, Any]] = [{"path": "outside", "text": "not of the run"}, {"path": "results/r", "run": run}]
    words = chance.choice(COMMANDS)
    if "b" in words:
        recipes.append({"path": "results/b", "run": run})
    for _ in range(chance.randint(1, 3)):
        recipes.append({**_change(chance, run), "try": True})
    return Case(name=name, words=words, files=tuple(recipes), writes=True)


def resumed(chance: random.Random, name: str) -> Case:
    """`scale resume` of an interrupted run that names a program, after one to three changes of its plan and manifest.
    The program leaves a file where no case may leave one."""
    program = f"{HOME}/bin/postgres"
    recipes: list[dict[str, Any]] = [
        {"path": program, "text": "#!/bin/sh\ntouch /tmp/ran\necho 'postgres (PostgreSQL) 16.1'\n"},
        {"path": program, "mode": 0o755},
        {"path": "results/r", "run": "killed"},
        {"path": "results/r/manifest.json", "set": ["host"], "to": "{}"},  # of any machine
        {"path": "results/r/plan.json", "swap": '"home": ""', "to": f'"home": "/tmp/case/{HOME}"'},
    ]
    documents = _documents("killed")
    for _ in range(chance.randint(1, 3)):
        file = chance.choice(("manifest.json", "plan.json"))
        recipes.append({**_json_change(chance, file, documents), "try": True})
    words = ("resume", "r", "--yes", "--no-metrics", *chance.choice(GIVEN))
    return Case(name=name, words=words, files=tuple(recipes), writes=True, exits=(2, 6))


def _change(chance: random.Random, run: str) -> dict[str, Any]:
    documents = _documents(run)
    file = chance.choice(sorted(documents))
    path = f"results/r/{file}"
    kind = chance.random()
    if kind < 0.25:
        return {"path": path, **chance.choice(SPECIAL)}
    if kind < 0.30:
        folder = "/".join(path.split("/")[: 4 if "/" in file else 2])
        return {"path": f"{folder}" if "/" in file else f"{folder}/trials", **chance.choice(SPECIAL[:4])}
    if kind < 0.40:
        return {
            "path": path,
            **chance.choice(
                ({"cut": chance.random()}, {"flip": chance.choice((1, 5, 50)), "seed": chance.randrange(10**6)})
            ),
        }
    jsons = [
        one for one in documents if one.endswith(("manifest.json", "plan.json", "trial.json", "fit.json", "facts.json"))
    ]
    lines = [one for one in documents if one.endswith(".jsonl")]
    if kind < 0.55 and lines:
        return _line_change(chance, chance.choice(sorted(lines)), documents)
    return _json_change(chance, chance.choice(sorted(jsons)), documents, drops=0.10 / 0.45)


def _json_change(chance: random.Random, file: str, documents: Mapping[str, str], drops: float = 0.3) -> dict[str, Any]:
    """A value of a document that is replaced, or dropped with this chance."""
    way = list(chance.choice(odd.ways(json.loads(documents[file]))))
    if way and chance.random() < drops:
        return {"path": f"results/r/{file}", "drop": way}
    raw = chance.choice((chance.choice(odd.RAW), json.dumps(odd.value(chance))))
    return {"path": f"results/r/{file}", "set": way, "to": raw}


def _line_change(chance: random.Random, file: str, documents: Mapping[str, str]) -> dict[str, Any]:
    first = documents[file].partition("\n")[0]
    way = list(chance.choice(odd.ways(json.loads(first))))
    raw = chance.choice((chance.choice(odd.RAW), json.dumps(odd.value(chance))))
    return {"path": f"results/r/{file}", "set": way, "to": raw, "first_line": True}
