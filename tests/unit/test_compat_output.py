"""The two result lines, read back by regular expressions as users' scripts have them, and the JSON document."""

import re
from collections import Counter
from datetime import datetime

import pytest

from scale_sweep.model import Latency
from scale_sweep.taosbenchmark import loading as output
from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.loading import stamped
from scale_sweep.taosbenchmark.run_inserts import JobResult, document, settings_lines
from tests.unit.raw_run import encoded
from tests.unit.test_loadgen import summary

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
    ends = {"min_us": min(values_us, default=None), "max_us": max(values_us, default=None)}
    mean_us = sum(values_us) / len(values_us) if values_us else None
    unknown = dict.fromkeys("p50_us p90_us p95_us p99_us p999_us".split())
    hdr = encoded(1000, 3, Counter(int(value * 1000) for value in values_us))
    return Latency(count=len(values_us), mean_us=mean_us, hdr=hdr, **ends, **unknown)


def loaded(values_us, rows=10_000, window_s=2.0):
    figures = {"window_s": window_s, "rows_per_s": rows / window_s if window_s else None, "cpu_window_s": 0.5}
    figures |= {"rows_window": rows, "rows_acked": rows, "partitions": (rows,), "requests": len(values_us)}
    figures |= {"send_s": 1, "make_s": 1, **dict.fromkeys(("response", "service"), latency(values_us))}
    database = job().databases[0]
    made = {"database": database, "table": database.tables[0], "threads": 2, "vgroups": 2}
    return output.TableLoad(summary=summary([1], **figures), troubles=(), **made)


def job():
    return read_job(*read_given(["-p", "hunter2", "-t", "10", "-n", "1000", "-T", "2"]), ScaleOptions(), {}, NOW)


def test_the_two_lines():
    one = loaded([1000.0, 2000.0, 3000.0, 4000.0] * 25)
    found = SPENT.fullmatch(stamped(NOW, "SUCC", output.spent_line(one)))
    assert " ".join(found.groups()) == "11/21 04:43:29.114484 2.000000 0.125000 10000 2 test 5000.00 80000.00"
    found = DELAY.search(stamped(NOW, "SUCC", output.delay_line(one)))
    assert [float(v) for v in found.groups()] == pytest.approx([1.0, 2.5, 4.0, 4.0, 4.0, 4.0], rel=2e-3)
    found = DELAY.search("SUCC: " + output.delay_line(loaded([1824.0])))
    assert {float(v) for v in found.groups()} == {1.824}, "each percentile of one request"
    assert CREATED.fullmatch(output.created_line(10, 0, 8, 0.007)).groups() == ("0.0070", "10", "8", "0", "0", "10")


def test_nothing_answered_gives_noughts_and_no_division():
    nothing = loaded([], rows=0, window_s=0.0)
    found = SPENT.search(stamped(NOW, "SUCC", output.spent_line(nothing)))
    assert float(found.group(7)) == float(found.group(8)) == 0
    assert set(DELAY.search("SUCC: " + output.delay_line(nothing)).groups()) == {"0.0000"}
    load = document(job(), JobResult(done=[nothing]))["loads"][0]
    assert load["delay"] is load["real_rows_per_s"] is None


def test_neither_settings_nor_document_hold_the_password():
    settings = "\n".join(settings_lines(job()))
    assert "database test: is dropped" in settings
    assert "hunter2" not in settings + str(document(job(), JobResult(done=[loaded([1.0])])))
