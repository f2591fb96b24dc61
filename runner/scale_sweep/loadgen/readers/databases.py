"""Rows of the tools that load databases."""

from scale_sweep.loadgen.readers.reader import Reader

PGBENCH = Reader(
    name="pgbench",
    programs=("pgbench",),
    unit="transactions",
    progress_words=("-P", "1"),
    progress_flags=("-P", "--progress"),
    progress=r"^progress: (?P<t>[\d.]+) s, (?P<rate>[\d.]+) tps, .*?(?:, (?P<errors>\d+) failed|$)",
    # Before version 14 a second rate includes the time of the connections.
    result=(r"^tps = (?P<rate>[\d.]+) \((?:without|excluding)",),
    details=(
        r"^duration: (?P<seconds>[\d.]+) s",
        r"^number of transactions actually processed: (?P<count>\d+)",
        r"^number of failed transactions: (?P<errors>\d+)",
        r"^latency average = (?P<mean>[\d.]+) ms",
        r"client \d+ (?P<errors>aborted)",
    ),
    duration=("-T", "--time"),
    clients=("-c", "--client"),
    threads=("-j", "--jobs"),
    variables=("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGDATABASE"),
    more_threads="-j {threads}",
    more_clients="-c {clients}",
)
TAOSBENCHMARK = Reader(
    name="taosBenchmark",
    programs=("taosBenchmark",),
    unit="rows",
    result=(
        (
            r"Spent (?P<seconds>[\d.]+) \(real [\d.]+\) seconds to insert rows: (?P<count>\d+) with \d+ thread\(s\) "
            r"into \S+ (?P<rate>[\d.]+) \(real"
        ),
    ),
    details=(
        (
            r"insert delay, min: (?P<min>[\d.]+ms), avg: (?P<mean>[\d.]+ms), p90: (?P<p90>[\d.]+ms), "
            r"p95: (?P<p95>[\d.]+ms), p99: (?P<p99>[\d.]+ms), max: (?P<max>[\d.]+ms)"
        ),
    ),
    clients=("-T", "--threads"),
    threads=("-T", "--threads"),
    more_threads="-T {threads}",
    more_clients="-T {clients}",
)

DATABASES = (PGBENCH, TAOSBENCHMARK)
