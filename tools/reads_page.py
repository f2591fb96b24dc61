"""Writes docs/reads.md from the operations and the targets, so that its tables are up to date. Run it in the root.

python tools/reads_page.py > docs/reads.md
"""

import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import OPERATIONS, operation_of
from scale_sweep.experiment.work.selects import SETS
from scale_sweep.model import FILLS, Operation, Work
from scale_sweep.server.targets import Facts, all_facts
from scale_sweep.sweep.resolve import resolve_sweep

HEAD = """# Reads

<!-- tools/reads_page.py writes this page -->

```sh
scale sweep cpu --cores 1..4 --workload iot-queries      # reads per second with 1, 2, 3, 4 cores
scale sweep cpu --cores 1..4 --workload iot-mixed        # nine writes to one read
scale sweep cpu --cores 1..4 --mix write=9,range=1 --preload 1M --step-ms 10000 --operation range.span=1h
scale sweep sweeps/iot-queries.toml
```

The same in a sweep file, with a second operation of the kind `group_by_time`:

```toml
mix = { write = 9, range = 1, hourly = 1 }
preload = { rows = "1M" }

[workload]
step_ms = 10000

[operation.range]
span = "1h"

[operation.hourly]
kind = "group_by_time"
span = "4h"
bucket = "1h"
function = "max"
```

`--workload` also takes [`tsbs-devops`](#tsbs) and [`cassandra-reads`](#published-reads). See an
[example](examples/postgres-reads.html).

## The mix
`mix` gives each operation its share of the requests. If it contains anything but `write`, the rate of the sweep is
requests per second of the whole mix; the curve, `--rate`, `--need` and `--until-ci` use it.
[`operations.csv`](results.md#columns-of-operationscsv) has the figures of each operation. `--trace 1` keeps the
[times of every request](results.md#each-request-of-a-trial).

### Separate connections and rates
A connection waits for an answer before its next request, so a slow query also delays the writes of its connection. To
measure what reads cost writes, give the writes separate connections, or a constant rate:

```toml
mix = { write = 1, range = 3, latest = 1 }

[operation.write]
connections = 4
rate = "10k"
```

As flags: `--operation write.connections=4 --operation write.rate=10k`.

- `rate` is an open loop: rows/s of `write`, else requests/s. Without `connections` the operation has as many as the
  trial.
- The others share the connections of the trial; at least one operation must. The weight and the rate of a separate
  operation do not count in the mix.
- An operation that does not achieve its rate gives the verdict `OFFERED_NOT_MET`.

## The data
`--preload` writes rows before the load, the same number to each table, in no rate. Reads select times of these rows,
with `--read-recent 1h` of the newest hour. The load begins when the server is at rest and the rows are counted.

KEEPING

A trial with another method, number of partitions or knob gets another data set. Other databases, and servers at an
endpoint or on prepared disks, load the rows in each trial. A copy is a reflink on XFS and Btrfs; on ext4 it takes time
and space, which the plan checks. After a kill, `scale clean` removes them, or `scale resume` uses them.

| `--cache` | data in memory when the load begins |
|---|---|
| `as-is` | the default: the data that the copy, the count and the check left there |
| `warm` | all files of the server were read |
| `cold` | the server was just started, with files that are not in the page cache; else the trial is `ABORTED` |

`--vary cache=warm,cold` measures both in one sweep. `--warmup 0` shows the first seconds of a cold server.

## Answers
The rows follow from the seed, so the correct answers are known. Before the load, at least 20 answers of each operation
are compared; during the load, answers drawn at random. A server that falsifies a fifth of its answers is found in 99 %
of trials of 20 s or more. A difference gives the verdict `WRONG_ANSWER`.

- Of answers that the load may change, only the number of rows is compared. Answers to `sql` are not compared.

### Definition of equal
Times, counts, texts and whole numbers must be equal, and NULL is not 0. A fraction of `float` may differ by 1e-5 of its
size, one of `double` and a mean of whole numbers by 1e-9.

## Which database can be asked
A database is not asked a query that it would answer with another number ([operations](#operations),
[functions](#functions)). A named workload leaves such a query out, and the plan gives the reason; a `--mix` is refused.
Then compare the operations, not the mixes.

## TSBS
`--workload tsbs-devops` has the 15 queries of TSBS' use case "devops" on one day of 100 hosts. PostgreSQL, TDengine,
QuestDB and InfluxDB are asked all, VictoriaMetrics 14:

```sh
scale sweep cpu --cores 1..2 --workload tsbs-devops --target postgres,questdb,victoriametrics
```

### Differences from TSBS
Functions, lengths, limits and thresholds are those of TSBS' source at commit 37fced7. This differs:

| | TSBS | here |
|---|---|---|
| rows | 4,000 hosts, 3 days | 100 hosts, 1 day |
| values | a random walk, as `DOUBLE PRECISION` in TimescaleDB | drawn evenly from 0 to 100, whole numbers of 8 bits |
| start of a range | any nanosecond | a multiple of the stretch of time |
| `high-cpu` | no order | ordered by time |
| requests | one kind after the other | all kinds in turn; `--mix NAME=1` for one |

## Published reads
`--workload cassandra-reads` has the reads of a published comparison of TDengine with Cassandra, on a hundredth of its
data. The report has the published times beside yours. Cassandra groups by its primary key only.

## Bounds, orders and stretches without rows
- A value that equals a bound is not returned. `bound = "9..11"` is drawn for each request; with `side = "between"` both
  are bounds.
- `selectivity = "10%"` computes the bound; it needs `--values random`.
- `step` and `span` must be multiples of `bucket` in VictoriaMetrics, Prometheus, IoTDB, KairosDB and OpenTSDB.
- `fill` fills stretches of time without rows, which a `bucket` shorter than `step_ms` makes. It refuses `count` and
  `count_distinct`, `rate` and `stddev_samp` except with `null`, and `linear` between whole numbers.

FILLS

"""
_DATA = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "1M"}
_VALUES = {
    "spread": "largest less smallest value",
    "first": "of the oldest row",
    "last": "of the newest row",
    "median": "as `p50`",
    "p95": "`percentile_cont` of SQL; `p1` to `p99`",
    "stddev": "divided by n",
    "stddev_samp": "divided by n - 1",
    "count_distinct": "number of different values",
    "rate": "change in a second, last row less first",
}
_PARTS = ({"fraction": "1"}, {"fraction": "0.1"}, {"fraction": "0.3"})
_BOUND = {"bound": "10"}
_DEVICES = ({"devices": "1"}, {"devices": "2"})
_VARIANTS: dict[str, tuple[dict[str, str], ...]] = {
    "sql": ({"text": "SELECT 1"},),
    "set": tuple({"of": sets} for sets in SETS),
    "point": _DEVICES,
    "range": _DEVICES,
    "range_desc": _DEVICES,
    "range_value": (_BOUND, {**_BOUND, "columns": "current"}),
    "range_value_desc": (_BOUND, {**_BOUND, "columns": "current"}),
    "latest": (*_DEVICES, {"devices": "all"}),
    "aggregate": (*_DEVICES, {"functions": "avg,max"}),
    "aggregate_value": tuple({**_BOUND, "function": name} for name in ("avg", "count")),
    "aggregate_range_value": tuple({**_BOUND, **devices} for devices in _DEVICES),
    "group_by_time": (*_DEVICES, {"step": "10m"}),
    "group_by_time_desc": (*_DEVICES, {"step": "10m"}),
    "group_by_time_limit": ({"devices": "all"}, *_DEVICES),
    "group_by_tag": (*_PARTS, {"function": "count"}),
    "aggregate_tag": (*_PARTS, {"fraction": "1", "bucket": "10m"}, {"function": "count"}),
}


