"""`--check`: all that a load would refuse is refused in milliseconds, without a server and without a client library."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from loadgen_program import Outcome

# Nobody listens there, and nobody has the library.
NOWHERE = "host=203.0.113.1\nport=9\nlibrary=/nowhere/lib.so\nduration_s=1\ntables=8\n"
DRIVERS = "cassandra clickhouse iotdb lines mariadb pgwire points postgres samples tdengine".split()
MANY = "columns=" + ",".join(f"c{i}:int" for i in range(5000))
WIDE = "columns=" + ",".join(f"c{i}:binary(60000)" for i in range(300))
ODD = ("x:varbinary(6)", "x:ubigint", "x:geometry(24)")  # types that few databases have
NO_NUMBERS = ("binary(8)", "ubigint", "nchar(8)", "bigint", "timestamp")
LIBTAOS = ("stmt", "sql", "sml-line")  # methods that it encodes
ASKS = "operations=q\nask.q.text="
ITEMS = f"rounds=2\nitems=/proc/version\n{ASKS}"  # one line


@pytest.fixture
def check(run: Callable[..., Outcome]) -> Callable[[str], Outcome]:
    return lambda text: run(text, "--check")


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_right_spec_needs_no_server_and_no_library(check, driver):
    outcome = check(f"driver={driver}\n{NOWHERE}")
    assert (outcome.code, outcome.events, outcome.stderr) == (0, [], "")
    assert check(f"driver=no{driver}\n{NOWHERE}").code == 3


def test_it_takes_milliseconds_of_cpu_time(program: Path, tmp_path: Path):
    spec = tmp_path / "spec"
    spec.write_text(f"driver=postgres\n{NOWHERE}")

    def used_s() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def least_s(*words: object) -> float:
        took = []
        for _ in range(10):
            before = used_s()
            subprocess.run([program, *words], check=True, capture_output=True, timeout=60)
            took.append(used_s() - before)
        return min(took)

    assert least_s("--check", spec) < least_s("--version") + 0.05


Mistake = tuple[str, str, str, str]  # driver, lines, and of the one that is told its key and words
SPECS: list[Mistake] = [
    ("null", "threads=9", "threads", "9 workers cannot share 8 tables"),
    ("null", "threads=100000", "threads", "outside 1..4096"),
    ("null", MANY, "columns", "more than 4096"),
    ("null", "rows_per_request=0", "rows_per_request", "outside"),
    ("null", "rows_per_request=1e3", "rows_per_request", "not a whole number"),
    ("null", "seed=-1", "seed", "not a whole number"),
    ("null", "rate=fast", "rate", "not a number"),
    ("null", "arrival=poisson", "arrival", "needs a rate"),
    ("null", "order=random", "order", "rotate, progressive"),
    ("null", "order=progressive", "order", ""),
    ("null", "protocol=2", "protocol", "outside"),
    ("null", "partitions=0", "partitions", "outside"),
    ("null", "interlace_rows=20000", "interlace_rows", "more than rows_per_request"),
    ("null", "requests_per_table=2\ninterlace_rows=5", "requests_per_table", "of one table each"),
    ("null", "requests_per_table=0", "requests_per_table", "outside"),
    ("null", "step_ms=0.5", "step_ms", "whole number of units"),
    ("null", "columns=a:float,a:int", "columns", "twice"),
    ("null", "columns=a:binary", "columns", "needs a length"),
    ("null", "columns=a:int(4)", "columns", "takes no length"),
    ("null", "columns=a:json", "columns", "tags only"),
    ("null", "columns=1a:int", "columns", "not a plain name"),
    ("null", "columns=", "columns", "at least one"),
    ("null", "partial_columns=4", "partial_columns", "only 3"),
    ("null", "first_worker=2\nworkers_total=2\ntables=9", "workers_total", "less than"),
    ("null", "method=copy", "method", "no method"),
    ("null", "rows=1\nrows=2", "rows", "twice"),
    ("null", "null_latncy_us=5", "null_latncy_us", "unknown key"),
    ("null", "request_timeout_s=-1", "request_timeout_s", "outside"),
    ("null", "just words", "just words", "key=value"),
    ("null", "disorder_ratio=1\ndisorder_range_ms=1\nstep_ms=5", "disorder_range_ms", "no row"),
    ("null", "disorder=batch\ndisorder_ratio=5", "disorder_rows", ""),
    ("null", "disorder_ratio=60", "disorder_ratio", ""),
    ("null", "disorder=chaos", "disorder", ""),
    ("null", "values=wave", "values", ""),
    ("null", "values=line:1,line:2", "values", ""),
    ("null", "values=line:0", "values", ""),
    ("null", "decimals=6", "decimals", ""),
    ("null", "threads=8\nrows_per_request=1000000\n" + WIDE, "rows_per_request", "GiB of memory for 8 workers"),
]
RUNS = "x -1 1,2 0:6 0:6:1, 0:5:1 1:5:1 0:3:1,4:2:1 0:7:1 0:6:x 0:6:99999999999999999".split()  # of no six tables
TAGS = "tags=groupid:int,tag_0:binary(2)\ntag_prefix=v\ntag_groups="
TABLES: list[Mistake] = [
    *(("null", f"tables=6\nfirst_row={runs}", "first_row", "") for runs in RUNS),
    *(
        ("null", f"threads=2\nheld=1\nheld_s={times}", "held_s", "START-END")
        for times in ("1", "2-1", "1-2,1-3", "1-2,")
    ),
    ("null", "threads=2\nheld=2\nheld_s=1-2", "held", "a worker that is not held"),
    ("null", "threads=2\nheld_s=1-2", "held", "needs held_s"),
    ("null", "tables=6\nrows=100\nfirst_row=5", "first_row", "cannot be joined with rows"),
    ("null", TAGS + "tag_0", "tag_groups", "'tag_0' needs a number of 1..1000000000, as tag_0:50"),
    ("null", TAGS + "tag_0:0", "tag_groups", "'tag_0' needs a number"),
    ("null", TAGS + "tag_0:9x", "tag_groups", "'tag_0' needs a number"),
    ("null", TAGS + "other:3", "tag_groups", "'other' is not a tag of type binary or nchar"),
    ("null", TAGS + "groupid:3", "tag_groups", "'groupid' is not a tag of type binary or nchar"),
    ("null", TAGS + "tag_0:3,tag_0:3", "tag_groups", "'tag_0' is named twice"),
    ("null", TAGS + "tag_0:11", "tag_groups", "tag_0: 'v10' is longer than 2 characters"),
    ("null", "tag_prefix=it's\ntag_groups=location:2", "tag_prefix", "'it's' has a quote"),
]
OPERATIONS: list[Mistake] = [
    ("null", "operations=read", "operations", "not an operation of this program"),
    ("null", "operations=", "operations", "not an operation of this program"),
    ("null", "operations=write:0", "operations", "not a whole number of 1..1000000"),
    ("null", "operations=write:1x", "operations", "not a whole number of 1..1000000"),
    ("null", "operations=write:", "operations", "not a whole number of 1..1000000"),
    ("null", "operations=write,write:2", "operations", "twice"),
    ("null", "operations=write,q", "operations", "ask.q.text"),
    ("null", "ask.q.text=x", "ask.q.text", "not among the operations"),
    ("null", ASKS + "x\nask.q.spam=1", "ask.q.spam", "unknown key"),
    ("null", ASKS + "{devise}", "ask.q.text", "'{devise}' is none of"),
    ("null", ASKS + "f(x) { 1", "ask.q.text", "written twice"),
    ("null", ASKS + "{to}\nrows_present=9", "ask.q.span_ms", "needed with {to}"),
    ("null", ASKS + "{until}\nrows_present=9", "ask.q.span_ms", "needed with"),
    ("null", ASKS + "{at}", "rows_present", "is needed"),
    ("null", ASKS + "{device} {device} {device}\ntables=2", "ask.q.text", "the 2 tables"),
    ("null", ASKS + "{again} {device}", "ask.q.text", "before any {device}"),
    ("null", ASKS + "x\nask.q.span_ms=1s", "ask.q.span_ms", "not a number"),
    ("null", ASKS + "x\nask.q.step_ms=0.5", "ask.q.step_ms", "whole number"),
    ("null", ASKS + "x\nask.q.recent_ms=-1", "ask.q.recent_ms", "less than"),
    ("null", ASKS + "x\nask.q.value_low=2\nask.q.value_high=1", "ask.q.value_high", "less than value_low"),
    ("null", ASKS + "x\nask.q.empty=none", "ask.q.empty", "'none' is neither null nor zero"),
    ("null", ASKS + "x\nask.q.follows=2\nask.q.span_ms=5", "ask.q.follows", ""),
    ("null", ASKS + "x\nsending=stubbed", "sending", "only write"),
    ("null", "check_every=-1", "check_every", "not a whole number"),
    ("null", ASKS + "{item}\nrounds=1", "items", "is needed"),
    ("null", "items=/dev/null", "items", "needs rounds"),
    ("null", ASKS + "{item}", "ask.q.text", "{item} needs rounds"),
    ("null", ITEMS + "{device}", "ask.q.text", "the only mark with rounds"),
    ("null", ITEMS.replace("=q\n", "=write,q\n") + "{item}", "rounds", "not for write"),
    ("null", ITEMS + "{item}\nask.q.result=x", "operations", "driver null runs no statements"),
    ("null", ITEMS + "{item}\nask.q.before=x", "operations", "driver null runs no statements"),
    ("null", ITEMS + "x" * 999_000 + "{item}" * 200, "items", "grows longer than 1000000 bytes"),
    ("null", "threads=2\n" + ITEMS + "{item}", "threads", "2 workers cannot share 1 items"),
    ("lines", ASKS + "x", "ask.q.text", "query_path is needed"),
    ("lines", "method=tcp\n" + ASKS + "x", "ask.q.text", "cannot ask"),
    ("pgwire", ASKS + "x", "operations", "can only write"),
    ("postgres", ASKS + "{part} {device}", "ask.q.text", "driver postgres has no {part}"),
    ("cassandra", "rounds=1\nitems=/dev/null\n" + ASKS + "{item}", "items", "has no line"),
    ("tdengine", "database=x\n" + ASKS + "{device}" * 250, "ask.q.text", "more {device} than the 8 tables"),
]
NULL_DRIVER: list[Mistake] = [
    ("null", "null_latency_us=1e3", "null_latency_us", "'1e3' is not a whole number"),
    ("null", "null_fail_every=-1", "null_fail_every", "'-1' is not a whole number"),
    ("null", "null_fatal_after=", "null_fatal_after", "'' is not a whole number"),
    ("null", "null_law=pareto", "null_law", "'pareto' is none of constant, exponential"),
    ("null", "null_servers=0", "null_servers", "'0' is not a whole number of 1..1024"),
    ("null", "null_servers=1025\nnull_service_us=1", "null_servers", "'1025' is not a whole number of 1..1024"),
    ("null", "null_service_us=1e3", "null_service_us", "'1e3' is not a whole number"),
    ("null", "null_servers=2", "null_service_us", "the servers of null_servers"),
    ("null", "null_law=constant", "null_service_us", "the servers of null_servers and null_law"),
    ("null", "null_shared=/x", "null_service_us", "the servers of null_servers and null_law"),
    ("null", "null_quota_milli=1\nnull_service_us=1\nnull_stall_us=1", "null_quota_milli", "its stops replace those"),
    ("null", "null_stall_us=5", "null_stall_every_ms", "null_stall_us needs it"),
    ("null", "null_stall_every_ms=5", "null_stall_us", "null_stall_every_ms needs it"),
    ("null", "null_stall_us=5000\nnull_stall_every_ms=5", "null_stall_us", "a stop must be shorter"),
]
DRIVERS_OWN: list[Mistake] = [
    ("postgres", WIDE, "columns", "is more than this driver sends"),
    (
        "postgres",
        "method=insert\nrows_per_request=1000000\ncolumns=a:binary(2000)",
        "rows_per_request",
        "a request of ",
    ),
    ("postgres", "method=jsonb\ncolumns=a:int,b:varbinary(3)", "columns", "b: JSON has no type varbinary"),
    ("iotdb", "rows_per_request=1000000\ncolumns=a:binary(900)", "rows_per_request", "too long"),
    ("iotdb", "rows_per_request=50000000", "rows_per_request", ""),
    ("iotdb", "columns=a:ubigint", "columns", "IoTDB has no type for a:ubigint"),
    ("iotdb", "aligned=2", "aligned", ""),
    ("cassandra", "columns=a:ubigint", "columns", "CQL has no type for a:ubigint"),
    ("cassandra", "precision=us", "precision", "milliseconds only"),
    ("cassandra", "batch_rows=0", "batch_rows", ""),
    *(("cratedb", f"columns=a:int,{one}", "columns", f"CrateDB has no type for {one[:5]}") for one in ODD),
    ("cratedb", "precision=us", "precision", ""),
    *(("pgarrays", f"columns=a:int,{one}", "columns", f"an array has no way to write {one[:5]}") for one in ODD),
    ("pgarrays", "precision=us", "precision", ""),
    *(("pgwire", f"columns=a:int,{one}", "columns", f"an INSERT has no way to write {one[:5]}") for one in ODD),
    *(("lines", f"columns=a:int,{one}", "columns", f"lines have no way to write {one[:5]}") for one in ODD[:2]),
    ("lines", "parted=2", "parted", ""),
    *(
        ("points", f"columns=a:int,w:{one}", "columns", f"points have no number for w:{one[:5]}")
        for one in NO_NUMBERS[:2]
    ),
    *(
        ("samples", f"columns=a:int,w:{one}", "columns", f"a double, which cannot hold w:{one[:5]}")
        for one in NO_NUMBERS
    ),
    ("samples", "precision=us", "precision", ""),
    ("mariadb", "precision=us", "precision", "whole milliseconds"),
    ("clickhouse", "columns=a:geometry(24)", "columns", "ClickHouse has no type for a:geometry"),
    ("clickhouse", "precision=us", "precision", "whole milliseconds"),
    ("tdengine", "method=copy", "method", "no method 'copy'"),
    ("tdengine", f"database={'x' * 300}", "database", "too long"),
    ("tdengine", f"database=x\ntable_prefix={'x' * 190}", "table_prefix", "more than"),
    ("tdengine", "method=sml-telnet", "columns", "sml-telnet carries one value in a line, the spec has 3"),
    ("tdengine", "method=sml-json", "columns", "sml-json carries one value in a line, the spec has 3"),
    ("tdengine", "method=sml-telnet\ncolumns=v:int\nprecision=ns", "precision", "sml-telnet has times in ms"),
    ("tdengine", "method=sml-json\ncolumns=v:int\nprecision=ns", "precision", "libtaos reads times of sml-json"),
    ("tdengine", "method=sml-json\ncolumns=v:int\nnull_ratio=0.1", "null_ratio", "sml-json has no NULL"),
    ("tdengine", "method=sml-telnet\ncolumns=v:binary(8)", "columns", "sml-telnet has no way to write v:binary"),
    ("tdengine", "method=sml-json\ncolumns=v:uint", "columns", "sml-json has no way to write v:uint"),
    ("tdengine", "method=tmq\npoll_ms=x\noperations=q\nask.q.text=t\nrounds=1", "poll_ms", "not a whole number"),
    ("tdengine", "method=rest\ndatabase=x\nadapter_port=abc", "adapter_port", "'abc' is not a whole number of 1"),
    ("tdengine", "method=rest\ndatabase=x\nadapter_port=65536", "adapter_port", "'65536' is not a whole number"),
    ("tdengine", "first_table=1\nplacement=owned", "first_table", "needs placement=stock"),
    ("tdengine", "auto_create=1\nmethod=sml-line", "auto_create", "is for the methods stmt, sql and rest"),
    ("tdengine", "auto_create=1\ninterlace_rows=5", "interlace_rows", "with auto_create"),
    ("tdengine", "auto_create=2", "auto_create", "'2' is not a whole number of 0..1"),
    ("tdengine", "request_timeout_s=1\n" + ASKS + "x", "request_timeout_s", ""),
    ("tdengine", "request_timeout_s=1", "request_timeout_s", "driver tdengine cannot end a request of method stmt"),
    *(
        ("tdengine", f"method={one}\nsending=stubbed", "sending", f"a request of method {one} without")
        for one in LIBTAOS
    ),
]


@pytest.mark.parametrize(
    ("driver", "line", "key", "words"),
    SPECS + TABLES + OPERATIONS + NULL_DRIVER + DRIVERS_OWN,
    ids=lambda text: text[:60],
)
def test_what_a_load_refuses_is_refused_before(run, check, driver, line, key, words):
    given = {part.partition("=")[0] for part in line.splitlines()}
    rest = "".join(f"{kept}\n" for kept in NOWHERE.splitlines() if kept.partition("=")[0] not in given)
    text = f"driver={driver}\n{rest}{line}\n"
    outcome = check(text)
    assert outcome.code == 2
    (told,) = outcome.stderr.splitlines()
    assert told.startswith(f"scale-loadgen: spec: {key}: ")
    assert words in told
    assert run(text).code == 2


def test_the_program_knows_its_version(program: Path, run):
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.fullmatch(r"scale-loadgen (\d+\.\d+\S*)\n", told)
    assert found, told
    assert run({"driver": "null", "rows": 10}).one("hello")["version"] == found[1]
