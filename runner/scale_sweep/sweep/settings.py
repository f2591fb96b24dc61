"""Every setting of a sweep, declared once: its key in a sweep file, its flag, its reader, its default, its help."""

from __future__ import annotations

from scale_sweep.base.units import parse_count, parse_cpus, parse_levels, parse_seconds
from scale_sweep.experiment.axes import all_axes
from scale_sweep.experiment.setting import Setting, Takes, pairs, readers
from scale_sweep.experiment.setting import setting as _s
from scale_sweep.experiment.setting import usual as _u
from scale_sweep.experiment.setting.shared_cpus import GENERATOR_CPUS, cpus_or_shared
from scale_sweep.sweep.server_settings import KNOB_SETTINGS, LOAD_GENERATOR, METHOD, RUNTIME, SETTINGS_SET, TARGET
from scale_sweep.sweep.window import CONFIRM, SLO
from scale_sweep.sweep.workload_settings import WORKLOAD_SETTINGS

_WARMUP_HELP = (
    "Length of the warm-up, which is discarded. 5s..30s: until the rate is level, at least 5 s and at most 30 s (below "
    "one core: more). 5s: always 5 s. Servers in Java have 10s..60s by default."
)

SETTINGS: tuple[Setting, ...] = (
    *(setting for axis in all_axes() for setting in axis.settings),
    TARGET,
    RUNTIME,
    SETTINGS_SET,
    _u("target.version", "--version", str, "", "Version of the server; selects the pinned image.", "VERSION"),
    _s("target.image", "--image", str, "", "Docker image. Default: the pinned image of the target.", "IMAGE"),
    _u("target.home", "--home", str, "", "Directory of an installed server; it contains bin/ and lib/.", "DIR"),
    _u(
        "target.endpoint",
        "--endpoint",
        readers.endpoint,
        "",
        "A server that already runs, which scale loads and observes, and never pins or stops.",
        "HOST:PORT",
    ),
    _s("target.port", "--port", readers.port, "", "TCP port of the server on loopback. Default: a free port.", "PORT"),
    _s("target.memory", "--memory", readers.memory, "", "Memory limit of the server, like 4GiB, without swap.", "SIZE"),
    _u(
        "target.data_dir",
        "--data-dir",
        readers.data_directory,
        "",
        "Directory for the server's data. ram or ram:8GiB: a tmpfs of this size, by default half of the free memory. "
        "auto: the same if the rows of a trial fit there, else the default (docs/security.md).",
        "DIR|ram|auto",
    ),
    _s("cpus.server", "--server-cpus", parse_cpus, "", "CPUs for the server, in this order: 0,2-5.", "LIST"),
    _s("cpus.generator", "--generator-cpus", cpus_or_shared, "", GENERATOR_CPUS, "LIST|shared"),
    *WORKLOAD_SETTINGS,
    METHOD,
    _s(
        "load.rows",
        "--rows",
        readers.at_least(1, parse_count),
        "",
        "Fixed work: rows in total, like 100M. Excludes --duration.",
        "N",
    ),
    _s(
        "load.rows_per_level",
        "--rows-per-level",
        readers.at_least(1, parse_count),
        "",
        "Rows for each core, disk or client. Excludes --rows.",
        "N",
    ),
    _u(
        "load.duration",
        "--duration",
        readers.above_zero(parse_seconds),
        "40s",
        "Length of the window after the warm-up. A number from under 40 s is marked quick.",
        "TIME",
    ),
    _s(
        "load.window_max",
        "--window-max",
        parse_seconds,
        "",
        "The window grows up to this length while the rate is not steady; 0: never. Default: 1.5 times --duration, or "
        "3 times one under 40s.",
        "TIME",
    ),
    _u(
        "load.quick",
        "--quick",
        readers.switch,
        "",
        "Windows of 5 s, growing to 10 s, 3 to 7 replicates, no drift check. Every number is marked quick: it may not "
        "be the long-run rate.",
        takes=Takes.NOTHING,
    ),
    _u(
        "load.soak",
        "--soak",
        readers.above_zero(parse_seconds),
        "",
        "One long trial at one level, for the rate over time and the error of short windows.",
        "TIME",
    ),
    _s("load.warmup", "--warmup", pairs.time_span, "5s..30s", _WARMUP_HELP, "TIME"),
    _u("load.rate", "--rate", parse_count, "0", "Open loop: offered rows per second. 0: closed loop.", "ROWS/S"),
    _s(
        "load.arrival",
        "--arrival",
        readers.OneOf("constant", "poisson"),
        "constant",
        "Open loop: times at which requests are due: constant or poisson.",
        "KIND",
    ),
    _s(
        "load.request_timeout",
        "--request-timeout",
        parse_seconds,
        "60s",
        "Longest time for one answer (not with libtaos). After it, the trial is ABORTED. 0: no limit.",
        "TIME",
    ),
    _s(
        "load.drain",
        "--drain",
        readers.above_zero(parse_seconds),
        "30s",
        "Time for answers to requests in flight at the end of the window.",
        "TIME",
    ),
    _s(
        "load.trace",
        "--trace",
        readers.at_least(1, parse_count),
        "",
        "Keep one in N requests of each connection, with their times, in trace.parquet.",
        "N",
    ),
    _s(
        "load.trace_max",
        "--trace-max",
        readers.at_least(1, parse_count),
        "1M",
        "With --trace: most requests of a trial that are kept.",
        "N",
    ),
    SLO,
    LOAD_GENERATOR,
    _s(
        "load.placement",
        "--placement",
        readers.OneOf("owned", "stock"),
        "owned",
        "Tables of a thread. owned: those of its vgroups, which hold equally many; stock: contiguous ranges.",
        "KIND",
    ),
    *KNOB_SETTINGS,
    _u(
        "vary",
        "--vary",
        readers.variation,
        "",
        "A second factor: method, rows_per_request, requests_per_table, interlace_rows, tables, placement, cache or a "
        "knob. Repeatable.",
        "NAME=V1,V2",
        takes=Takes.VALUES,
    ),
    _u("method.replicates", "--replicates", readers.at_least(1, parse_count), "3", "Trials of each level.", "N"),
    _s(
        "method.detect",
        "--detect",
        readers.percent,
        "",
        "Choose the number of replicates that detects such a difference between two levels with 80 % power, like 5%.",
        "PERCENT",
    ),
    _u(
        "method.until_ci",
        "--until-ci",
        readers.percent,
        "",
        "Add replicates until the 95 % interval of every level's mean is within this share of it, like 5%.",
        "PERCENT",
    ),
    _s(
        "method.replicates_max",
        "--replicates-max",
        readers.at_least(2, parse_count),
        "10",
        "With --until-ci: most trials of each level.",
        "N",
    ),
    _s(
        "method.drift_check",
        "--drift-check",
        readers.OneOf("auto", "on", "off", "long"),
        "auto",
        "Repeat the first trial at the end, to detect drift of the machine. auto: with several levels and replicates. "
        "long, the default with --quick: the first and last level in windows of 20 s, to see a rate that changes.",
        "auto|on|off|long",
    ),
    _s(
        "method.ablation",
        "--ablation",
        readers.switch,
        "",
        "If a rule changes a knob, also measure the level after the change with the old knobs.",
        takes=Takes.NOTHING,
    ),
    _s(
        "method.profile",
        "--profile",
        readers.switch,
        "",
        "Repeat a trial of the lowest and of the highest level with perf, and show which functions use more CPU.",
        takes=Takes.NOTHING,
    ),
    _s(
        "method.equal_durability",
        "--equal-durability",
        readers.switch,
        "",
        "Every target answers a request when its rows are fsynced, if it has a setting for that. --knob overrides it.",
        takes=Takes.NOTHING,
    ),
    _s(
        "method.connections_check",
        "--connections-check",
        readers.OneOf("on", "off"),
        "on",
        "If the server leaves resources idle without an outside cause, measure the level with twice the connections. "
        "If the rate does not rise, the level is a SOFTWARE_BOTTLENECK and is fitted.",
        "on|off",
    ),
    CONFIRM,
    _s("method.seed", "--seed", parse_count, "42", "Seed of the data.", "N"),
    _s(
        "method.order_seed",
        "--order-seed",
        parse_count,
        "",
        "Seed of the order of the trials. Default: a new one for each run.",
        "N",
    ),
    _s("method.sample_hz", "--sample-hz", readers.between(0.1, 10.0), "1", "Samples per second, at most 10.", "HZ"),
    _s(
        "method.network_speed",
        "--network-speed",
        pairs.network_speed,
        "",
        "Speed of a network interface that the kernel does not report, like eth0=10Gbit. Repeatable.",
        "IFACE=SPEED",
        takes=Takes.VALUES,
    ),
    _s(
        "report.reference",
        "--reference",
        str,
        "",
        "Published table to show beside the result: a bundled one, such as tdengine-cpu, or a CSV file.",
        "NAME",
    ),
    _u(
        "report.predict",
        "--predict",
        parse_levels,
        "",
        "Levels to predict, at most twice the highest measured: 16,24.",
        "LEVELS",
    ),
    _s(
        "report.need",
        "--need",
        readers.rates,
        "",
        "Rates in rows/s for which the report finds the level: 2000000 or 2M,5M.",
        "RATES",
    ),
    _s("tags", "--tag", readers.tag, "", "A note for the manifest. Repeatable.", "K=V", Takes.VALUES),
)

BY_KEY = {s.key: s for s in SETTINGS}
DESCRIPTIVE_KEYS = ("name", "question")


def parameter_name(flag: str) -> str:
    """The Python name of a flag: --rows-per-request → rows_per_request."""
    return flag.removeprefix("--").replace("-", "_")
