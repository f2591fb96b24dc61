"""taosBenchmark's subscribe files: the load generator's specs, and the lines told. Keys: test_compat_options."""

import json
import re
import sys
from datetime import datetime
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from scale_sweep.taosbenchmark.command import read_given, read_job
from scale_sweep.taosbenchmark.job import ScaleOptions, SubscribeJob
from scale_sweep.taosbenchmark.run_subscriptions import measured_delay
from tests.unit.null_load import load_file, skip_without_loadgen
from tests.unit.test_compat_output import latency

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "loadgen"))
from stub_taos.stub_library import library, remove_libraries  # noqa: E402

NOW = datetime(2026, 1, 2, 3, 4, 5)
TOPICS = [{"name": "one", "sql": "select * from test.meters;"}, {"name": "Two", "sql": "select ts\nfrom test.d0"}]

# Of taosBenchmark 3.3.0.0, as scripts read them.
CONSUMER = re.compile(r"consumerId: (\d+), consume msgs: (\d+), consume rows: (\d+)")
TOTAL = re.compile(r"Consumed total msgs: (\d+), total rows: (\d+)")
DELAY = re.compile(r"delay from row to delivery, min: ([\d.]+)ms, avg: ([\d.]+)ms, .* max: ([\d.]+)ms")
STEP = re.compile(r"up to ([\d.e+]+)ms: (\d+)")


@pytest.fixture(scope="module", autouse=True)
def _clean():
    yield
    remove_libraries()


@pytest.fixture(autouse=True)
def _folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def document(**more):
    content = {"filetype": "subscribe", "host": "h", "tmq_info": {"topic_list": TOPICS, "group.id": "g"} | more}
    return json.loads(json.dumps(content))


def read(content) -> SubscribeJob:
    Path("s.json").write_text(json.dumps(content))
    return read_job(*read_given(["-f", "s.json"]), ScaleOptions(), {}, NOW)


def test_consumers_share_a_group_unless_they_are_independent():
    for more, group in (({}, "g"), ({"group_mode": "share"}, "g"), ({"group_mode": "independent"}, "g_{worker}")):
        assert dict(read(document(**more)).followings[0].settings)["group.id"] == group
    new = dict(read(document(**{"group.id": ""})).followings[0].settings)["group.id"]
    assert re.fullmatch(r"scale_[0-9a-f]+", new)


@pytest.fixture
def scale_load(tmp_path):
    """With a stub in the place of libtaos."""
    skip_without_loadgen()

    where = {"STUB_LOG": str(tmp_path / "calls")}
    return lambda content, *words, **given: load_file(
        tmp_path, content, "--library", str(library()), *words, **where, **given
    )


def test_the_lines_of_consumers(scale_load, tmp_path):
    content = document(concurrent=2, poll_delay=3, **{"enable.manual.commit": "true"})  # the stub's rows are 700 ms old
    out, err = scale_load(content, "--row-times", "-o", "lines", STUB_MESSAGES="4", STUB_AGE="700")
    for text in (out, (tmp_path / "lines").read_text()):
        assert CONSUMER.findall(text) == [("0", "4", "4"), ("1", "4", "4")]
        assert TOTAL.findall(text) == [("8", "8")]
        assert 700 <= float(DELAY.search(text).group(1)) < 5000
        bounds = [(float(most), int(count)) for most, count in STEP.findall(text)]
        assert sum(count for _, count in bounds) == 8
        assert bounds[0][0] in (1000, 2000, 5000) and bounds[0][1]
    assert err.count("successfully create topic: ") == 2
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split("`")[1] for call in calls if "CREATE TOPIC" in call] == ["one", "two"]
    assert calls.count("commit") == 8 and calls.count("close") == 1 + 2  # after the statements, and each consumer


@pytest.mark.parametrize(("statement", "ended"), [("SELECT * FROM test.meters;", 5), ("database test", 0)])
def test_no_row_of_a_topic_that_has_rows_is_a_warning_and_a_code(scale_load, tmp_path, wording, statement, ended):
    """A topic that is not a query is not asked for its rows."""
    topics = [{"name": name, "sql": statement} for name in ("one", "two")]
    out, err = scale_load(document(poll_delay=3, topic_list=topics), code=ended, STUB_MESSAGES="0")
    assert TOTAL.findall(out) == [("0", "0")]
    wording(*re.findall("WARN: .*", err))
    calls = (tmp_path / "calls").read_text()
    assert ("LIMIT" in calls) is (ended == 5)


def test_rows_go_to_files_and_figures_into_the_document(scale_load, tmp_path):
    out, err = scale_load(document(rows_file="./rows", poll_delay=3), "--json", STUB_MESSAGES="3")
    (found,) = json.loads(out)["subscriptions"]
    assert (found["messages"], found["rows"], found["delay"]) == (3, 6, None)
    assert (tmp_path / "rows-0").read_text() == "-5\n" * 6
    assert CONSUMER.search(err) and TOTAL.findall(err) == [("3", "6")]
    assert re.findall(r"has poll total msgs: (\d+)", err) == ["3"], "the last line of the progress"
    out, err = scale_load(document(poll_delay=3), "--row-times", "--json", STUB_MESSAGES="3", STUB_AGE="700")
    delay = json.loads(out)["subscriptions"][0]["delay"]
    assert sum(step["messages"] for step in delay["histogram"]) == 3
    assert HdrHistogram.decode(delay["hdr"]).get_total_count() == 3
    assert delay["histogram"][0]["up_to_ms"] >= delay["min_ms"] >= 700


def test_the_steps_of_a_histogram_have_every_message_once():
    found = measured_delay(latency([4.0, *[900.0] * 2, *[1000.0] * 3, *[70_000.0] * 4]))
    assert [(most, count) for most, count in found.steps if count] == [(0.01, 1), (1.0, 5), (100.0, 4)]
    assert [most for most, _ in found.steps[:4]] == [0.01, 0.02, 0.05, 0.1]


def test_a_topic_that_the_server_refuses(scale_load):
    _, err = scale_load(document(), code=7, STUB_FAIL="taos_query:1:0x2603")
    assert "0x2603" in err and "CREATE TOPIC" in err
