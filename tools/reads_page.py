"""Writes docs/reads.md from the operations and the targets, so that its tables are up to date. Run it in the root.

python tools/reads_page.py > docs/reads.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from runner.errors import CannotAsk
from runner.model import Operation, Work
from runner.sweep.resolve import resolve_sweep
from runner.targets import Facts, all_facts
from runner.work import OPERATIONS, operation_of

HEAD = """# Reads

`tools/reads_page.py` generates this page from the operations in `runner/work/` and the targets.

```sh
scale sweep cpu --cores 1..4 --workload iot-queries      # how many reads per second with 1, 2, 3, 4 cores
scale sweep cpu --cores 1..4 --workload iot-mixed        # nine writes to one read
scale sweep cpu --cores 1..4 --mix write=9,range=1 --preload 1M --step-ms 10000 --operation range.span=1h
scale sweep sweeps/iot-queries.toml
```

In a sweep file:

```toml
mix = { write = 9, range = 1, hourly = 1 }
preload = { rows = "1M" }

[workload]
step_ms = 10000

[operation.range]
devices = 1
span = "1h"

[operation.hourly]
kind = "group_by_time"
span = "4h"
bucket = "1h"
function = "max"
```

## The mix
`mix` gives each operation its share of the requests. The name of an operation is its kind, unless `kind` in
`[operation.NAME]` says otherwise. Without a mix, rows are written.

