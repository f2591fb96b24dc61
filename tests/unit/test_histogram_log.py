"""Response times leave a run as a log of HdrHistogram, which its reader reads back and merges."""

import csv
import json

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from tests.unit.raw_run import encoded
from tests.unit.searched_run import searched_plan, searched_run
from tests.unit.stored_runs import unpacked
from tests.unit.whole_commands import run

PERCENTILES = {50: "response_ms_p50", 95: "response_ms_p95", 99: "response_ms_p99", 100: "response_ms_max"}
MIX = [{"name": "write", "unit": "rows", "weight": 9}, {"name": "range", "unit": "requests", "weight": 1}]
COUNTS = "requests errors retries units_acked units_window".split()


def read(file):
    """Each interval of the log, by its tag, and the sum of all."""
    whole = HdrHistogram(1, 3_600_000_000_000, 3)
    reader, intervals = HistogramLogReader(str(file), whole), {}
    while interval := reader.get_next_interval_histogram():
        intervals[interval.get_tag()] = interval
    adding = HistogramLogReader(str(file), whole)
    while adding.add_next_interval_histogram():
        pass
    return intervals, whole


def changed_summary(path, trial_id, change):
    file = path / "trials" / trial_id / "loadgen.jsonl"
    *lines, last = file.read_text().splitlines()
    file.write_text("\n".join([*lines, json.dumps(change(json.loads(last)))]) + "\n")


def test_the_reader_of_hdrhistogram_reads_the_percentiles_of_each_trial_and_merges_them(tmp_path):
    path = unpacked("varied", tmp_path)
    done = run("export", str(path), "--what", "histograms", "--hlog", "run.hlog", cwd=tmp_path)
    assert (done.code, done.stderr.strip()) == (0, "3 histograms in run.hlog")
    intervals, whole = read(tmp_path / "run.hlog")
    rows = list(csv.DictReader((path / "points.csv").open()))
    assert set(intervals) == {f"{row['trial_id']}.response" for row in rows}
    for row in rows:
        interval = intervals[f"{row['trial_id']}.response"]
        for q, column in PERCENTILES.items():
            if row[column]:
                assert interval.get_value_at_percentile(q) / 1e6 == pytest.approx(float(row[column]), rel=1e-3)
        seconds = (interval.get_end_time_stamp() - interval.get_start_time_stamp()) / 1000
        assert seconds == pytest.approx(float(row["window_s"]), abs=0.01)
    assert whole.get_total_count() == sum(one.get_total_count() for one in intervals.values())
    starts = sorted(one.get_start_time_stamp() for one in intervals.values())
    assert [at - starts[0] for at in starts] == [0, 20_000, 40_000]  # ms; the trials began 20 s apart
    assert starts[0] / 1000 == pytest.approx(1_767_323_045 + 4)  # the window begins 4 s after its trial


def test_operations_and_service_times_of_an_open_loop_have_lines_of_their_own(tmp_path):
    path = unpacked("varied", tmp_path)

    def mixed(last):
        times = last["response"] | {"hdr": encoded(1000, 3, {2_000_000: 10}), "count": 10, "max_us": 2000.0}
        operations = [{**one, **dict.fromkeys(COUNTS, 10), "response": times, "service": times} for one in MIX]
        return last | {"service": times, "operations": operations}

    changed_summary(path, "cores-1-100-r1", mixed)
    assert run("export", str(path), "--hlog", "run.hlog", cwd=tmp_path).code == 0
    intervals, _ = read(tmp_path / "run.hlog")
    own = {tag.removeprefix("cores-1-100-r1."): one for tag, one in intervals.items() if "100-r1" in tag}
    assert set(own) == {"response", "service", "write.response", "range.response"}
    assert own["service"].get_max_value() / 1e6 == pytest.approx(2, rel=1e-3)  # was in ns already


def test_each_step_of_a_search_has_a_line(tmp_path):
    stored = searched_run(tmp_path, searched_plan(1, 1))
    assert run("export", stored.path, "--hlog", "run.hlog", cwd=tmp_path).code == 0
    intervals, _ = read(tmp_path / "run.hlog")
    for result in stored.results:
        name, steps = result.trial.trial_id, result.measurement.steps
        if not result.trial.load.searches:
            assert f"{name}.response" in intervals
            continue
        assert f"{name}.closed-loop.response" in intervals
        for number, step in enumerate(steps, 1):
            interval = intervals[f"{name}.step-{number:02d}.response"]
            assert interval.get_value_at_percentile(99) / 1e6 == pytest.approx(step.response_ms["p99"], rel=2e-3)


@pytest.mark.parametrize("words", [("--what", "histograms"), ("--what", "histograms", "--csv", "points.csv")])
def test_histograms_are_no_table(words, tmp_path, wording):
    done = run("export", str(unpacked("cpu", tmp_path)), *words, cwd=tmp_path)
    assert (done.code, done.stdout, (tmp_path / "points.csv").exists()) == (2, "", False)
    wording(done.stderr)


def test_a_run_without_response_times_says_so(tmp_path, wording):
    path = unpacked("varied", tmp_path)
    for folder in (path / "trials").iterdir():
        changed_summary(path, folder.name, lambda last: last | {"event": "trace"})
    done = run("export", str(path), "--hlog", "-", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    wording(done.stderr.replace(path.name, "RUN"))
