"""`scale load` from the command line to its lines, with the load generator's null driver in the server's place; the two result
lines, read back by regular expressions as users' scripts have them; and the JSON document."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from scale_sweep.model.loads import Latency
from scale_sweep.taosbenchmark import loading as output
from scale_sweep.taosbenchmark import run_inserts
from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.loading import stamped
from scale_sweep.taosbenchmark.run_inserts import JobResult, document, settings_lines
from tests.unit.null_load import insert_without_server, load, load_file, skip_without_loadgen
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


TOOK = re.compile(r"INFO: (.*) took (\d+\.\d{6}) second\(s\)")  # as scripts have it for taosBenchmark 3.3.0.0
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
from scale_sweep.cli import main
from tests.unit.null_load import insert_without_server
insert_without_server()
main()
"""


@pytest.fixture
def need_load_core():
    skip_without_loadgen()


@pytest.fixture
def scale_load(need_load_core, monkeypatch, tmp_path):
    insert_without_server(monkeypatch.setattr)
    return functools.partial(load, tmp_path, ASKED=str(tmp_path / "asked"))


def test_lines_go_to_standard_error_and_to_the_file_json_to_standard_output(scale_load, tmp_path):
    out, err = scale_load("-y", "-t", "10", "-n", "1000", "-T", "2", "-v", "2", "--json", "-p", "hunter2")
    load = json.loads(out)["loads"][0]
    assert (load["rows_acked"], load["threads"], load["outcome"], load["tables"]) == (10_000, 2, "ok", 10)
    written = (tmp_path / "output.txt").read_text()
    for text in (err, written):
        assert (SPENT.search(text).group(4), CREATED.search(text).group(2)) == ("10000", "10")
        assert DELAY.search(text)
    assert "hunter2" not in out + err + written
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0].startswith("DROP") and asked[1].startswith("CREATE") and "`test` VGROUPS 2 " in asked[1]


def test_the_file_is_appended_to_and_named_by_o(scale_load, tmp_path):
    (tmp_path / "lines").write_text("before\n")
    scale_load("-y", "-t", "2", "-n", "5", "-T", "1", "-olines")
    assert (tmp_path / "lines").read_text().startswith("before\n[")
    _, err = scale_load("-y", "-o", "/nonexistent/lines", code=6)
    assert "-o /nonexistent/lines" in err


def test_vgroups_are_chosen_within_the_servers_room_and_supplement_creates_nothing(scale_load, tmp_path):
    out, _ = scale_load("-y", "-t", "20", "-n", "5", "--json")
    assert f"VGROUPS {min(os.cpu_count(), 16 - 9)} " in (tmp_path / "asked").read_text()
    assert json.loads(out)["loads"][0]["threads"] == 2  # as many as the database turned out to have
    (tmp_path / "asked").unlink()
    _, err = scale_load("-U", "-t", "2", "-n", "5", "-T", "1")
    assert "CREATE" not in (tmp_path / "asked").read_text() and not CREATED.search(err)


def loads(process) -> bool:
    """Whether its load generator has used CPU for more than starting; a fixed time is too short on a busy machine."""
    generators = [p for p in psutil.Process(process.pid).children(recursive=True) if p.name() == "scale-loadgen"]
    return any(sum(p.cpu_times()[:2]) > 0.05 for p in generators)


def test_ctrl_c_stops_the_load_and_tells_what_was_done(need_load_core, tmp_path):
    paths = os.pathsep.join((str(ROOT / "runner"), str(ROOT)))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "load", *"-y -t 2 -n 1000000 -r 10 -T 2".split()],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths, "ASKED": str(tmp_path / "asked"), "LATENCY_US": "5000"},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not loads(process):
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert 0 < int(SPENT.search(err).group(4)) < 2_000_000 and DELAY.search(err)


def test_rows_not_acknowledged_are_told_and_fail_the_command(scale_load):
    _, err = scale_load("-y", "-t", "2", "-n", "100", "-r", "10", "-T", "1", code=5, FAIL_EVERY="5")
    assert "not acknowledged" in err
    assert int(SPENT.search(err).group(4)) == 40  # taosBenchmark, too, stops a thread at its first failure


def test_continue_if_fail_goes_on(need_load_core, monkeypatch, tmp_path):
    insert_without_server(monkeypatch.setattr)
    table = {"name": "s", "childtable_count": 2, "childtable_prefix": "x", "insert_rows": 100}
    table |= {"columns": [{"type": "INT"}], "tags": [{"type": "INT"}], "continue_if_fail": "yes"}
    content = {"filetype": "insert", "host": "h", "num_of_records_per_req": 10, "thread_count": 1}
    content["databases"] = [{"dbinfo": {"name": "db"}, "super_tables": [table, table | {"name": "u"}]}]
    out, err = load_file(tmp_path, content, "-y", "--json", FAIL_EVERY="5", ASKED=str(tmp_path / "asked"))
    assert [m[3] for m in SPENT.findall(err)] == ["160", "160"]
    assert [load["rows_failed"] for load in json.loads(out)["loads"]] == [40, 40]


def test_tables_without_rows_and_a_database_without_tables_are_only_made(scale_load, tmp_path):
    table = {"name": "s", "childtable_count": 10, "childtable_prefix": "d", "insert_rows": 0}
    table |= {"columns": [{"type": "INT"}], "tags": [{"type": "INT"}]}
    databases = [{"dbinfo": {"name": "db"}, "super_tables": [table]}, {"dbinfo": {"name": "empty"}}]
    content = {"filetype": "insert", "host": "h", "databases": databases}
    out, err = load_file(tmp_path, content, "-y", "--json", ASKED=str(tmp_path / "asked"))
    assert (json.loads(out)["loads"], SPENT.search(err)) == ([], None)
    assert CREATED.search(err).group(2) == "10"
    made = [line.split(" (")[0] for line in (tmp_path / "asked").read_text().splitlines() if "CREATE" in line]
    assert made[1:] == ["CREATE STABLE IF NOT EXISTS `db`.`s`", "CREATE DATABASE IF NOT EXISTS `empty` PRECISION 'ms'"]


def test_help_version_and_refusals(scale_load):
    out, _ = scale_load("--help")
    assert all(f"{flag} " in out for flag in ("-t, --tables", "-f, --file", "--own-values"))
    assert scale_load("-?")[0] == out
    assert re.fullmatch(r"scale \S+\n", scale_load("-V")[0])
    _, err = scale_load("--bogus", "-t", "0", code=2)
    assert "--bogus" in err and "-t (--tables)" in err


@pytest.mark.parametrize(("options", "lines"), [("-t 2", 16), ("-N -t 3", 8)])
def test_the_lines_follow_those_of_the_load(scale_load, monkeypatch, tmp_path, options, lines):
    monkeypatch.setattr(run_inserts, "door_spec", lambda *given: {"protocol": "1", "driver": "null"})
    words = ("-y", "-x", "-n", "10", "-T", "1", *options.split())
    out, err = scale_load(*words)
    assert len(TOOK.findall(out)) == len(TOOK.findall((tmp_path / "output.txt").read_text())) == lines
    assert "Spent " in err
