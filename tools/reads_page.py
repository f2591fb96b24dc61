"""Writes docs/reads.md from the operations and the targets, so that its tables are up to date. Run it in the root.

python tools/reads_page.py > docs/reads.md
"""

import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.base.errors import CannotAsk
from scale_sweep.experiment.work import OPERATIONS, operation_of
from scale_sweep.experiment.work.selects import SETS
from scale_sweep.model import FILLS, Operation, Work
from scale_sweep.server.targets import Facts, all_facts
from scale_sweep.sweep.resolve import resolve_sweep

HEAD = """# Reads

`tools/reads_page.py` generates this page from the operations in `scale_sweep/experiment/work/` and the targets.

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
`[operation.NAME]` sets another one. Without a mix, rows are written.

If a mix contains anything but `write`, the rate of the sweep is requests per second of the whole mix. The curve, the
verdicts, `--rate`, `--need` and `--until-ci` then use requests per second. `operations.csv` has the figures of each
operation, described in [results.md](results.md#columns-of-operationscsv).

`--trace 1` keeps the times of every request, [trial by trial](results.md#each-request-of-a-trial); `--trace 100` keeps
one in a hundred.

### Separate connections and rates
A connection sends its next request when it has the answer to the last one. Therefore, in a mix, a slow query delays the
next write of the same connection: the writes become slower, although the database could write as fast as before. To
measure what reads cost writes, give one of them separate connections:

```toml
mix = { write = 1, range = 3, latest = 1 }

[operation.write]
connections = 4
rate = "10k"
```

Here four connections write 10,000 rows per second and do nothing else. `range` and `latest` share the connections of
the trial (`--connections`, or the level of `scale sweep clients`), three to one. As flags: `--operation
write.connections=4 --operation write.rate=10k`.

| parameter of every operation | meaning |
|---|---|
| `connections` | connections that do nothing but this operation; default, with `rate`: as many as the trial has |
| `rate` | rows per second of `write`, requests per second of any other operation; default: a closed loop |

- A rate is an open loop: response times count from the moment at which a request is due.
- An operation with either of them has separate connections, and its weight does not count. At least one operation
  takes the number of its connections from the trial. `--rate` is the rate of one mix, so it is refused beside them.
- Each such operation is a separate load process. All processes begin and end together, and their results are one
  summary.
- The rate of the sweep does not count an operation with a separate rate. So with the file above, the curve shows reads
  beside a constant load of writes. If every operation has a rate, the whole load is an open loop.
- An operation that does not achieve its rate gives the trial the verdict `OFFERED_NOT_MET`.

## The data
`preload` writes rows before the load begins. The preload is in no rate. Then the tool waits until the server is at rest
and uses less than a quarter of a core, and counts the rows. Every table gets the same number of rows. Reads select
times of these rows; with `--read-recent 1h` only those of the newest hour. Writes of a mix follow after them.

The report and `points.csv` have the rows and the growth of the server's files in bytes, without its write-ahead log.
They also have the bytes of a row on disk, those of its values alone, and the ratio of the two. A server is
at rest when:

AT_REST

### One data set for all trials
KEEPING
The first trial that needs them loads them, on a server with the most cores and connections of the sweep.
Then this server is stopped cleanly, and its directory is kept. Each trial gets a copy of it, with the same port and
password, which are in the files. After the start, the rows are counted again. A trial with another
method, number of partitions or other knob (except numbers of threads) has other files, so it has another data set.
Servers of other targets, servers at an endpoint and servers on prepared disks load the rows in each trial.

On file systems that can share blocks between files (XFS, Btrfs), a copy is a reflink: it takes little time and no
space. On others (ext4), all bytes are copied, and the copy is written to the disk before the load begins. `points.csv`
has the way and the seconds (`preload_copied`, `preload_copy_s`). Before the start, the tool checks that all data sets
and one copy fit on the disk. The run removes its data sets at its end and on Ctrl-C. After a kill, `scale clean`
removes them, and `scale resume` uses them if they are still there.

### Warm and cold data
`--cache` (`cache` in `[method]`) sets which data are in memory when the load begins:

| value | meaning |
|---|---|
| `as-is` | the default: the data that the copy, the count of the rows and the check of the answers left in memory |
| `warm` | all files of the server are read before the load; a note warns if they do not stay in the page cache |
| `cold` | the files are not in the page cache, and the server has just been started |

For `cold`, the server is stopped cleanly after the check of the answers. The tool writes each of its files to the disk
and calls `posix_fadvise(POSIX_FADV_DONTNEED)`, which other programs on the machine do not notice. `mincore` then proves
that the pages are gone; if more than 10 % stay, the trial is `ABORTED`. Then the server is started again. The warm-up
already reads, so `--warmup 0` shows the first seconds. `preload_cached_percent` has the share of the files in the page
cache just before the load, for every value of `--cache`. With `--memory`, the copy is dropped from the page cache too,
so that pages that the server reads count as its memory; with `--cache warm` it is not, because the tool reads. `--vary
cache=warm,cold` measures both in one sweep, on one data set.

## Answers
A row depends only on the seed, the table and its number, so the correct answer to a query is known. Before the load,
each operation is asked 20 times or more, and each answer is compared with the correct one: the number of rows, their
order, and each value by its type. During the load, answers that are drawn at random over its seconds and connections
are compared again. In a window of 20 s or more these are 60 or more of each operation, in a shorter one three a second
or more, and all of an operation that has fewer. So a server that falsifies a fifth of its answers is found in 99 % of
such trials, and one that falsifies 1 in 20 in 90 %. If fewer than 20 answers of an operation were compared in the
window, the verdict has a caution. It names the largest share of wrong answers that may have stayed unseen: n drawn
answers are all right in 5 of 100 trials if 1 - 0.05^(1/n) of all answers are wrong.

The content is compared like that of the answers before the load, however long it is. The drivers of PostgreSQL,
TDengine, Cassandra, IoTDB and MariaDB hand over the rows, with times to the nanosecond. The drivers over HTTP hand over
the server's text, which the session reads by the same functions as the answers before the load. The cost is part of the
trial, and the report has it. It is CPU time of the load generator, and seconds after the load for the comparison. Of an
answer that the writes of the load may change, only the number of rows is compared. A difference gives the trial
the verdict `WRONG_ANSWER`, and its reasons name the query, its answer and the correct answer. The report counts empty
answers, because a query without a result is fast. An aggregate of no rows counts as empty: databases answer it by no
row, by NULL, or, for a count, by 0. For a query with a bound, the report has the share of the rows above it. Answers to
`sql` are not compared, because the correct answer is not known.

### Definition of equal
Times, counts, texts and whole numbers must be equal, also the sum, the smallest and the largest of whole numbers, and
their `spread`. A time is compared in the unit of the server's answer, so 1 microsecond is a difference. A server that
computes in doubles may round whole numbers above 2^53.

A fraction may differ by 1e-5 of its size in a column of `float`, and by 1e-9 in a column of `double`; a mean of whole
numbers by 1e-9. This is the error of their bits, of sums in another order, and of servers that keep 15 digits. The size
is that of the value itself, however small it is; for a sum or a mean, it is the sum or the mean of the absolute values.
NULL is not 0.

### Which devices are asked
Devices have an order, drawn from the seed of the sweep. The questions before the load go through it: each takes the
next devices, and so do the next operation and the next trial. An operation is asked 20 times, or up to 200 times if 20
do not reach every device in each trial. With more devices, the next trial continues after the last device of the one
before. The report and `operations.csv` state how many answers were compared, and of how many devices.

The requests of the load draw devices, moments and bounds evenly. Each trial and each operation has separate draws,
which follow from the seed of the sweep (`read_seed` in the trial's spec). So the trials of a sweep together reach the
devices that one trial misses.

### Which answers the load may change
Reads select times of the preload, so writes do not change these answers. Writes add rows to an answer over all time
(`scan_tag`, `aggregate_tag` with `bucket`). Its number of rows must then be at least that of the preload, and at most
that and all rows that were sent until the end of the load.

The comparison found a defect of one build of TDengine 3.3.0.0: its server takes a constant with a fraction as 0, so
`current > 10.5` is true for every row. Therefore, the bound in TDengine's queries is quoted (`current > '10.5'`), which
the same server compares correctly.

InfluxDB stores the text of a number as a double. An answer is not compared if a value lies so near to the bound that
the types decide on which side it is. Whole numbers and a whole bound below 2^24 are compared exactly everywhere.

Cassandra is asked with `ALLOW FILTERING` if there is a bound: it reads the rows of the devices in the time range and
returns those above it. To several devices together it answers without pages, because it sorts their rows. It answers 0
for a mean or a sum of no rows; then the tool counts the rows, and compares that number.

A column of a device is a series of VictoriaMetrics, and an answer holds series: `values` of `operations.csv` counts
each sample with its time. Its windows begin after their left border, so the tool selects the window that ends a
millisecond before `to`. Rows above a bound are asked at the times of the rows, one `step_ms` apart: if there were no
row at such a time, VictoriaMetrics would repeat the one before. The stretches of `group_by_time` have one length, so it
needs a `step` and a `span` that are multiples of `bucket`. `latest` reads all samples of the device, because
VictoriaMetrics has no index of last samples.

IoTDB aggregates each device by itself, and refuses a bound with a fraction for a column of whole numbers. Its stretches
of time begin with the range, as do those of KairosDB, so that `step` and `span` must be multiples of `bucket` as for
VictoriaMetrics. A query of KairosDB has a list of devices for each column, and a bound applies to that column only.

OpenTSDB is asked by `/api/query`, with `--method put`. A column of a device is a series of OpenTSDB, as for
VictoriaMetrics, and an answer holds all of a range or an aggregate of each series (a downsample). A range includes its
end, so it ends a millisecond before `to`; a downsample of a whole range excludes it. Its stretches of time are
multiples of their length since 1970. It leaves out a stretch that begins before the range and completes one that ends
after it, so `step` and `span` must be multiples of `bucket`. Several devices are counted, added up, or compared by
aggregators that put no values between their points. Their mean would be a mean of means, so it is not asked.

OpenTSDB is not asked for `latest`. `/api/query/last` needs all tags of a series. It looks into the hour of the last
write (`tsd.core.meta.enable_tsuid_incrementing`), or into one hour after the other from now backwards (`backScan`). The
load's times are in the past: with 0, 24 and 1,000 hours the answer was empty. With 90,000, which reach the rows, there
was no answer within two minutes (tried on 22 November 2026 with 2.4.1). No other query has an order or a limit, or a
condition on values.

## Functions
`function` is one of those below, `functions` are several in one query (`functions = "avg,max"`): an answer has, of each
column, the value of each function. NULLs are in none of them.

| function | value |
|---|---|
| `avg`, `sum`, `min`, `max` | of the values; a mean and a sum in double precision |
| `spread` | the largest value less the smallest one |
| `count`, `count_distinct` | of the values, of the different ones |
| `first`, `last` | the value of the oldest, of the newest row of one device |
| `median`, `p1` to `p99` | a percentile, interpolated between two values; the median is `p50` |
| `stddev` | the standard deviation of the values as a population (divided by n) |
| `stddev_samp` | that of the values as a sample of a population (by n - 1); NULL for one value |
| `rate` | the change in a second: the last value less the first one, by the seconds between; NULL for one row |

A percentile is `percentile_cont` of SQL: of n values in order, it lies (n - 1) × p / 100 places behind the first one,
and between two values in proportion.

A database that defines a function otherwise is not asked for it, because its answer to the same question is another
number. So InfluxQL is asked for `stddev_samp`, TDengine and VictoriaMetrics for `stddev`, PostgreSQL, QuestDB and IoTDB
for both. InfluxQL's percentile is the value at a rank, and OpenTSDB's takes p % of n + 1. Those of QuestDB and KairosDB
are estimates. The rates of InfluxQL, KairosDB and OpenTSDB compare a point, or a stretch of time, with the one before
it, so they need rows outside of the range. `first`, `last` and `rate` need a single device. QuestDB counts different
values of whole numbers and texts only, TDengine estimates them.

A percentile may differ from the right one as a value of its column may, by 1e-5 (float) or 1e-9 of the two values
beside it. A standard deviation may differ by the same part of itself, and beside that by 1.2e-7 (float) or 1e-14 of the
largest value. It is made of differences of values, which keep the error of the values: the 24 bits of a float, or the
15 digits of a double that some servers print. TDengine 3.3.0.0 misses this for `float`: of 60 values near 10 with a
deviation of 0.042, `STDDEV` was wrong by up to 1.4e-4 of it. It is requested only of columns of `double` and of whole
numbers, whose results are right.

## Groups of devices
`group_by_tag`, `aggregate_tag` and `scan_tag` select the devices of groups. A tag names the group of a device: a whole
number of few values, such as `groupid` with ten. `fraction` is the part of the groups that a request reads; the request
draws the first of them, and the others follow it. The four queries of the published comparison of TDengine with
Cassandra are `scan_tag` (q1), `aggregate_tag` (q2), `group_by_tag` (q3), and `aggregate_tag` with a `bucket` (q4).

TDengine, InfluxDB and VictoriaMetrics store the tags with the rows. PostgreSQL gets a table `device` with a row for
each device. In Cassandra, the tags are static columns of the device's partition: they are written once, before the
clock starts, and an index (SAI) on those that are whole numbers finds the partitions of the groups. The devices of
QuestDB are distributed over several tables, so it is not asked for groups. IoTDB's devices have no tags.

### Groups in Cassandra
CQL groups rows by the primary key only: by the partition, then by the next columns of the key. In the table of the load
that is the device, then the time. Therefore `scan_tag` (q1) and `aggregate_tag` (q2) can be asked, `group_by_tag` (q3)
and a `bucket` over several devices (q4) cannot.

The published comparison had other tables, as its scripts show (`comparisonTest` among the tests of TDengine). Each row
stored the device, its name and its group. The group was part of the primary key, and was compared with `ALLOW
FILTERING`. For q4, the rows were loaded again with a column for their minute, and with another key.

A table for each query is usual with Cassandra, but then each row is written several times, which no other database in
the comparison has to do. With the group as the partition key of the only table, a partition has all rows of all its
devices, and reads of one device must read from it. So this tool keeps one table, by device and time, and refuses
queries that this table does not support.

### The published reads
`--workload cassandra-reads` has the reads of that comparison, on a hundredth of its data: 1,000 devices with 1,000 rows
each, in 100 groups. `scan` is Table 4, `count_10` to `spread_100` are six functions over 10 % to 100 % of the groups
(Tables 5 to 7), `group_10` to `group_100` Table 8, and `minute_10` to `minute_100` Table 9.

```sh
scale sweep cassandra-reads --cores 1..2 --knob connections=1
```

The report has the published response times beside ours (`--reference cassandra-reads`): a row for each of the 81
operations, with the number of the published table and the ratio of the two databases. A second table has the bytes on
disk of a row and the rate at which rows were written, as in Table 11. Cassandra is not asked Tables 8 and 9, so its
cells there read "cannot"; no `spread` was published for it. The write rates by rows per request and clients (Tables 1
to 3) are those of `sweeps/tdengine-cassandra.toml`, on another page.

## TSBS
`--workload tsbs-devops` has the 15 queries of the Time Series Benchmark Suite's use case "devops" by their names there:

```sh
scale sweep cpu --cores 1..2 --workload tsbs-devops --target postgres,questdb,victoriametrics
```

Its data are ten usages of the CPU of 100 hosts over one day, a row every ten seconds. Values are drawn evenly from 0 to
100, so that `usage_user > 90` passes a tenth of the rows. TSBS draws the start of a range freely. Here it is a multiple
of a stretch of time, because some databases answer with whole stretches only.

PostgreSQL, TDengine, QuestDB and InfluxDB are asked all 15; VictoriaMetrics 14. QuestDB's devices are in several tables
(`--partitions`), so a query for all devices joins a selection of each table; with `--partitions 1`, it names the only
one. TDengine refuses rows older than ten years by default, so its database is created with `KEEP 36500d`. A query that
a database is not asked is left out for it, and a note of the plan gives the reason. The same holds for `iot-queries`.
The rates of two mixes are not comparable then; those of each query are, in `operations.csv`. A mix that you write
(`--mix`) is refused instead.

### Differences from TSBS
Hosts, metrics, functions, lengths of ranges and of stretches, limits and the threshold are those of TSBS' source at
commit 37fced7 (21 September 2023), which a test lists. Its README has other lengths: 5 minutes for `single-groupby`, an
hour for `cpu-max-all`, 24 hours for `double-groupby`. Its programs use 1 minute, 8 hours and 12 hours. This differs:

| | TSBS | here |
|---|---|---|
| rows | of its scripts: 4,000 hosts, 3 days, 103,680,000 rows | 100 hosts, 1 day, 864,000 rows |
| tables | use case "devops": `cpu`, and 8 that are not asked; "cpu-only": `cpu` | `cpu` |
| values | a random walk of 0 to 100, by steps of a normal distribution | drawn evenly from 0 to 100 |
| their type | whole numbers, which TimescaleDB gets as `DOUBLE PRECISION` | whole numbers of 8 bits |
| rows above 90 | depends on the host and on the range | a tenth (10 of 101 values) in every range |
| start of a range | any nanosecond | a multiple of the stretch of time, of 10 s for `high-cpu` |
| rows of an answer | a stretch more, the first and the last are parts: 61 in an hour | 60, all whole |
| end of `groupby-orderby-limit` | any nanosecond: the newest stretch is a part | a full minute |
| order of `high-cpu` | none is asked for | by time: a sort more, if rows do not lie in this order |
| columns of `high-cpu` and `lastpoint` | all, and the tags or their number | the ten metrics, the time and the host |
| hosts | the name, by a table of tags in TimescaleDB | the number or name of the device, in the table of the metrics |
| requests | one kind after the other | all kinds in turn; `--mix NAME=1` for one |

## Bounds
`bound` returns rows above it; with `side = "below"`, rows below it. `bound = "9..11"` is drawn anew for each request;
with `side = "between"`, 9 and 11 are the two bounds of every request. A value that equals a bound is not returned.
`where = "voltage<220,phase>0.5"` adds conditions, also on other columns, which are the same in every request.

`selectivity = "10%"` sets a bound so that this share of all rows is above it, or below it. With `between`, it sets two
bounds in the middle of the range. The tool computes them from the range and the law of the column's values. It needs
`--values random`, because with other laws the share depends on the range of time. A column of few different values has
the nearest share that they allow. The report has the share that was measured.

```sh
scale sweep cpu --cores 1..2 --preload 1M --step-ms 10000 --values random --mix range_value=1 \\
  --operation range_value.selectivity=10%
```

## Orders and groups
`limit = 10` returns the first ten rows of a range, in the order of time or, with `order = "voltage desc"`, of a column.
Rows with equal values may come in any order, and any of them may be the last: the check of the answers accepts each.
Databases put NULL first, last, or among the smallest or largest values. An answer is not compared if a value by which
its rows are ordered is NULL, such as the `rate` of a device with one row.

`tagged = "groupid=3"` selects all devices with this value of a tag, a whole number or a text, instead of devices that
are drawn.

`each` aggregates by devices (`each = "device"`) or by the values of any tag (`each = "location"`), over all time of the
query or, with `group_by_time`, for each stretch of time. `top = 3` returns the three groups with the greatest values.
Means are compared within the error of their type, so two means that differ by less may change places.

## Stretches of time without rows
By itself, `group_by_time` has no row for a stretch of time without rows. With `fill`, it has one: `null` returns NULL,
`previous` the value of the stretch before it, and `linear` the value on the line between the stretch before it and the
one after it. Rows are `step_ms` apart, so a shorter `bucket` makes stretches without rows:

```sh
scale sweep cpu --cores 1..2 --preload 1M --step-ms 10000 --mix group_by_time=1 --operation group_by_time.bucket=5s \\
  --operation group_by_time.fill=linear --target tdengine,questdb,influxdb
```

Every stretch of the range that holds a row, or lies between two of them, must be in the answer. Databases differ at the
two ends of a range, so the check of the answers accepts an answer that lacks the stretches before the first row and
after the last one. A stretch that is there must be right: NULL, or behind the last row with `previous` the last value.

| database | before the first row and after the last one |
|---|---|
| TDengine, InfluxDB, InfluxDB 2, IoTDB | NULL; after the last one with `previous`, its value |
| PostgreSQL, TimescaleDB (`null` only) | NULL |
| QuestDB | no row |
| VictoriaMetrics (`previous` only) | before the first one no row; after the last one, its value |
| KairosDB, OpenTSDB (`null` only) | NULL or no row |

No rows before or after the range are asked for. `fill` refuses `count` and `count_distinct`, which are 0 in some
databases and NULL in others. It refuses `rate` and `stddev_samp` except with `null`, because a stretch of one row has
no value. It refuses `linear` between whole numbers, because databases round differently: use `avg`, or a column of
fractions.

## Sets
`set` combines two ranges of one device: the first two thirds and the last two thirds of `span`. Their union has all
rows of the span, their intersection has those of the second third, and their difference has those of the first third.

## When the load generator is the limit
A trial gets the verdict `GENERATOR_BOUND` if the load generator's CPUs or one of its threads are nearly fully used. A
load that reads has no ceiling of the load generator, as a load of writes has: most of a request's cost is reading its
answer, which only a database gives.

## The report
```sh
scale sweep iot-queries --quick --cores 0.5,1 --target postgres --data-dir ram --replicates 3 --connections-check off
```

![Response times of seven operations on half a core and one core: p50 and p99](images/reads.svg)

This is a run of 26 November 2026: seven operations in turn, a million rows, four connections, two virtual CPUs. It took
two minutes, and all answers that were compared are correct ([the whole report](examples/postgres-reads.html)).

A longer run of 22 November 2026 (`--target tdengine,postgres --replicates 2 --warmup 5s`, nine minutes, no other
programs) had the same operations:

| database | cores | requests/s | verdicts | CPU-us per request: server, load generator |
|---|---|---|---|---|
| PostgreSQL 16.14 | 0.5 | 2,054 and 2,126 | 1 VALID, 1 UNSTEADY | 243, 53 |
| | 1 | 4,260 and 5,144 | 2 VALID | 214, 46 |
| TDengine 3.3.0.0 | 0.5 | 1,516 and 1,024 | 1 VALID, 1 UNSTEADY | 330, 331 |
| | 1 | 1,666 and 2,127 | 2 RESOURCE_NOT_SATURATED | 413, 421 |

- A server that has used its half core waits up to 50 ms for the next period of its CPU quota. This wait, and not the
  queries, causes the p99 of 51 ms on half a core.
- TDengine's client library uses as much CPU as the server. With four connections, all four wait for answers, and the
  server uses 0.77 of its core. With 16 the load generator's only CPU is 92 % busy, and the verdict is GENERATOR_BOUND.
  So one core of TDengine cannot be measured here: the client needs a second CPU.
- Equal trials differ by up to 48 %, although no other program ran and the hypervisor took less than 0.1 % of the time:
  the speed of these CPUs changes. An hour later, a run with three levels had 2 VALID and 8 UNSTEADY trials of 12, with
  651 and 752 requests/s of PostgreSQL on 0.25 cores and 3,580 on one core. So read this as an example of a report, and
  not as a comparison of the two databases.

## Operations
The numbers are those of IoT-benchmark's queries: `point` Q1, `range` Q2, `range_value` Q3, `aggregate` Q4,
`aggregate_value` Q5, `aggregate_range_value` Q6, `group_by_time` Q7, `latest` Q8, `range_desc` Q9, `range_value_desc`
Q10, `group_by_time_desc` Q11, `set` Q12.

"""
_DATA = {"axis.cores": "1", "workload.step_ms": "10000", "preload.rows": "1M"}
_PARTS = ({"fraction": "1"}, {"fraction": "0.1"}, {"fraction": "0.3"})
_BOUND = {"bound": "10"}
_DEVICES = ({"devices": "1"}, {"devices": "2"})
_FILLED = tuple({"fill": fill, "bucket": "5s"} for fill in FILLS)
_VARIANTS: dict[str, tuple[dict[str, str], ...]] = {
    "sql": ({"text": "SELECT 1"},),
    "set": tuple({"of": sets} for sets in SETS),
    "point": _DEVICES,
    "range": _DEVICES,
    "range_desc": _DEVICES,
    "range_value": (_BOUND, {**_BOUND, "columns": "current"}),
    "range_value_desc": (_BOUND, {**_BOUND, "columns": "current"}),
    "latest": (*_DEVICES, {"devices": "all"}),
    "aggregate": (
        *_DEVICES,
        *(
            {"function": name, "column": "voltage"}
            for name in ("spread", "median", "p95", "stddev", "stddev_samp", "count_distinct", "rate")
        ),
        {"functions": "avg,max"},
    ),
    "aggregate_value": tuple({**_BOUND, "function": name} for name in ("avg", "count")),
    "aggregate_range_value": tuple({**_BOUND, **devices} for devices in _DEVICES),
    "group_by_time": (*_DEVICES, {"step": "10m"}, *_FILLED),
    "group_by_time_desc": (*_DEVICES, {"step": "10m"}, *_FILLED),
    "group_by_time_limit": ({"devices": "all"}, *_DEVICES),
    "group_by_tag": (*_PARTS, {"function": "count"}),
    "aggregate_tag": (*_PARTS, {"fraction": "1", "bucket": "10m"}, {"function": "count"}),
}


def page() -> str:
    """The page as Markdown."""
    head = HEAD.replace("AT_REST", "\n".join(_at_rest())).replace("KEEPING", _keeping())
    return head + "\n".join([*_operations(), "", *_parameters(), "", *_support()]) + "\n"


def _at_rest() -> list[str]:
    return [f"- {facts.title}: {facts.at_rest}." for facts in all_facts() if facts.at_rest]


def _keeping() -> str:
    """Names the targets whose servers start on a copy of their files."""
    names = sorted(facts.title for facts in all_facts() if facts.keeps_data)
    return textwrap.fill(f"The rows are loaded once for {', '.join(names[:-1])} and {names[-1]}.", width=120)


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
            lines.append(f"| `{name}` | {' | '.join(_cell(facts, name) for facts in targets)} |")
    reads = [name for name in OPERATIONS.names() if operation_of(name).unit == "requests"]
    why = {reason for name in reads for facts in targets for reason in _reasons(facts, name) if reason}
    return [*lines, "", "`part`: with some of its parameters only.", "", *(f"- {reason}." for reason in sorted(why))]


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
