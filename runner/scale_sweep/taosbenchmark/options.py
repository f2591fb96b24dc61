"""taosBenchmark's command line: the table of its options, and its parsing as argp does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from scale_sweep.base.texts import odd_character
from scale_sweep.taosbenchmark.job import Remarks

_WEBSOCKET = "belongs to taosBenchmark built for WebSocket; use the sweep's method ws"


@dataclass(frozen=True, kw_only=True)
class Option:
    short: str
    long: str
    metavar: str = ""
    default: str = ""
    text: str = ""
    why: str = ""  # the reason to refuse it; "" if it is supported
    note: str = ""  # it is accepted without effect, for this reason


def _o(short: str, long: str, metavar: str, default: str, text: str, *, why: str = "", note: str = "") -> Option:
    return Option(short=short, long=long, metavar=metavar, default=default, text=text, why=why, note=note)


OPTIONS: tuple[Option, ...] = (
    _o("f", "file", "FILE", "", "insert JSON file; beside it only -y, -o and what says where the server is"),
    _o("c", "config-dir", "DIR", "", "client configuration: host and port are read from its taos.cfg"),
    _o("h", "host", "HOST", "localhost", "server"),
    _o("P", "port", "PORT", "6030", "its port (6041, the adapter's, with -I rest)"),
    _o("I", "interface", "IFACE", "taosc", "taosc, stmt, rest, sml, sml-line, sml-telnet, sml-json, sml-taosjson"),
    _o("u", "user", "USER", "root", "user name"),
    _o("p", "password", "PASSWORD", "taosdata", "seen by everybody in the process list; rather SCALE_PASSWORD"),
    _o("o", "output", "FILE", "./output.txt", "the result lines are appended to it"),
    _o("T", "threads", "N", "8", "connections, each with its thread"),
    _o("i", "insert-interval", "MS", "0", "each thread sends one request in so many milliseconds"),
    _o("S", "time-step", "MS", "1", "between the rows of a table"),
    _o("H", "angle-step", "N", "1", "", why="shapes values by an angle; the load generator's values have none"),
    _o("s", "start-timestamp", "MS", "1500000000000", "of the first row of each table"),
    _o("U", "supplement-insert", "", "", "into tables that are there already; creates nothing"),
    _o("B", "interlace-rows", "N", "0", "rows of a table before the next one; 0: table after table"),
    _o("r", "rec-per-req", "N", "30000", "rows in a request, 1..65536"),
    _o("t", "tables", "N", "10000", "tables"),
    _o("n", "records", "N", "10000", "rows in each table"),
    _o("d", "database", "NAME", "test", "database; dropped and created anew unless -Q or -U"),
    _o("l", "columns", "N", "0", "columns in all, filled up with INT"),
    _o("L", "partial-col-num", "N", "0", "only the first N columns get values"),
    _o("A", "tag-type", "TYPES", "INT,BINARY(24)", "types of the tags"),
    _o("b", "data-type", "TYPES", "FLOAT,INT,FLOAT", "types of the columns"),
    _o("w", "binwidth", "N", "64", "length of BINARY and NCHAR without one"),
    _o("m", "table-prefix", "PREFIX", "d", "tables are PREFIX0, PREFIX1, ..."),
    _o("E", "escape-character", "", "", "keeps upper-case letters in names"),
    _o("C", "chinese", "", "", "texts are Chinese characters"),
    _o("N", "normal-table", "", "", "tables without a supertable"),
    _o("M", "random", "", "", "accepted: every table has its own rows anyway", note="every table has rows of its own"),
    _o("x", "aggr-func", "", "", "asks common aggregates after the load, and prints how long each took"),
    _o("y", "answer-yes", "", "", "does not ask before the database is dropped"),
    _o("R", "disorder-range", "MS", "1000", "how late a row may come"),
    _o("O", "disorder", "PERCENT", "0", "of rows that come late, 0..50"),
    _o("a", "replica", "N", "1", "replicas of the database"),
    _o("g", "debug", "", "", "accepted: no debug output", note="the load generator has no debug output"),
    _o("G", "performance", "", "", "accepted, as -g", note="the load generator has no such output"),
    _o("F", "prepared_rand", "N", "10000", "rows are made fresh; limits only requests of stmt, as there"),
    _o("k", "keep-trying", "N", "0", "how often a failed request is sent again, 0..1000"),
    _o("z", "trying-interval", "MS", "0", "", why="the load generator waits 10 ms longer before each further try"),
    _o("v", "vgroups", "N", "", "vgroups of the database"),
    _o("V", "version", "", "", "shows the version and ends"),
    _o("Q", "nodrop", "", "", "keeps a database that is there"),
    _o("W", "cloud_dsn", "DSN", "", "", why=_WEBSOCKET),
    _o("D", "timeout", "SECONDS", "", "", why=_WEBSOCKET),
    _o("?", "help", "", "", "shows this help and ends"),
    _o("", "usage", "", "", "as --help"),
)
_LONG_ALIASES = {"replia": "replica"}
_BY_SHORT = {o.short: o for o in OPTIONS if o.short}
_BY_LONG = {o.long: o for o in OPTIONS}


def parse(arguments: Sequence[str], remarks: Remarks) -> Mapping[str, str]:
    """By long name; "" for an option without a value. Of two the last one counts, as in argp."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument.startswith("--") and len(argument) > 2:
            _take_long(argument, rest, options, remarks)
        elif argument.startswith("-") and len(argument) > 1 and argument != "--":
            _take_short(argument[1:], rest, options, remarks)
        else:
            remarks.refuse(argument, "is not an option; scale load takes options only")
    return options


def _take_long(argument: str, rest: list[str], options: dict[str, str], remarks: Remarks) -> None:
    written, has_value, value = argument[2:].partition("=")
    option = _BY_LONG.get(_LONG_ALIASES.get(written, written))
    if option is None:
        near = get_close_matches(written, _BY_LONG, n=1)
        remarks.refuse(f"--{written}", "is unknown" + (f"; did you mean --{near[0]}?" if near else ""))
    elif not option.metavar and has_value:
        remarks.refuse(f"--{written}", "takes no value")
    elif option.metavar and not has_value and not rest:
        remarks.refuse(f"--{written}", f"needs a value ({option.metavar})")
    else:
        _keep(option, value if has_value or not option.metavar else rest.pop(0), options, remarks)


def _take_short(letters: str, rest: list[str], options: dict[str, str], remarks: Remarks) -> None:
    """ "yt5" is -y -t 5: the first letter with a value takes the rest, or the next argument."""
    while letters:
        letter, letters = letters[0], letters[1:]
        option = _BY_SHORT.get(letter)
        if option is None:
            remarks.refuse(f"-{letter}", "is unknown")
            return
        if not option.metavar:
            _keep(option, "", options, remarks)
        elif letters or rest:
            _keep(option, letters or rest.pop(0), options, remarks)
            return
        else:
            remarks.refuse(f"-{letter}", f"needs a value ({option.metavar})")


def _keep(option: Option, value: str, options: dict[str, str], remarks: Remarks) -> None:
    if option.why and not (option.metavar and value == option.default):
        remarks.refuse(name_of(option.long), option.why)
    if what := odd_character(value):
        remarks.refuse(name_of(option.long), f"{value!r} has {what}")
    options[option.long] = value


def name_of(long: str) -> str:
    """ "-t (--tables)", for messages."""
    option = _BY_LONG[long]
    return f"-{option.short} (--{long})" if option.short else f"--{long}"


def default_of(long: str) -> str:
    return _BY_LONG[long].default
