"""Requests that a trial keeps: the Parquet file says what the summary says, and nothing is kept unasked."""

import io

import numpy as np
import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.base.interrupts import Stop
from scale_sweep.loadgen.recorded import read_recorded
from scale_sweep.loadgen.trace import RECORD, parquet_of, with_files
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model import ArtifactMade
from scale_sweep.results.store.files import RunFiles
from scale_sweep.results.store.stored import Folder
from scale_sweep.results.store.sums import read_sums
from scale_sweep.sweep.resolve import resolve_sweep
from tests.needs import module
from tests.unit.trial_orders import artifact_of, notes_of, trial_order

parquet = module("pyarrow.parquet")


def traces_of(events):
    return [event for event in events if isinstance(event, ArtifactMade) and event.name == "trace.parquet"]


def trial_of(folder, **flags: str):
    return list(run_trial(trial_order(folder, load__duration="1s", load__warmup="0s", **flags), Stop()))


def test_a_trial_keeps_its_requests(tmp_path):
    events = trial_of(tmp_path, load__trace="1", load__trace_max="10M")
    (made,) = traces_of(events)
    table = parquet.read_table(io.BytesIO(made.content))
    summary = read_recorded(artifact_of(events, "loadgen.jsonl")).summary
    assert summary is not None
    assert table.num_rows == summary.requests > 10
    inside = table.filter(table["in_window"])
    assert sum(inside["rows"].to_pylist()) == summary.rows_window
    assert inside.num_rows == summary.service.count
    assert set(table["operation"].to_pylist()) == {"write"}
    assert set(table["outcome"].to_pylist()) == {"ok"}
    sent = table["sent_ns"].to_pylist()
    assert sent == sorted(sent)
    assert min(sent) >= 0 and max(table["answered_ns"].to_pylist()) < 3e9
    metadata = table.schema.metadata
    assert int(metadata[b"scale.window_start_ns"]) == summary.window_start_ns
    assert metadata[b"scale.one_in"] == b"1"


def test_without_a_trace_there_is_no_file(tmp_path):
    assert not traces_of(trial_of(tmp_path))


def test_what_has_no_room_is_noted(tmp_path):
    events = trial_of(tmp_path, load__trace="2", load__trace_max="5")
    (made,) = traces_of(events)
    assert parquet.read_table(io.BytesIO(made.content)).num_rows == 5
    (note,) = notes_of(events)
    assert "requests are not in trace.parquet" in note and "--trace-max 5" in note


def test_records_of_several_processes_are_one_table_by_time(tmp_path):
    specs = with_files([{"operations": "range:2,point:1"}, {"operations": "write:1"}, {}], str(tmp_path))
    one = b"".join(
        np.array(record, dtype=RECORD).tobytes() for record in ((5, 6, 9, 3, 0, 0, 1, 0), (8, 8, 30, 0, 0, 1, 0, 1))
    )
    two = np.array((7, 7, 8, 100, 0, 0, 0, 2), dtype=RECORD).tobytes()
    for spec, content in zip(specs, (one, two), strict=False):
        with open(spec["trace"], "wb") as file:
            file.write(content)
    table = parquet.read_table(io.BytesIO(parquet_of(str(tmp_path), 5, 20, {"scale.trial": "a"})))
    assert table["operation"].to_pylist() == ["point", "write", "range"]
    assert table["outcome"].to_pylist() == ["ok", "unanswered", "failed"]
    assert table["load_process"].to_pylist() == [0, 1, 0]
    assert table["due_ns"].to_pylist() == [0, 2, 3]
    assert table["answered_ns"].to_pylist() == [4, 3, 25]
    assert table["rows"].to_pylist() == [3, 100, 0]
    assert table["in_window"].to_pylist() == [True, True, False]


def test_a_file_that_is_not_text_has_a_digest(tmp_path):
    files = RunFiles(Folder(tmp_path))
    files.write_bytes("trace.parquet", b"\xff\x00PAR1")
    files.write_sums()
    assert (tmp_path / "trace.parquet").read_bytes() == b"\xff\x00PAR1"
    assert "trace.parquet" in (read_sums(Folder(tmp_path)) or {})


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"load.trace": "0"}, "--trace: '0' is below 1"),
        ({"load.trace": "1", "load.trace_max": "200M"}, "--trace-max: 100,000,000 at most"),
        ({"load.trace": "1", "load.generator": "taosbenchmark", "load.rows": "10"}, "--trace: taosbenchmark does not"),
    ],
)
def test_what_does_not_fit_is_named(flags, words):
    with pytest.raises(UsageError) as refused:
        resolve_sweep("cpu", {"axis.cores": "1", **flags})
    assert words in refused.value.message
