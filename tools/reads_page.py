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
from scale_sweep.model.declared import Operation, Work
from scale_sweep.model.questions import FILLS
from scale_sweep.server.targets import Facts, all_facts
from scale_sweep.sweep.resolve import resolve_sweep

HEAD = """# Reads

<!-- tools/reads_page.py writes this page -->

```sh
scale sweep cpu --cores 1..all --workload iot-queries      # reads per second with 1, 2, ... cores
scale sweep cpu --cores 1..all --workload iot-mixed        # nine writes to one read
scale sweep cpu --cores 1..all --mix write=9,range=1 --preload 1M --step-ms 10000 --operation range.span=1h
```

The last one as a sweep file, with a second operation of the kind `group_by_time`:

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

With other columns, of which `range` returns two:

```sh
scale sweep cpu --cores 1..2 --columns temperature:float,humidity:float,state:int --mix write=9,range=1 --preload 1M \\
  --step-ms 10000 --operation range.span=1h --operation range.columns=temperature,state
```

`--workload` also takes [`tsbs-devops`](#tsbs) and [`cassandra-reads`](#published-reads). See an
[example](examples/postgres-reads.html).

## The mix
`mix` gives each operation its share of the requests. If it contains anything but `write`, the rate of the sweep is
requests per second of the whole mix. [`operations.csv`](results.md#columns-of-operationscsv) has the figures of each
operation, `--trace 1` the [times of every request](results.md#each-request-of-a-trial).

### Separate connections and rates
A slow query also delays the writes of its connection. To measure how reads slow down writes, give the writes separate
connections, or a constant rate: `--operation write.connections=4 --operation write.rate=10k`.

- `rate` is an open loop: rows/s of `write`, else requests/s. An operation that does not achieve it gives the verdict
  `OFFERED_NOT_MET`.
- At least one operation must share the connections of the trial. Separate operations do not count in the mix.

## The data
`--preload` writes rows before the load, the same number to each table. Reads select times of these rows, with
`--read-recent 1h` of the newest hour.

KEEPING

Another method, number of partitions or knob needs another data set. Other databases, and servers at an endpoint or on
prepared disks, load the rows in each trial. A copy is a reflink on XFS and Btrfs; on ext4 it takes time and space.

| `--cache` | data in memory when the load begins |
|---|---|
| `as-is` | the default: the data that the copy, the count and the check left there |
| `warm` | all files of the server were read |
| `cold` | the server was just started, its files are not in the page cache; else the trial is `ABORTED` |

`--vary cache=warm,cold` measures both.

## Answers
The correct answers follow from the seed. Before the load, at least 20 answers of each operation are compared; during
the load, answers drawn at random. A server that falsifies a fifth of its answers is found in 99 % of trials of 20 s or
more. A difference gives the verdict `WRONG_ANSWER`.

- Times, counts, texts and whole numbers must be equal, and NULL is not 0. A fraction of `float` may differ by 1e-5 of
  its size, one of `double` and a mean of whole numbers by 1e-9.
- Of answers that the load may change, only the number of rows is compared. Answers to `sql` are not compared.

## Which database can be asked
A database is not asked a query that it would answer with another number ([operations](#operations),
[functions](#functions), and some parameters). A named workload leaves such a query out, as the plan shows; a `--mix` is
refused. Then compare the operations, not the mixes.

## TSBS
`--workload tsbs-devops` has the 15 queries of TSBS' use case "devops". PostgreSQL, TDengine, QuestDB and InfluxDB are
asked all, VictoriaMetrics 14. Functions, lengths, limits and thresholds are those of TSBS' commit 37fced7. These
differ: 100 hosts, one day, values drawn evenly from 0 to 100, ranges that start at multiples of the stretch of time.
`high-cpu` is ordered by time, and all kinds come in turn (`--mix NAME=1` for one).

## Published reads
`--workload cassandra-reads` has the reads of a published comparison of TDengine with Cassandra, on a hundredth of its
data. The report has the published times beside yours.

## Bounds, orders and stretches without rows
- A value that equals a bound is not returned.
- `step` and `span` must be multiples of `bucket` in VictoriaMetrics, Prometheus, IoTDB, KairosDB and OpenTSDB.
- `fill` refuses `count` and `count_distinct`, `rate` and `stddev_samp` except with `null`, and `linear` between whole
  numbers. These databases have it:

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
_NAMES = [name for name in OPERATIONS.names() if operation_of(name).in_mix]


def page() -> str:
    """The page as Markdown."""
    head = HEAD.replace("KEEPING", _keeping()).replace("FILLS", _fills())
    return head + "\n".join([*_operations(), "", *_functions(), "", *_parameters()]) + "\n"


def _reply() -> list[Facts]:
    return [facts for facts in all_facts() if facts.queries]


def _names(targets: Iterable[Facts]) -> str:
    return ", ".join(f"`{facts.name}`" for facts in targets)


def _keeping() -> str:
    """Names the targets whose servers start on a copy of their files."""
    names = _names(facts for facts in all_facts() if facts.keeps_data)
    return textwrap.fill(f"The rows are loaded once for {names}; each trial gets a copy.", width=120)


def _fills() -> str:
    return "\n".join(f"- `{fill}`: {_names(facts for facts in _reply() if fill in facts.fills)}." for fill in FILLS)


def _operations() -> list[str]:
    """The operations, and the targets that are not asked."""
    lines = ["## Operations", "| operation | answer | not asked of |", "|---|---|---|"]
    for name in _NAMES:
        no = _names(facts for facts in _reply() if name != "write" and all(_reasons(facts, name)))
        lines.append(f"| `{name}` | {operation_of(name).title or 'rows are written'} | {no} |")
    return lines


def _functions() -> list[str]:
    """The functions that some targets are not asked for, on one device."""
    asked = "`avg`, `sum`, `min`, `max` and `count` are asked of all; `opentsdb` has `avg` of one device only."
    lines = ["## Functions", asked, "", "| function | value | not asked of |", "|---|---|---|"]
    for name, value in _VALUES.items():
        parameters = {"function": name, "column": "voltage", "devices": "1"}
        refused = (facts for facts in _reply() if _reason(facts, "aggregate", parameters))
        lines.append(f"| `{name}` | {value} | {_names(refused)} |")
    return lines


def _parameters() -> list[str]:
    """The parameters below the operations that have them."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name in _NAMES:
        for parameter, words in operation_of(name).parameters.items():
            kinds.setdefault((parameter, words), []).append(f"`{name}`")
    groups: dict[str, list[str]] = {}
    for (parameter, words), names in kinds.items():
        item = textwrap.fill(f"- `{parameter}`: {words}", width=120, subsequent_indent="  ")
        groups.setdefault(", ".join(_shortened(names)), []).append(item)
    dots = "`range...`, `aggregate...`, `group_by_time...`: all with this begin, except `aggregate_tag`."
    lines = ["## Parameters", dots, ""]
    for names, items in groups.items():
        lines += [textwrap.fill(f"{names}:", width=120), "", *items, ""]
    return lines[:-1]


def _shortened(names: Iterable[str]) -> list[str]:
    """The names; all operations of a family are one name with dots."""
    left = list(names)
    for family in ("range", "aggregate", "group_by_time"):
        all_of_it = [f"`{n}`" for n in _NAMES if n.startswith(family) and not n.endswith("_tag")]
        if len(all_of_it) > 1 and set(all_of_it) <= set(left):
            left[left.index(all_of_it[0])] = f"`{family}...`"
            left = [name for name in left if name not in all_of_it]
    return left


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
