"""Every setting of a sweep, declared once: its key in a sweep file, its flag, how it is read, its default, its help.

The command line, the sweep files, `scale plan` and docs/settings.md are all made from this table.
Refuses to hold logic: what a value means is for the room that uses it.
"""

from __future__ import annotations

from runner.axes import all_axes
from runner.setting import Setting, readers
from runner.setting import setting as _s
from runner.sweep.knob_settings import KNOB_SETTINGS
from runner.sweep.server_settings import LOADER, METHOD, RUNTIME, TARGET
from runner.sweep.workload_settings import WORKLOAD_SETTINGS
from runner.units import parse_bytes, parse_count, parse_cpus, parse_levels, parse_seconds

SETTINGS: tuple[Setting, ...] = (
    *(setting for axis in all_axes() for setting in axis.settings),
    TARGET,
    RUNTIME,
    _s("target.version", "--version", str, "", "Version of the server (pins the image).", "VERSION"),
    _s("target.image", "--image", str, "", "Docker image; default: the target's, pinned.", "IMAGE"),
    _s("target.home", "--home", str, "", "Directory of an installed server, holding bin/ and lib/.", "DIR"),
    _s(
        "target.endpoint",
        "--endpoint",
        readers.endpoint,
        "",
        "host:port of a server that already runs: loaded and observed, never pinned or stopped.",
        "HOST:PORT",
    ),
    _s("target.port", "--port", readers.port, "", "TCP port of the server on loopback; default: a free one.", "PORT"),
    _s("target.memory", "--memory", parse_bytes, "", "Memory limit of the server, like 4GiB.", "SIZE"),
    _s(
        "target.data_dir",
        "--data-dir",
        readers.data_directory,
        "",
        "Where the server's data go; each trial gets a fresh directory there. ram, ram:8GiB: memory, a tmpfs of this "
        "size, mounted for the run; size by default: half of the available memory. Default: /var/tmp/scale-<user>.",
        "DIR|ram",
    ),
    _s("cpus.server", "--server-cpus", parse_cpus, "", "CPUs that the server may use, in this order: 0,2-5.", "LIST"),
    _s("cpus.client", "--client-cpus", parse_cpus, "", "CPUs that the load generator may use: 6-7.", "LIST"),
    *WORKLOAD_SETTINGS,
    METHOD,
    _s(
        "load.rows",
        "--rows",
        readers.at_least(1, parse_count),
        "",
        "Fixed work: rows in total, as in the article (100M). Excludes --duration.",
        "N",
    ),
    _s(
        "load.rows_per_level",
        "--rows-per-level",
        readers.at_least(1, parse_count),
        "",
        "Fixed work in proportion to the level: so many rows for each core, disk or client. Excludes --rows.",
        "N",
    ),
    _s(
        "load.duration",
        "--duration",
        readers.above_zero(parse_seconds),
        "40s",
        "Window after the warm-up; a number from less than 40 s is marked quick.",
        "TIME",
    ),
    _s(
        "load.window_max",
        "--window-max",
        parse_seconds,
        "",
        "The window grows up to this while the rate is not steady; default: 1.5 times --duration, 3 times one under "
        "40s; 0: never grows.",
        "TIME",
    ),
    _s(
        "load.quick",
        "--quick",
        readers.switch,
        "",
        "Short windows: --duration 10s, growing to 30s; every number is marked quick, since it proves little.",
        switch=True,
    ),
    _s(
        "load.soak",
        "--soak",
        readers.above_zero(parse_seconds),
        "",
        "One trial this long at one level; the report shows its rate over time, and how far short windows are off.",
        "TIME",
    ),
    _s("load.warmup", "--warmup", parse_seconds, "5s", "Warm-up, thrown away.", "TIME"),
    _s("load.rate", "--rate", parse_count, "0", "Open loop: rows per second offered; 0: closed loop.", "ROWS/S"),
    _s(
        "load.arrival",
        "--arrival",
        readers.one_of("constant", "poisson"),
        "constant",
        "Open loop: how requests arrive.",
        "KIND",
    ),
    _s(
        "load.request_timeout",
        "--request-timeout",
        parse_seconds,
        "60s",
        "Time for the answer to one request, where the client library can end one (libtaos cannot); then the trial is "
        "ABORTED. 0: none.",
        "TIME",
    ),
    _s(
        "load.drain",
        "--drain",
        readers.above_zero(parse_seconds),
        "30s",
        "Time for requests in flight when the window ends, or when the load breaks off.",
        "TIME",
    ),
    LOADER,
    _s(
        "load.placement",
        "--placement",
        readers.one_of("owned", "stock"),
        "owned",
        "owned: each thread owns its vgroups, evenly filled; stock: contiguous ranges of tables.",
        "KIND",
    ),
    *KNOB_SETTINGS,
    _s(
        "vary",
        "--vary",
        readers.variation,
        "",
        "A second factor, NAME=V1,V2,...: method, rows_per_request, requests_per_table, interlace_rows, tables, "
        "placement or a knob; repeatable.",
        "NAME=V1,V2",
        many=True,
    ),
    _s("method.replicates", "--replicates", readers.at_least(1, parse_count), "3", "Trials of each level.", "N"),
    _s(
        "method.detect",
        "--detect",
        readers.percent,
        "",
        "Choose the replicates so that a difference between two levels of this size, like 5%, is seen 4 times in 5.",
        "PERCENT",
    ),
    _s(
        "method.until_ci",
        "--until-ci",
        readers.percent,
        "",
        "Add replicates until the 95 % interval of every level's mean is within this, like 5%.",
        "PERCENT",
    ),
    _s(
        "method.replicates_max",
        "--replicates-max",
        readers.at_least(2, parse_count),
        "10",
        "With --until-ci: at most so many trials of each level.",
        "N",
    ),
    _s(
        "method.anchors",
        "--anchors",
        readers.one_of("auto", "on", "off"),
        "auto",
        "Repeat the first trial at the end, to show drift of the machine; auto: with several levels and replicates.",
        "auto|on|off",
    ),
    _s(
        "method.bridge",
        "--bridge",
        readers.switch,
        "",
        "Where a knob's rule moves: measure the level after it with the old knobs too, and split the gain.",
        switch=True,
    ),
    _s(
        "method.profile",
        "--profile",
        readers.switch,
        "",
        "Repeat a trial of the lowest and of the highest level with Linux' perf, and show what grew between them.",
        switch=True,
    ),
    _s(
        "method.connections_check",
        "--connections-check",
        readers.one_of("on", "off"),
        "on",
        "Where the server leaves idle what a level gives, and nothing outside it explains that: measure the level once "
        "more with twice the connections. If the rate does not rise, the level counts as SOFTWARE_BOTTLENECK; "
        "else, and with off, it is not fitted. At most one trial for each level.",
        "on|off",
    ),
    _s("method.seed", "--seed", parse_count, "42", "Seed of the data.", "N"),
    _s(
        "method.order_seed",
        "--order-seed",
        parse_count,
        "",
        "Seed of the order of the trials. Default: a new one for each run; it is recorded in the manifest.",
        "N",
    ),
    _s("method.sample_hz", "--sample-hz", readers.between(0.1, 10.0), "1", "Samples per second, up to 10.", "HZ"),
    _s(
        "report.reference",
        "--reference",
        str,
        "",
        "Published table to lay beside ours: tdengine-cpu, or a CSV file.",
        "NAME",
    ),
    _s(
        "report.predict",
        "--predict",
        parse_levels,
        "",
        "Levels whose rate the report is to predict, up to twice the highest measured: 16,24.",
        "LEVELS",
    ),
    _s(
        "report.need",
        "--need",
        readers.rates,
        "",
        "Rates, in rows/s, whose level the report is to find: 2000000 or 2M,5M.",
        "RATES",
    ),
    _s("tags", "--tag", readers.tag, "", "Anything worth remembering, k=v; repeatable.", "K=V", many=True),
)

BY_KEY = {s.key: s for s in SETTINGS}
DESCRIPTIVE_KEYS = ("name", "question")


def parameter_name(setting: Setting) -> str:
    """The Python name of a flag: --rows-per-request → rows_per_request."""
    return setting.flag.removeprefix("--").replace("-", "_")
