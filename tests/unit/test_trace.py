"""Requests that a trial keeps: the Parquet file says what the summary says, and nothing is kept unasked."""

import io
from pathlib import Path

import numpy as np

from scale_sweep.base.interrupts import Stop
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.loadgen.kept_files import RECORD, parquet_of, with_files
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import ArtifactMade
from scale_sweep.results.store.files import RunFiles, read_sums
from scale_sweep.results.store.stored import Folder
from tests.needs import module
from tests.unit.trial_orders import artifact_of, notes_of, trial_order

parquet = module("pyarrow.parquet")


def trace_of(events):
    (made,) = (event for event in events if isinstance(event, ArtifactMade) and event.name == "trace.parquet")
    return parquet.read_table(io.BytesIO(made.content))


def trial_of(folder, **flags: str):
    return list(run_trial(trial_order(folder, load__duration="1s", load__warmup="0s", **flags), Stop()))


def test_a_trial_keeps_its_requests(tmp_path):
    events = trial_of(tmp_path, load__trace="1", load__trace_max="10M")
    table = trace_of(events)
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


def test_requests_beyond_the_most_are_noted_and_without_a_trace_there_is_no_file(tmp_path):
    events = trial_of(tmp_path, load__trace="2", load__trace_max="5")
    assert trace_of(events).num_rows == 5
    (note,) = notes_of(events)
    assert "--trace-max 5" in note
    plain = trial_of(tmp_path)
    assert "trace.parquet" not in {event.name for event in plain if isinstance(event, ArtifactMade)}


def test_records_of_several_processes_are_one_table_by_time_with_a_digest(tmp_path):
    specs = with_files([{"operations": "range:2,point:1"}, {"operations": "write:1"}, {}], str(tmp_path))
    records = (((5, 6, 9, 3, 0, 0, 1, 0), (8, 8, 30, 0, 0, 1, 0, 1)), ((7, 7, 8, 100, 0, 0, 0, 2),))
    for spec, several in zip(specs, records, strict=False):
        Path(spec["trace"]).write_bytes(np.array(list(several), dtype=RECORD).tobytes())
    content = parquet_of(str(tmp_path), 5, 20, {"scale.trial": "a"})
    table = parquet.read_table(io.BytesIO(content)).to_pydict()
    assert {
        "operation": ["point", "write", "range"],
        "outcome": ["ok", "unanswered", "failed"],
        "load_process": [0, 1, 0],
        "due_ns": [0, 2, 3],
        "answered_ns": [4, 3, 25],
        "rows": [3, 100, 0],
        "in_window": [True, True, False],
    }.items() <= table.items()
    files = RunFiles(Folder(tmp_path))
    files.write_bytes("trace.parquet", content)
    files.write_sums()
    assert (tmp_path / "trace.parquet").read_bytes() == content
    assert "trace.parquet" in (read_sums(Folder(tmp_path)) or {})
