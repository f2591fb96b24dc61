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


def test_every_function_is_asked_of_one_group_and_of_one_more_each_time(wording):
    texts = texts_of("-t", "30")
    assert (len(texts), len(texts_of("-t", "3"))) == (8 * 10, 8 * 3)
    own = texts_of("-t", "1", "-b", "INT", "-A", "INT")
    normal = texts_of("-N", "-t", "30")
    assert len(normal) == 8
    wording(*texts[:2], texts[-1], own[2], normal[1])


def test_one_thread_asks_each_once_and_goes_on_after_a_failure():
    job = job_of("-N", "-t", "3")
    database = job.databases[0]
    spec = aggregate_spec(job, ScaleOptions(), database, database.tables[0], {"aggregate0": "x"}, "items")
    assert (spec["rounds"], spec["items"], spec["database"], spec.get("threads", "1")) == ("1", "items", "test", "1")
    assert int(spec["max_errors"]) > 1000


@pytest.mark.parametrize(("options", "lines"), [("-t 2", 16), ("-N -t 3", 8)])
def test_the_lines_follow_those_of_the_load(monkeypatch, tmp_path, options, lines):
    skip_without_loadgen()
    insert_without_server(monkeypatch.setattr)
    monkeypatch.setattr(aggregates, "door_spec", lambda *given: {"protocol": "1", "driver": "null"})
    words = ("-y", "-x", "-n", "10", "-T", "1", *options.split())
    out, err = load(tmp_path, *words, ASKED=str(tmp_path / "asked"))
    assert len(TOOK.findall(out)) == len(TOOK.findall((tmp_path / "output.txt").read_text())) == lines
    assert "Spent " in err
