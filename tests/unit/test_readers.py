"""Readers of load tools: stored outputs of real runs, arguments, rows of other packages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scale_sweep.base import registry
from scale_sweep.base.errors import UsageError
from scale_sweep.cli.judging import masked
from scale_sweep.loadgen import readers
from scale_sweep.loadgen.readers import (
    Reader,
    from_plain,
    pattern_reader,
    progress_of,
    reader_named,
    reader_of,
    result_of,
    to_plain,
    value_of,
    with_progress,
)

OUTPUTS = Path(__file__).resolve().parents[1] / "data/readers"
# A file below tests/data/readers, whose first line is the command; what its report says.
RESULTS = {
    "pgbench/progress": {"rate": 3206.884765, "count": 12844, "seconds": 4, "ms": {"mean": 1.241}},
    "pgbench/no_progress": {"rate": 26799.592646, "count": 1000, "seconds": None, "ms": {"mean": 0.075}},
    "pgbench/errors": {"rate": 2613.316153, "count": 7845, "seconds": 3, "errors": 17099, "ms": {"mean": 0.443}},
    "pgbench/scripts": {"rate": 11234.067180, "count": 33698, "seconds": 3, "ms": {"mean": 0.176}},
    "pgbench/throttled": {"rate": 296.875964, "count": 890, "seconds": 3, "ms": {"mean": 0.195}},
    "pgbench/failed": None,
    "sysbench/oltp": {"unit": "transactions", "rate": 1199.31, "count": 3603, "seconds": 3.0036, "errors": 3,
        "ms": {"min": 0.66, "mean": 3.33, "max": 71.48, "p95": 8.58}},
    "sysbench/errors": {"unit": "transactions", "rate": 802.83, "count": 2414, "seconds": 3.0062, "errors": 747,
        "ms": {"min": 1.29, "mean": 9.95, "max": 81.64, "p99": 38.94}},
    "sysbench/postgres": {"unit": "transactions", "rate": 1886.50, "count": 2000, "seconds": 1.0593,
        "ms": {"min": 0.41, "mean": 1.06, "max": 11.36, "p95": 4.41}},
    "sysbench/cpu": {"rate": 7221 / 2.0014, "count": 7221, "seconds": 2.0014,
        "ms": {"min": 0.19, "mean": 0.55, "max": 86.00, "p95": 0.53}},
    "sysbench/memory": {"rate": 4312541 / 1.0001, "count": 4312541, "seconds": 1.0001,
        "ms": {"min": 0, "mean": 0, "max": 8.04, "p95": 0}},
    "sysbench/failed": None,
    "redis-benchmark/one_test": {"rate": 200000 / 1.86, "count": 200000, "seconds": 1.86,
        "ms": {"mean": 0.561, "min": 0.040, "p50": 0.311, "p95": 1.775, "p99": 3.999, "max": 17.311}},
    "redis-benchmark/two_tests": {"rate": 120000 / 7.03, "count": 120000, "seconds": 7.03,
        "ms": {"min": 0.024, "max": 296.703}},
    "redis-benchmark/quiet": {"rate": 2 / (1 / 28058.36 + 1 / 33978.93)},
    "redis-benchmark/csv": {"rate": 2 / (1 / 31367.63 + 1 / 31685.68), "ms": {"min": 0.032, "max": 12.223}},
    "redis-benchmark/failed": None,
    "memtier_benchmark/timed": {"rate": 30841.18, "seconds": 3,
        "ms": {"mean": 0.32445, "p50": 0.087, "p99": 5.215, "p999": 9.983}},
    "memtier_benchmark/runs": {"rate": 31892.44, "ms": {"mean": 0.06887, "p50": 0.039, "p99": 0.863, "p999": 3.999}},
    "memtier_benchmark/errors": {"rate": 39682.54, "errors": 20, "ms": {"mean": 0.0512}},
    "mysqlslap/queries": {"rate": 4000 / 1.636, "count": 4000, "seconds": 1.636},
    "mysqlslap/csv": {"rate": 2000 / 0.3, "count": 2000, "seconds": 0.3},
    "go-ycsb/mixed": {"rate": 15691.9, "count": 20000, "seconds": 1.276391269,
        "ms": {"mean": 0.239, "min": 0.032, "max": 19.903, "p50": 0.164, "p90": 0.246, "p95": 0.311, "p99": 3.287,
               "p999": 9.879}},
    "go-ycsb/errors": {"rate": 7842.5, "count": 23883, "seconds": 3.046160106, "errors": 8146 + 7971,
        "ms": {"mean": 0.312, "min": 0.030, "max": 21.487, "p50": 0.198, "p90": 0.434, "p95": 0.902, "p99": 3.173,
               "p999": 6.699}},
    "taosbenchmark/taosc": {"rate": 1312528.30, "count": 600000, "seconds": 0.457133, "rows": 600000,
        "ms": {"min": 0.492, "mean": 1.4285, "p90": 2.361, "p95": 4.573, "p99": 9.829, "max": 16.455}},
    "taosbenchmark/stmt": {"rate": 2617537.92, "count": 5000000, "seconds": 1.910192, "rows": 5000000,
        "ms": {"min": 0.659, "mean": 11.249, "p90": 26.771, "p95": 32.665, "p99": 55.782, "max": 574.524}},
    "taosbenchmark/two_tables": {"rate": 600000 / 0.220716, "count": 600000, "seconds": 0.220716, "rows": 600000,
        "ms": {"min": 6.236, "max": 21.936}},
    "taosbenchmark/errors": {"rate": 93316 / 2.703487, "count": 93316, "seconds": 2.703487, "rows": 93316, "errors": 2,
        "ms": {"min": 0.052, "mean": 0.2316, "p90": 0.301, "p95": 0.35, "p99": 0.921, "max": 11.485}},
    "tsbs_load/influx": {"rate": 102753.88, "count": 216000, "seconds": 2.102, "rows": 216000},
    "tsdbperf/plain": {"rate": 277200, "count": 800000, "seconds": 2.89, "rows": 800000},
    "iot-benchmark/influx": {"rate": 81088.26, "count": 2400000, "seconds": 29.60,
        "ms": {"mean": 47.47, "min": 5.51, "p50": 45.96, "p90": 52.21, "p95": 56.06, "p99": 76.34,
               "p999": 116.28, "max": 133.92}},
    "wrk/plain": {"rate": 22424.09, "count": 67899, "seconds": 3.03, "ms": {"mean": 1.23, "max": 13.96}},
    "wrk/latency": {"rate": 20685.47, "count": 41456, "seconds": 2.00,
        "ms": {"mean": 1.35, "max": 16.91, "p50": 0.386, "p90": 3.80, "p99": 8.30}},
    "wrk/errors": {"rate": 24915.47, "count": 49936, "seconds": 2.00, "errors": 48924,
        "ms": {"mean": 0.55236, "max": 8.22}},
    "wrk/cut_connections": {"rate": 321.26, "count": 646, "seconds": 2.01, "errors": 8660,
        "ms": {"mean": 0.78408, "max": 9.41}},
    "wrk/failed": None,
    "ab/counted": {"rate": 5245.10, "count": 20000, "seconds": 3.813,
        "ms": {"mean": 1.525, "min": 0, "p50": 1, "p90": 4, "p95": 5, "p99": 8, "max": 19}},
    "ab/timed": {"rate": 18336.49, "count": 36673, "seconds": 2,
        "ms": {"mean": 0.436, "min": 0, "p50": 0, "p90": 0, "p95": 2, "p99": 7, "max": 65}},
    "ab/errors": {"rate": 20515.77, "count": 3000, "seconds": 0.146, "errors": 2924,
        "ms": {"mean": 0.195, "min": 0, "p50": 0, "p90": 0, "p95": 0, "p99": 4, "max": 18}},
    "ab/failed": None,
    "hey/timed": {"rate": 20458.5583, "seconds": 2.0008,
        "ms": {"mean": 0.4, "min": 0, "p50": 0.3, "p90": 0.5, "p95": 0.6, "p99": 4.1, "max": 13}},
    "hey/errors": {"rate": 11735.2669, "seconds": 0.1704, "errors": 1905,
        "ms": {"mean": 0.3, "min": 0, "p50": 0.1, "p90": 0.2, "p95": 1.6, "p99": 8.3, "max": 11.7}},
    "hey/cut_connections": {"rate": 4448.2603, "seconds": 0.2698, "errors": 1113,
        "ms": {"mean": 2.1, "min": 0.1, "p50": 0.6, "p90": 6.2, "p95": 10.4, "max": 14}},
    "oha/timed": {"rate": 30350.4968, "seconds": 2.0043,
        "ms": {"mean": 0.3, "min": 0, "p50": 0.2, "p90": 0.3, "p95": 0.3, "p99": 3.9, "p999": 8.2, "max": 12.2}},
    "oha/errors": {"rate": 28228.7294, "seconds": 0.0708, "errors": 1957,
        "ms": {"mean": 0.1, "min": 0, "p50": 0, "p90": 0, "p95": 0.1, "p99": 4, "p999": 8.4, "max": 8.4}},
    "oha/cut_connections": {"rate": 4526.7354, "seconds": 0.2651, "errors": 1132,
        "ms": {"mean": 3, "min": 0.1, "p50": 0.8, "p90": 8.3, "p95": 10.6, "p99": 12.3, "p999": 12.3, "max": 12.3}},
    "k6/timed": {"rate": 7326.536523, "count": 21981, "seconds": 3,
        "ms": {"mean": 0.54182, "min": 0.03926, "p50": 0.27849, "max": 19.51, "p90": 1.21, "p95": 2.42}},
    "k6/errors": {"rate": 9252.663395, "count": 2000, "seconds": 0.2, "errors": 1888,
        "ms": {"mean": 0.21156, "min": 0.03482, "p50": 0.13033, "max": 17.44, "p90": 0.20092, "p95": 0.30268}},
    "vegeta/fast": {"rate": 18147.12, "count": 36294, "seconds": 2,
        "ms": {"min": 0.023846, "mean": 0.197178, "p50": 0.148798, "p90": 0.279147, "p95": 0.338539, "p99": 1.41,
               "max": 11}},
    "vegeta/errors": {"rate": 505.25, "count": 4000, "seconds": 1.999, "errors": 2990,
        "ms": {"min": 0.030445, "mean": 0.237618, "p50": 0.139221, "p90": 0.243535, "p95": 0.425625, "p99": 3.13,
               "max": 8.134}},
    "vegeta/refused": {"rate": 0, "count": 50, "seconds": 0.98029, "errors": 50,
        "ms": {"min": 0.045999, "mean": 0.263232, "p50": 0.225581, "p90": 0.503171, "p95": 0.572664, "p99": 0.950067,
               "max": 0.950067}},
    "fio/mixed": {"rate": 47700, "seconds": 3.094},
    "fio/status": {"rate": 89900, "seconds": 3.001},
    "fio/errors": {"rate": 32500, "seconds": 0.002, "errors": 1},
    "fio/in_turn": None,
}  # fmt: skip
# The lines of progress in a file: how many, and t_s, rate, count and errors of the second.
PROGRESS = {
    "pgbench/progress": (4, 2.0, 3184.3, None, 0),
    "pgbench/no_progress": (0,),
    "pgbench/errors": (3, 2.0, 2590.8, None, 5765),
    "pgbench/throttled": (3, 2.0, 302.0, None, 0),
    "sysbench/oltp": (3, 2.0, 1327.64, None, 0),
    "sysbench/errors": (3, 2.0, 871.74, None, 254),
    "sysbench/cpu": (2, 2.0, 2510.66, None, 0),
    "redis-benchmark/one_test": (7, None, 111936.0, None, 0),
    "redis-benchmark/quiet": (25, None, 33162.1, None, 0),
    "redis-benchmark/csv": (0,),
    "memtier_benchmark/timed": (3, 2, 27118, 56318, 0),
    "tsbs_load/influx": (2, None, 114000.05, None, 0),
    "go-ycsb/errors": (4, 2.0, None, 23883, 0),
    "ab/counted": (10, None, None, 4000, 0),
    "k6/timed": (3, 2.0, None, 14838, 0),
    "fio/mixed": (2, None, 67200, None, 0),
    "fio/status": (1,),
}
# Reports of several tests: each has a rate.
SEVERAL = ("redis-benchmark/two_tests", "redis-benchmark/quiet", "redis-benchmark/csv", "taosbenchmark/two_tables")


def stored(name):
    """The row of the command and its output."""
    command, _, output = (OUTPUTS / f"{name}.txt").read_bytes().decode().partition("\n")
    return reader_of(command.removeprefix("$ ").split()), output


def numbers(result):
    every = result | result.get("ms", {})
    return {name: value for name, value in every.items() if value is not None and name not in ("ms", "unit")}


@pytest.mark.parametrize("name", RESULTS)
def test_a_report_is_read(name):
    reader, output = stored(name)
    result, expected = result_of(reader, output), RESULTS[name]
    assert (result is None) == (expected is None)
    if expected:
        assert result.unit == expected.get("unit", reader.unit)
        assert numbers(vars(result)) == pytest.approx({"errors": 0} | numbers(expected), rel=1e-6)


@pytest.mark.parametrize("name", PROGRESS)
def test_progress_is_read(name):
    reader, output = stored(name)
    lines = [one for line in output.replace("\r", "\n").split("\n") if (one := progress_of(reader, line))]
    count, *second = PROGRESS[name]
    assert len(lines) == count
    assert not second or [*vars(lines[1]).values()] == second


@pytest.mark.parametrize("name", [name for name, expected in RESULTS.items() if expected and name not in SEVERAL])
def test_a_report_that_was_cut_has_no_result(name):
    """Wherever it was cut, also inside of a number: there is no other rate than that of the whole."""
    reader, output = stored(name)
    cut = [result_of(reader, output[:end]) for end in range(len(output))]
    assert {result.rate for result in cut if result} <= {result_of(reader, output).rate}


@pytest.mark.parametrize("name", sorted({name.split("/")[0] for name in RESULTS}))
def test_a_row_survives_json(name):
    reader = stored(next(n for n in RESULTS if n.startswith(f"{name}/")))[0]
    assert from_plain(json.loads(json.dumps(to_plain(reader)))) == reader
    assert reader_named(reader.name) is reader


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("pgbench -c 8 bench", "pgbench"),
        ("/usr/lib/postgresql/15/bin/pgbench bench", "pgbench"),
        ("taskset -c 1 nice -n 5 timeout -s INT 60 wrk -t2 http://localhost/", "wrk"),
        ("env -i A=b -u C chrt -f 1 stdbuf -oL redis-benchmark -q", "redis-benchmark"),
        ("mariadb-slap -a", "mysqlslap"),
        ("./load.sh pgbench", None),
        ("python3 -u load.py", None),
        ("nice", None),
        ("", None),
    ],
)
def test_the_program_names_the_row(command, name):
    reader = reader_of(command.split())
    assert (reader.name if reader else None) == name


@pytest.mark.parametrize(
    ("command", "flags", "value"),
    [
        ("pgbench -c8 bench", ("-c", "--client"), "8"),
        ("pgbench -c 8 bench", ("-c", "--client"), "8"),
        ("pgbench --client=8 bench", ("-c", "--client"), "8"),
        ("pgbench --client 8 bench", ("-c", "--client"), "8"),
        ("pgbench -c 8 -c 9", ("-c",), "9"),
        ("taskset -c 1 pgbench bench", ("-c",), None),
        ("vegeta attack -duration=2s", ("-duration",), "2s"),
        ("hey -cpus 2 -z 3s", ("-z",), "3s"),
        ("hey -cpus 2 http://localhost/", ("-c",), None),
        ("hey -cpus 2 -c 4 http://localhost/", ("-cpus", "--cpus"), "2"),
        ("pgbench -T", ("-T",), None),
    ],
)
def test_the_value_of_a_flag(command, flags, value):
    assert value_of(command.split(), flags) == value


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nice -n 5 pgbench -c 8 bench", "nice -n 5 pgbench -P 1 -c 8 bench"),
        ("pgbench -P5 bench", "pgbench -P5 bench"),
        ("pgbench --progress=5 bench", "pgbench --progress=5 bench"),
        ("pgbench -i bench", "pgbench -i bench"),
        ("sysbench cpu run", "sysbench --report-interval=1 cpu run"),
        ("wrk -c 2 http://localhost/", "wrk -c 2 http://localhost/"),
        ("go-ycsb run mysql", "go-ycsb --interval=1 run mysql"),
    ],
)
def test_progress_is_asked_for_once(command, expected):
    argv = command.split()
    assert with_progress(reader_of(argv), argv) == tuple(expected.split())


def test_an_unknown_program_gets_no_arguments():
    for argv in (("./load.sh", "-c", "8"), ()):
        assert with_progress(reader_named("pgbench"), argv) == argv


def test_a_pattern_reads_the_rate_of_a_tool_without_a_row():
    reader = pattern_reader(r"ops/s: ([0-9.]+)")
    assert result_of(reader, "ops/s: 1\nops/s: 12.5\n").rate == 12.5
    assert result_of(pattern_reader(r"(?P<count>\d+) in (?P<rate>\S+)"), "7 in 2.5k").rate == 2500
    assert result_of(pattern_reader(r"ops: (\S+)"), "ops: 1,234.5").rate == 1234.5
    assert result_of(pattern_reader(r"ops: ([\d.e+]+)?"), "ops: 1.5e+06").rate == 1.5e6
    for text in ("ops: fast", "ops: ", "ops: nan", "nothing"):
        assert result_of(pattern_reader(r"ops: (\S+)?"), text) is None
    for wrong in ("ops: (", "ops", "(?P<count>.*)"):
        with pytest.raises(UsageError, match="--rate-from"):
            pattern_reader(wrong)


MINE = Reader(name="mine", programs=("load.py",), unit="rows", result=(r"(?P<count>\d+) in (?P<seconds>\S+)",))


def test_a_package_adds_a_row(monkeypatch):
    places = {"scale_sweep.readers": {"mine": f"{__name__}:MINE", "wrk": f"{__name__}:MINE"}}
    monkeypatch.setattr(registry, "_places_of_others", lambda: places)
    monkeypatch.setattr(readers, "READERS", registry.Registry("scale_sweep.readers", {}))
    readers._readers.cache_clear()
    assert reader_of(("python3", "load.py")) is MINE
    assert reader_of(("wrk",)).name == "wrk"
    assert result_of(MINE, "1000 in 1m40s").rows == 1000
    assert result_of(MINE, "1000 in 1m40s").rate == 10
    readers._readers.cache_clear()


def test_an_unknown_row_is_refused_with_the_list():
    with pytest.raises(UsageError, match="'wrkk' is not one of pgbench, .*; did you mean wrk?"):
        reader_named("wrkk")


def test_passwords_of_short_flags_are_not_shown():
    for words in (["redis-benchmark", "-a", "s3cret", "-n", "9"], ["mysqlslap", "-ps3cret", "-n", "9"]):
        shown = masked(words, reader_of(words))
        assert "s3cret" not in " ".join(shown) and shown[-2:] == ["-n", "9"]
