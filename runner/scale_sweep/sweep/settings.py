"""Every setting of a sweep, declared once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scale_sweep.capacity.objective import parse_objective
from scale_sweep.experiment.axes import all_axes
from scale_sweep.experiment.setting import Setting, settings_of
from scale_sweep.experiment.setting.readers import OneOf
from scale_sweep.server.targets.certificates import root_certificate
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.server_settings import KNOB_SETTINGS, LOAD_GENERATOR, METHOD, RUNTIME, SETTINGS_SET, TARGET

_BEFORE_KNOBS = """
target.version* --version VERSION text
    Version of the server's image; only Docker uses it. An installed server has the version that --home names.
target.image --image IMAGE text
    Docker image. Default: the pinned image of the target.
target.home* --home DIR text
    Directory of an installed server; it contains bin/ and lib/.
target.endpoint* --endpoint HOST:PORT address
    A server that already runs, which scale loads and observes, and never pins, configures or stops. Its password is
    SCALE_TARGET_PASSWORD of the environment, its user SCALE_TARGET_USER.
target.command* --server CMD command
    The command that starts any server, like 'redis-server --port {port} --dir {data}' (docs/any-server.md).
target.ready --ready HOW ready
    When a server of --server or --image is ready: log:REGEX, http:PATH or command:CMD. Default: its port answers.
target.sslmode --sslmode MODE disable|allow|prefer|require|verify-ca|verify-full
    With --endpoint of PostgreSQL: TLS, as in libpq. Default: prefer. PGSSLMODE is not read.
target.sslrootcert --sslrootcert FILE root_certificate
    With --sslmode verify-ca or verify-full: certificates of authorities, in PEM. PGSSLROOTCERT is not read.
target.port --port PORT port
    TCP port of the server on loopback. Default: a free port.
target.memory --memory SIZE memory
    Memory limit of the server, like 4GiB, without swap.
target.data_dir* --data-dir DIR|ram|auto data_directory
    Directory for the server's data. ram or ram:8GiB: a tmpfs of this size, by default half of the free memory. auto:
    the same if the rows of a trial fit there, else the default (docs/security.md).
cpus.server --server-cpus LIST cpus
    CPUs for the server, in this order: 0,2-5.
cpus.generator --generator-cpus LIST|shared cpus_or_shared
    CPUs for the load generator: 6-7. shared: those of the server at each level.
workload.name* --workload NAME workload = write
    A named workload: write, iot-queries (reads of devices), iot-mixed (nine writes to one read), tsbs-devops (TSBS) or
    cassandra-reads (a published comparison). Other flags override its settings.
mix* --mix NAME=WEIGHT,... weights
    Operations and their weights, like write=9,range=1.
operation --operation NAME.PARAMETER=VALUE parameter+
    A parameter of an operation of the mix, like range.span=1h (docs/reads.md). Repeatable.
preload.rows --preload N count_or_0 = 0
    Rows in all that are written before the load, in no rate; each table gets the same number of them.
preload.read_recent --read-recent TIME time
    Reads select the newest rows of --preload, of so much time.
method.cache --cache as-is|warm|cold = as-is
    The rows of --preload when the load begins. warm: their files were read. cold: the server was started again, with
    their pages not in the page cache. as-is: neither.
workload.tables --tables N count = 100
    Series (child tables, devices).
workload.columns --columns LIST columns = current:float,voltage:int,phase:float
    Columns as name:type, or N:type for N columns m1..mN.
workload.tag_columns --tag-columns LIST columns = groupid:int,location:binary(24)
    Tag columns as name:type.
workload.values --values LAWS laws = walk
    Values: walk (a random walk), random, normal, constant, line (rises and falls back), sine or square; or the share
    of the columns for each, like line=1,sine=1,random=2.
workload.period_rows --value-period ROWS count_from_2 = 100
    Rows after which line, sine and square repeat.
