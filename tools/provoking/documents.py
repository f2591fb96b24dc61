"""Random files that users write: sweep files, JSON files of taosBenchmark, properties of IoT-benchmark, CSV files for
the fit. Valid ones, changed."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from scale_sweep.iotbenchmark import keys
from scale_sweep.sweep.file import bundled_sweeps
from scale_sweep.sweep.settings import BY_KEY
from tools.provoking import odd
from tools.provoking.case import Case, encoded

ROOT = Path(__file__).resolve().parents[2]
SWEEPS = sorted(bundled_sweeps().values())
JSONS = sorted((ROOT / "tests" / "unit" / "transcripts").glob("json-*.json"))
QUERIES: dict[str, Any] = {
    "filetype": "query",
    "host": "127.0.0.1",
    "port": 1,
    "databases": "db",
    "query_times": 2,
    "specified_table_query": {"concurrent": 3, "sqls": [{"sql": "select 1;"}]},
    "super_table_query": {"stblname": "stb", "sqls": [{"sql": "select last_row(ts) from xxxx"}]},
}
PROPERTIES = {
    "DB_SWITCH": "TimescaleDB", "HOST": "127.0.0.1", "PORT": "1", "DEVICE_NUMBER": "40", "SENSOR_NUMBER": "12",
    "CLIENT_NUMBER": "4",
    "LOOP": "10", "BATCH_SIZE_PER_WRITE": "10", "OPERATION_PROPORTION": "8:0:1:0:0:0:0:1",
}  # fmt: skip
KEYS = tuple(sorted(key.name for key in keys.KEYS.values()))


def sweep_file(chance: random.Random, name: str) -> Case:
    """`scale plan` of a changed sweep file. What comes behind it keeps the plan small."""
    text = chance.choice(SWEEPS).read_text(encoding="utf-8")
    for _ in range(chance.randint(1, 3)):
        text = _changed_toml(chance, text)
    return Case(name=name, words=("plan", "s.toml"), files=({"path": "s.toml", "content": _bytes(chance, text)},))


def _changed_toml(chance: random.Random, text: str) -> str:
    key = chance.choice(sorted(BY_KEY))
    section, _, own = key.partition(".")
    value = chance.choice((odd.value(chance), json.dumps(odd.value(chance)), chance.choice(odd.RAW)))
    kind = chance.random()
    if kind < 0.4 and own:
        head = f"[{section}]\n"
        line = f"{own} = {value}\n"
        return text.replace(head, head + line, 1) if head in text else f"{text}\n{head}{line}"
    if kind < 0.7:
        lines = text.splitlines()
        places = [i for i, line in enumerate(lines) if "=" in line and not line.startswith("#")]
        at = chance.choice(places) if places else 0
        lines[at : at + 1] = [f"{lines[at].partition('=')[0]} = {value}" if lines else value]
        return "\n".join(lines) + "\n"
    if kind < 0.75:
        return text + "x" + ".x" * chance.choice((10, 2000)) + " = 1\n"
    return odd.changed(chance, text)


def taos_json(chance: random.Random, name: str) -> Case:
    """`scale load -f` of a changed JSON file."""
    base = chance.choice((*JSONS, None))
    document = json.loads(base.read_text(encoding="utf-8")) if base else QUERIES
    if isinstance(document, dict):  # one of the bases is a list
        document = document | {"host": "127.0.0.1", "port": 1}
    recipes: list[dict[str, Any]] = [{"path": "job.json", "text": json.dumps(document)}]
    for _ in range(chance.randint(1, 2)):
        recipes.append({**_changed_json(chance, "job.json", document), "try": True})
    return Case(name=name, words=("load", "-f", "job.json", "-y"), files=tuple(recipes), writes=True)


def _changed_json(chance: random.Random, path: str, document: Any) -> dict[str, Any]:
    if chance.random() < 0.15:
        return {"path": path, **chance.choice(({"cut": chance.random()}, {"flip": 3, "seed": chance.randrange(10**6)}))}
    way = list(chance.choice(odd.ways(document)))
    raw = chance.choice((chance.choice(odd.RAW), json.dumps(odd.value(chance))))
    return {"path": path, "set": way[:1] if chance.random() < 0.2 else way, "to": raw}


def iot_properties(chance: random.Random, name: str) -> Case:
    """`scale load --iot` of changed properties; nothing listens at their address."""
    values = dict(PROPERTIES)
    values["DB_SWITCH"] = chance.choice(("TimescaleDB", "QuestDB", "InfluxDB", "IoTDB-110-SESSION_BY_TABLET"))
    for _ in range(chance.randint(1, 3)):
        values[chance.choice(KEYS)] = odd.value(chance)
    values |= {"HOST": "127.0.0.1", "PORT": "1"} if chance.random() < 0.9 else {}
    text = "".join(f"{key}={value}\n" for key, value in values.items())
    text = odd.changed(chance, text) if chance.random() < 0.2 else text
    return Case(
        name=name,
        words=("load", "--iot", "config.properties"),
        files=({"path": "config.properties", "content": _bytes(chance, text)},),
    )


def table(chance: random.Random, name: str) -> Case:
    """`scale fit` of a changed CSV file."""
    rows = [f"{n},{round(n * 1000 / (1 + 0.1 * n))}" for n in range(1, chance.choice((2, 4, 9)))]
    text = "cores,rows_per_s\n" + "\n".join(rows) + "\n"
    for _ in range(chance.randint(1, 3)):
        text = odd.changed(chance, text)
    words = ("fit", "t.csv", "--n", "cores", "--x", "rows_per_s")
    asked = chance.choice(((), ("--predict", odd.value(chance)), ("--need", odd.value(chance)), ("--json",)))
    words = tuple(word for word in (*words, *asked) if "\0" not in word)
    return Case(name=name, words=words, files=({"path": "t.csv", "content": _bytes(chance, text)},))


def _bytes(chance: random.Random, text: str) -> str:
    content = bytearray(text.encode("utf-8", "surrogateescape"))
    if content and chance.random() < 0.15:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return encoded(bytes(content))
