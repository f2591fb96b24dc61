"""Puts a synthetic run into a directory as the store would have: by events, through the real writer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scale_sweep.cli import compose
from scale_sweep.judge.figures.counts_per_second import SERIES_COLUMNS
from scale_sweep.model.fitted import StoredRun
from scale_sweep.results.store.codec import to_json
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import Folder, new_folder
from scale_sweep.results.store.writer import RunWriter


def store(run: StoredRun, results: Path, name: str = "20260102T030405Z-synthetic-1a2b3c") -> Path:
    """The run's directory: manifest, plan, points, trials with their series; no raw files and no report."""
    manifest = {k: v for k, v in run.manifest.items() if k != "schema"}
    path = results / name
    writer = RunWriter(RunLock(new_folder(path)), run.plan, {**manifest, "status": "complete"}, run.results)
    for result in run.results:
        folder = path / "trials" / result.trial.trial_id
        folder.mkdir(parents=True)
        (folder / "trial.json").write_text(to_json(result), encoding="utf-8")
        rows = [["t_s", *SERIES_COLUMNS]]
        for t_s, values in run.timeseries[result.trial.trial_id]:
            cells = (values.get(name) for name in SERIES_COLUMNS)
            rows.append([f"{t_s:.3f}", *("" if v is None else f"{v:.6g}" for v in cells)])
        (folder / "series.csv").write_text("".join(",".join(r) + "\n" for r in rows), encoding="utf-8")
    writer.update_manifest(status="complete")
    return path


def reopened(path: str | Path, reopen: Callable[[StoredRun, RunLock], RunWriter] = compose.reopen_run) -> RunWriter:
    """The writer of a stored run that continues."""
    held = RunLock(Folder(Path(path)))
    return reopen(read_run(held.run), held)