workload.decimals --decimals N decimals
    Decimals of values with a fraction, 0 to 5. Default: 3; random is not rounded.
workload.disorder --disorder MODE poisson|batch
    Rows come out of order. poisson: some come again for an earlier time; batch: the first part of each batch of rows
    comes last.
workload.disorder_ratio --disorder-ratio PERCENT percent = 10%
    Share of the rows that come late, with --disorder.
workload.disorder_lambda --disorder-lambda ROWS 0.001..1e6 = 2200
    Mean delay in rows, with --disorder poisson.
workload.disorder_max_k --disorder-max-k ROWS count = 170k
    Longest delay in rows, with --disorder poisson.
workload.disorder_rows --disorder-rows ROWS count_from_2 = 1000
    Rows of a table in one batch, with --disorder batch.
workload.text --text KIND vocabulary|random = vocabulary
    Text columns: vocabulary (words of a list, which compress well) or random (hard to compress).
workload.rows_per_request --rows-per-request N count
    Rows in one request. Default: the target's.
workload.interlace_rows --interlace-rows N count_or_0 = 0
    Rows of one table before those of the next, within a request. 0: a request has rows of one table only.
workload.requests_per_table --requests-per-table N count = 1
    Requests with rows of one table before those of the next. Above 1, TDengine's stmt uses less client CPU.
workload.start_ms --start-ms MS number = 1500000000000
    First timestamp, ms since 1970.
workload.step_ms --step-ms MS count = 1
    Time between two rows of a table, in ms.
load.method
load.command* --load CMD command
    Another program as the load, like 'pgbench -c {clients} -j 2 -T {seconds}' (docs/any-server.md).
load.prepare --prepare CMD command
    A command before the load of each trial, like 'pgbench -i -s 20'.
load.count --count CMD command
    A command that prints how many things are stored. It runs before and after the load.
load.rate_from --rate-from REGEX text
    The rate in the output of an unknown program: a regular expression with one group.
load.rows --rows N count
    Fixed work: rows in total, like 100M. Excludes --duration.
load.rows_per_level --rows-per-level N count
    Rows for each core, disk or client. Excludes --rows.
load.duration* --duration TIME time_above_0 = 40s
    Length of the window after the warm-up. A number from under 40 s is marked quick.
load.window_max --window-max TIME time
    The window grows up to this length while the rate is not steady; 0: never. Default: 1.5 times --duration, or 3
    times one under 40s.
load.quick* --quick switch
    Windows of 5 s, growing to 10 s, 3 to 7 replicates, no drift check. Every number is marked quick: it may not be the
    long-run rate.
load.soak* --soak TIME time_above_0
    One long trial at one level, for the rate over time and the error of short windows.
load.warmup --warmup TIME time_span = 5s..30s
    Length of the warm-up, which is discarded. 5s..30s: until the rate is level, at least 5 s and at most 30 s (below
    one core: more). 5s: always 5 s. Servers in Java have 10s..60s by default.
load.rate* --rate ROWS/S rate = 0
    Open loop: offered rows per second, like 20k. The window needs a request at least, so 0.5 (a row every 2 s) goes
    with --rows-per-request 1. 0: closed loop.
load.arrival --arrival KIND constant|poisson = constant
    Open loop: times at which requests are due: constant or poisson.
load.request_timeout --request-timeout TIME time = 60s
    Longest time for one answer (not with libtaos). After it, the trial is ABORTED. 0: no limit.
load.drain --drain TIME time_above_0 = 30s
    Time for answers to requests in flight at the end of the window.
load.trace --trace N count
    Keep one in N requests of each connection, with their times, in trace.parquet.
load.trace_max --trace-max N count = 1M
    With --trace: most requests of a trial that are kept.
load.slo --slo LIMITS objective
    Find the highest offered rate at each level that holds these limits of response times: 'p99 < 20ms', or 'p99 <
    20ms, p999 < 100ms, errors < 0.1%', or of one operation 'range.p99 < 50ms'. Each trial has 14 steps of --duration
    (default 10s). Steps under 10s (--quick: 5s) only show which rates held for so long.