If a mix contains anything but `write`, the rate of the sweep is requests per second of the whole mix. The curve, the
verdicts, `--rate`, `--need` and `--until-ci` then use requests per second. `operations.csv` has the figures of each
operation, described in [results.md](results.md#columns-of-operationscsv). A connection sends its next request when it
has the answer to the last one. Therefore, a slow query delays the next write of the same connection.

## The data
`preload` writes rows before the load begins. The preload is in no rate. Then the tool waits until the server is at
rest and uses less than a quarter of a core, and counts the rows. Every table gets the same number of rows. Reads ask
for times of these rows; with `--read-recent 1h` only for those of the newest hour. Writes of a mix follow after them.

The report and `points.csv` have the rows, by how many bytes the server's files grew (its write-ahead log apart), the
bytes of a row on disk and of its values alone, and the compression ratio of the two. A server is at rest when:

AT_REST

### One data set for all trials
For KEEPING, the rows are loaded once: by the first trial that needs them, on a server with the most
cores and connections of the sweep. Then this server is stopped cleanly, and its directory is kept. Each trial gets a
copy of it, with the same port and password, which are in the files. After the start, the rows are counted again. A
trial with another method, number of partitions or other knob (except numbers of threads) has other files, so it has a
data set of its own. Servers of other targets, servers at an endpoint and servers on prepared disks load the rows in
each trial.

On file systems that can share blocks between files (XFS, Btrfs), a copy is a reflink: it takes little time and no
space. On others (ext4), all bytes are copied, and the copy is written to the disk before the load begins. `points.csv`
has the way and the seconds (`preload_copied`, `preload_copy_s`). Before the start, the tool checks that all data sets
and one copy fit on the disk. The run removes its data sets at its end and on Ctrl-C. After a kill, `scale clean`
removes them, and `scale resume` uses them if they are still there.

### Warm and cold data
`--cache` (`cache` in `[method]`) says what is in memory when the load begins:

| value | meaning |
|---|---|
| `as-is` | the default: what the copy, the count of the rows and the check of the answers left in memory |
| `warm` | all files of the server are read before the load; a note says so if they do not stay in the page cache |
| `cold` | the files are not in the page cache, and the server has just been started |

For `cold`, the server is stopped cleanly after the check of the answers. The tool writes each of its files to the disk
and calls `posix_fadvise(POSIX_FADV_DONTNEED)`, which other programs on the machine do not notice. `mincore` then proves
that the pages are gone; if more than 10 % stay, the trial is `ABORTED`. Then the server is started again. The warm-up
already reads, so `--warmup 0` shows the first seconds. `preload_cached_percent` has the share of the files in the page
cache just before the load, whatever `--cache` is. With `--memory`, the copy is dropped from the page cache too, so that
the memory for what the server reads is its own; with `--cache warm` it is not, because the tool reads. `--vary
cache=warm,cold` measures both in one sweep, on one data set.

## Answers
A row depends only on the seed, the table and its number, so the correct answer to a query is known. Before the load,
each operation is asked 20 times, and each answer is compared with the correct one: the number of rows, their order,
times, counts and whole numbers exactly; fractions to 1 in 100,000. During the load, the number of rows of some answers
is compared again. A difference gives the trial the verdict `WRONG_ANSWER`, and its reasons name the query, what came
and what is correct. The report counts empty answers, because a query that finds nothing is fast. Answers to `sql` are
not compared, because the tool does not know what they should be.

The comparison found a defect of one build of TDengine 3.3.0.0: its server takes a constant with a fraction as 0, so
`current > 10.5` is true for every row. Therefore, the bound in TDengine's queries is quoted (`current > '10.5'`), which
the same server compares correctly.

## Operations
The numbers are those of IoT-benchmark's queries: `point` Q1, `range` Q2, `range_value` Q3, `aggregate` Q4,
`aggregate_value` Q5, `aggregate_range_value` Q6, `group_by_time` Q7, `latest` Q8, `range_desc` Q9, `range_value_desc`
Q10, `group_by_time_desc` Q11.

"""
_DATA = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "1M"}
_EXAMPLE = {"sql": {"text": "SELECT 1"}}


def page() -> str:
    """The page as Markdown."""
    head = HEAD.replace("AT_REST", "\n".join(_at_rest())).replace("KEEPING", _keeping())
    return head + "\n".join([*_operations(), "", *_parameters(), "", *_support()]) + "\n"


def _at_rest() -> list[str]:
    return [f"- {facts.title}: {facts.at_rest}." for facts in all_facts() if facts.at_rest]


def _keeping() -> str:
    return " and ".join(facts.title for facts in all_facts() if facts.keeps_data)


def _operations() -> list[str]:
    rows = [f"| `{name}` | {operation_of(name).title or 'rows are written'} |" for name in OPERATIONS.names()]
    return ["| operation | answer |", "|---|---|", *rows]


def _parameters() -> list[str]:
    found = [(n, p, words) for n in OPERATIONS.names() for p, words in operation_of(n).parameters.items()]
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, parameter, words in found:
        kinds.setdefault((parameter, words), []).append(f"`{name}`")
    rows = [f"| `{parameter}` | {words} | {', '.join(names)} |" for (parameter, words), names in kinds.items()]
    return ["## Parameters", "| parameter | meaning | operations |", "|---|---|---|", *rows]


def _support() -> list[str]:
    targets = all_facts()
    lines = [
        "## Which database can be asked",
        f"| operation | {' | '.join(facts.title for facts in targets)} |",
        "|---" * (len(targets) + 1) + "|",
    ]
    for name in OPERATIONS.names():
        if operation_of(name).unit == "requests":
            cells = [_cell(facts, name) for facts in targets]
            lines.append(f"| `{name}` | {' | '.join('no' if cell else 'yes' for cell in cells)} |")
    why = {cell for name in OPERATIONS.names() for facts in targets if (cell := _cell(facts, name))}
    return [*lines, "", *(f"- {sentence}." for sentence in sorted(why))]


def _cell(facts: Facts, name: str) -> str:
    """Why it cannot be asked there; "" where it can, or asks nothing."""
    if operation_of(name).unit != "requests":
        return ""
    bound = "bound" in operation_of(name).parameters and name not in _EXAMPLE
    own = _EXAMPLE.get(name, {"bound": "10"} if bound else {})
    data = resolve_sweep("cpu", _DATA).work
    work = Work(data=data.data, operations=(Operation(name=name, unit="requests", parameters=own),), preload_rows=10**6)
    query = operation_of(name).query(work, work.operations[0])
    assert query is not None
    try:
        facts.rendered(query, work.data, facts.methods[0])
    except CannotAsk as error:
        return error.message
    return ""


if __name__ == "__main__":
    sys.stdout.write(page())