def page() -> str:
    """The page as Markdown."""
    head = HEAD.replace("KEEPING", _keeping()).replace("FILLS", _fills())
    return head + "\n".join([*_operations(), "", *_functions(), "", *_parameters()]) + "\n"


def _asked() -> list[Facts]:
    return [facts for facts in all_facts() if facts.queries]


def _names(targets: Iterable[Facts]) -> str:
    return ", ".join(f"`{facts.name}`" for facts in targets)


def _keeping() -> str:
    """Names the targets whose servers start on a copy of their files."""
    names = _names(facts for facts in all_facts() if facts.keeps_data)
    return textwrap.fill(f"The rows are loaded once for {names}; each trial gets a copy.", width=120)


def _fills() -> str:
    return "\n".join(f"- `{fill}`: {_names(facts for facts in _asked() if fill in facts.fills)}." for fill in FILLS)


def _operations() -> list[str]:
    """The operations, and the targets that are not asked."""
    lines = ["## Operations", "| operation | answer | not asked of | with some parameters only |", "|---|---|---|---|"]
    for name in OPERATIONS.names():
        cells = {facts.name: _cell(facts, name) for facts in _asked()} if name != "write" else {}
        no, part = (_names(f for f in _asked() if cells.get(f.name) == word) for word in ("no", "part"))
        lines.append(f"| `{name}` | {operation_of(name).title or 'rows are written'} | {no} | {part} |")
    return lines


def _functions() -> list[str]:
    """The functions that some targets are not asked for, on one device."""
    asked = "`avg`, `sum`, `min`, `max` and `count` are asked of all; `opentsdb` has `avg` of one device only."
    lines = ["## Functions", asked, "", "| function | value | not asked of |", "|---|---|---|"]
    for name, value in _VALUES.items():
        parameters = {"function": name, "column": "voltage", "devices": "1"}
        refused = (facts for facts in _asked() if _reason(facts, "aggregate", parameters))
        lines.append(f"| `{name}` | {value} | {_names(refused)} |")
    return lines


def _parameters() -> list[str]:
    """The parameters below the operations that have them."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in OPERATIONS.names():
        for parameter, words in operation_of(name).parameters.items():
            kinds.setdefault((parameter, words), []).append(f"`{name}`")
    groups: dict[str, list[str]] = {}
    for (parameter, words), names in kinds.items():
        item = textwrap.fill(f"- `{parameter}`: {words}", width=120, subsequent_indent="  ")
        groups.setdefault(", ".join(names), []).append(item)
    lines = ["## Parameters"]
    for names, items in groups.items():
        lines += [textwrap.fill(f"{names}:", width=120), "", *items, ""]
    return lines[:-1]


def _cell(facts: Facts, name: str) -> str:
    reasons = _reasons(facts, name)
    return "yes" if not any(reasons) else "no" if all(reasons) else "part"


def _reasons(facts: Facts, name: str) -> list[str]:
    """Of each of its variants, why it cannot be asked there; "" where it can."""
    bound = {"bound": "10"} if "bound" in operation_of(name).parameters else {}
    return [_reason(facts, name, own) for own in _VARIANTS.get(name, (bound,))]


def _reason(facts: Facts, name: str, parameters: dict[str, str]) -> str:
    data = resolve_sweep("cpu", _DATA).work
    operation = Operation(name=name, unit="requests", parameters=parameters)
    work = Work(data=data.data, operations=(operation,), preload_rows=10**6)
    query = operation_of(name).query(work, operation)
    assert query is not None
    try:
        facts.rendered(query, work.data, facts.methods[0])
    except CannotAsk as error:
        return error.message
    return ""


if __name__ == "__main__":
    sys.stdout.write(page())