load.generator
load.placement --placement KIND owned|stock = owned
    Tables of a thread. owned: those of its vgroups, which hold equally many; stock: contiguous ranges.
"""
_AFTER_KNOBS = """
vary* --vary NAME=V1,V2 variation+
    A second factor: method, rows_per_request, requests_per_table, interlace_rows, tables, placement, cache or a knob.
    Repeatable.
method.replicates* --replicates N count = 3
    Trials of each level.
method.detect --detect PERCENT percent
    Choose the number of replicates that detects such a difference between two levels with 80 % power, like 5%.
method.until_ci* --until-ci PERCENT percent
    Add replicates until the 95 % interval of every level's mean is within this share of it, like 5%.
method.replicates_max --replicates-max N count_from_2 = 10
    With --until-ci: most trials of each level.
method.drift_check --drift-check auto|on|off|long = auto
    Repeat the first trial at the end, to detect drift of the machine. auto: with several levels and replicates. long,
    the default with --quick: the first and last level in windows of 20 s, to see a rate that changes.
method.ablation --ablation switch
    If a rule changes a knob, also measure the level after the change with the old knobs.
method.profile --profile switch
    Repeat a trial of the lowest and of the highest level with perf, and show which functions use more CPU.
method.prove --prove RESOURCES?auto resources
    Prove the bottleneck: repeat a trial of the lowest and of the highest level, and make some resources busier for some
    seconds: cpu (the server's), load (the load generator's CPUs), disk, clients, like cpu,disk. Without RESOURCES: the
    two that matter most on the axis (docs/why.md).
method.equal_durability --equal-durability switch
    Every target answers a request when its rows are fsynced, if it has a setting for that. --knob overrides it.
method.connections_check --connections-check on|off = on
    If the server leaves resources idle without an outside cause, measure the level with twice the connections. If the
    rate does not rise, the level is a SOFTWARE_BOTTLENECK and is fitted.
method.confirm --confirm on|off = on
    With --slo and steps of 10s or more: then measure windows of 60s up or down by 5 %, until one holds and the next
    does not, and one with twice the connections. Each begins with an overload of a fresh server.
method.seed --seed N number = 42
    Seed of the data.
method.order_seed --order-seed N number
    Seed of the order of the trials. Default: a new one for each run.
method.sample_hz --sample-hz HZ 0.1..10 = 1
    Samples per second, at most 10.
method.network_speed --network-speed IFACE=SPEED network_speed+
    Speed of a network interface that the kernel does not report, like eth0=10Gbit. Repeatable.
report.reference --reference NAME text
    Published table to show beside the result: a bundled one, such as tdengine-cpu, or a CSV file.
report.predict* --predict LEVELS levels
    Levels to predict, at most twice the highest measured: 16,24.
report.need --need RATES rates
    Rates in rows/s for which the report finds the level: 2000000 or 2M,5M.
tags --tag K=V tag+
    A note for the manifest. Repeatable.
"""
_READERS: Mapping[str, Callable[[str], object]] = {
    "workload": OneOf(*NAMED),
    "objective": parse_objective,
    "root_certificate": root_certificate,
}

SETTINGS: tuple[Setting, ...] = (
    *(setting for axis in all_axes() for setting in axis.settings),
    *(TARGET, RUNTIME, SETTINGS_SET),
    *settings_of(_BEFORE_KNOBS, _READERS, {"load.method": METHOD, "load.generator": LOAD_GENERATOR}),
    *KNOB_SETTINGS,
    *settings_of(_AFTER_KNOBS),
)
BY_KEY = {s.key: s for s in SETTINGS}
FLAGS = {s.key: s.flag for s in SETTINGS}
DESCRIPTIVE_KEYS = ("name", "question")


def parameter_name(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")
