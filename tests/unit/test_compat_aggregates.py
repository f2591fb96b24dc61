"""`-x`: the aggregates after a load, their statements, and the line of each."""

import re

import pytest

from scale_sweep.taosbenchmark import aggregates
from scale_sweep.taosbenchmark.aggregates import aggregate_spec, statements
from scale_sweep.taosbenchmark.job import ScaleOptions
from scale_sweep.taosbenchmark.run import read_given, read_job
from tests.unit.null_load import insert_without_server, load, skip_without_loadgen
from tests.unit.test_compat_options import NOW

# As scripts have it for taosBenchmark 3.3.0.0.
TOOK = re.compile(r"INFO: (.*) took (\d+\.\d{6}) second\(s\)")


def job_of(*options):
    return read_job(*read_given(["-x", *options]), ScaleOptions(), {}, NOW)


def texts_of(*options):
    job = job_of(*options)
    return list(statements(job.databases[0], job.databases[0].tables[0]).values())


def test_every_function_is_asked_of_one_group_and_of_one_more_each_time():
    texts = texts_of("-t", "30")
    assert len(texts) == 8 * 10
    assert texts[0] == "SELECT * FROM test.meters WHERE groupid = 1"
    assert texts[1] == "SELECT * FROM test.meters WHERE groupid = 1 or groupid = 2"
    assert texts[-1].startswith("SELECT last(current) FROM test.meters WHERE groupid = 1 or ")
    assert texts[-1].endswith("groupid = 10")
    assert len(texts_of("-t", "3")) == 8 * 3


def test_columns_of_ones_own_and_normal_tables():
    assert texts_of("-t", "1", "-b", "INT", "-A", "INT")[2] == "SELECT avg(c0) FROM test.meters WHERE t0 = 1"
    texts = texts_of("-N", "-t", "30")
    assert len(texts) == 8
    assert texts[1] == "SELECT count(*) FROM {item} WHERE ts >= 1500000000000"


def test_one_thread_asks_each_once_and_goes_on_after_a_failure():
    job = job_of("-N", "-t", "3")
    spec = aggregate_spec(
        job, ScaleOptions(), job.databases[0], job.databases[0].tables[0], {"aggregate0": "x"}, "items"
    )
    assert (spec["rounds"], spec["items"], spec["database"], spec.get("threads", "1")) == ("1", "items", "test", "1")
    assert int(spec["max_errors"]) > 1000


@pytest.mark.parametrize(("options", "lines"), [("-t 2", 16), ("-N -t 3", 8)])
def test_the_lines_follow_those_of_the_load(monkeypatch, tmp_path, options, lines):
    skip_without_loadgen()
    insert_without_server(monkeypatch.setattr)
    monkeypatch.setattr(aggregates, "door_spec", lambda *given: {"protocol": "1", "driver": "null"})
    words = ("-y", "-x", "-n", "10", "-T", "1", *options.split())
    code, out, err = load(tmp_path, *words, ASKED=str(tmp_path / "asked"))
    assert code == 0, err
    assert len(TOOK.findall(out)) == len(TOOK.findall((tmp_path / "output.txt").read_text())) == lines
    assert "Spent " in err
