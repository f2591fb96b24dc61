"""The two result lines, read back by regular expressions as users' scripts have them, and the JSON document."""

import re
from datetime import datetime

import pytest

from scale_sweep.loadgen.merge import HdrHistogram
from scale_sweep.model import Latency, LoadSummary
from scale_sweep.taosbenchmark import output
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run import read_given, read_job

# As scripts have them for taosBenchmark 3.3.0.0.
SPENT = re.compile(
    r"\[(\d\d/\d\d \d\d:\d\d:\d\d\.\d{6})\] SUCC: Spent (\d+\.\d{6}) \(real (\d+\.\d{6})\) seconds to insert rows: (\d+) "
    r"with (\d+) thread\(s\) into (\w+) (\d+\.\d\d) \(real (\d+\.\d\d)\) records/second"
)
DELAY = re.compile(
    r"SUCC: insert delay, min: (\d+\.\d{4})ms, avg: (\d+\.\d{4})ms, p90: (\d+\.\d{4})ms, p95: (\d+\.\d{4})ms, "
    r"p99: (\d+\.\d{4})ms, max: (\d+\.\d{4})ms"
)
CREATED = re.compile(
    r"Spent (\d+\.\d{4}) seconds to create (\d+) table\(s\) with (\d+) thread\(s\), already exist (\d+) table\(s\), "
    r"actual (\d+) table\(s\) pre created, (\d+) table\(s\) will be auto created"
)
NOW = datetime(2026, 11, 21, 4, 43, 29, 114484)


def latency(values_us):
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values_us:
        histogram.record_value(int(value * 1000))
    nothing = not values_us
    return Latency(
        count=len(values_us),
        min_us=None if nothing else min(values_us),
        max_us=None if nothing else max(values_us),
        mean_us=None if nothing else sum(values_us) / len(values_us),
        p50_us=None,
        p90_us=None,
        p95_us=None,
        p99_us=None,
        p999_us=None,
        hdr=histogram.encode().decode("ascii"),
    )


def loaded(values_us, rows=10_000, threads=2, window_s=2.0, **fields):
    summary = LoadSummary(
        **{
            "outcome": "ok",
            "window_s": window_s,
            "window_start_ns": 0,
            "window_end_ns": 1,
            "last_ack_ns": 1,
            "rows_window": rows,
            "rows_per_s": rows / window_s if window_s else None,
            "rows_acked": rows,
            "rows_failed": 0,
            "requests": len(values_us),
            "errors": 0,
            "retries": 0,
            "cpu_window_s": 0.5,
            "offered_rows_per_s": None,
            "threads": threads,
            "send_s": 1.0,
            "make_s": 0.1,
            "response": latency(values_us),
            "service": latency(values_us),
            "partitions": (rows,),
            **fields,
        }
    )
    database = job().databases[0]
    return output.TableLoad(
        database=database, table=database.tables[0], threads=threads, vgroups=2, summary=summary, troubles=()
    )


def job():
    return read_job(*read_given(["-p", "hunter2", "-t", "10", "-n", "1000", "-T", "2"]), ScaleOptions(), {}, NOW)


def test_the_two_lines():
    one = loaded([1000.0, 2000.0, 3000.0, 4000.0] * 25)
    found = SPENT.fullmatch(output.stamped(NOW, "SUCC", output.spent_line(one)))
    assert found is not None
    assert found.groups() == (
        "11/21 04:43:29.114484",
        "2.000000",
        "0.125000",
        "10000",
        "2",
        "test",
        "5000.00",
        "80000.00",
    )
    found = DELAY.search(output.stamped(NOW, "SUCC", output.delay_line(one)))
    assert [float(v) for v in found.groups()] == pytest.approx([1.0, 2.5, 4.0, 4.0, 4.0, 4.0], rel=2e-3)


def test_one_request_has_every_percentile_as_there():
    found = DELAY.search("SUCC: " + output.delay_line(loaded([1824.0])))
    assert {float(v) for v in found.groups()} == {1.824}


def test_nothing_answered_gives_noughts_and_no_division():
    nothing = loaded([], rows=0, window_s=0.0)
    found = SPENT.search(output.stamped(NOW, "SUCC", output.spent_line(nothing)))
    assert float(found.group(7)) == float(found.group(8)) == 0
    assert set(DELAY.search("SUCC: " + output.delay_line(nothing)).groups()) == {"0.0000"}
    load = output.document(job(), [nothing], interrupted=True)["loads"][0]
    assert load["delay"] is None
    assert load["real_rows_per_s"] is None


def test_the_line_about_tables():
    assert CREATED.fullmatch(output.created_line(10, 0, 8, 0.007)).groups() == ("0.0070", "10", "8", "0", "0", "10")


def test_neither_settings_nor_document_hold_the_password():
    words = "\n".join(output.settings_lines(job())) + str(output.document(job(), [loaded([1.0])], interrupted=False))
    assert "hunter2" not in words
    assert "database test: is dropped and created anew" in words
