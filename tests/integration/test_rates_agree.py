"""The rates of a run in each of its files and exports: rows are rows that were written, requests are requests."""

import csv
import json
import sqlite3
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.integration.cli import assert_measured, run

SWEEP = ("sweep", "clients", "--clients", "2", "--cores", "1", "--replicates", "1", "--connections-check", "off")
TIMES = ("--duration", "4s", "--warmup", "1s", "--window-max", "0", "--no-metrics", "--json")
PRELOAD = ("--preload", "40k", "--step-ms", "10000", "--tables", "20", "--rows-per-request", "10")
LOADS = {
    "null writes": ("--target", "null"),
    "writes": ("--target", "postgres"),
    "reads": ("--target", "postgres", "--mix", "range", *PRELOAD),
    "mixed": ("--target", "postgres", "--mix", "write=9,range=1", *PRELOAD),
}
RATES = ("rows_per_s", "requests_per_s")


def table(path: Path) -> list[dict[str, float | None]]:
    """The rows of a CSV file, with their numbers."""
    with path.open() as file:
        return [{name: number(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


@pytest.fixture(scope="module", params=LOADS)
def measured(request, data_dir, tmp_path_factory):
    """The name of the load, the run's directory, and the row of its trial in points.csv."""
    folder = tmp_path_factory.mktemp(request.param.replace(" ", "-"))
    done = run(*SWEEP, *LOADS[request.param], *TIMES, "--data-dir", str(data_dir), cwd=folder)
    assert_measured(done)
    path = folder / json.loads(done.stdout)["path"]
    (point,) = table(path / "points.csv")
    return request.param, path, point


def test_each_load_has_the_rates_that_it_counts(measured):
    load, path, point = measured
    (text,) = csv.DictReader((path / "points.csv").read_text().splitlines())
    assert text["rate_unit"] == ("rows/s" if "writes" in load else "requests/s")
    assert (point["rows_per_s"] is None) == (point["rows"] is None) == (load == "reads")
    assert point["requests_per_s"] > 0
    assert point["clients"] == point["point"] == 2
    if load != "reads":
        assert point["rows_per_s"] == pytest.approx(point["rows"] / point["window_s"])


def test_the_seconds_of_the_window_come_to_the_rates_of_the_trial(measured):
    _, path, point = measured
    inside = [row for row in table(path / "timeseries.csv") if 0.9 < row["t_s"] <= point["window_s"] + 0.1]
    for name in RATES:
        seconds = [row[name] for row in inside if row[name] is not None]
        if point[name] is None:
            assert not seconds
        else:
            assert sum(seconds) / len(seconds) == pytest.approx(point[name], rel=0.05)


def test_the_operations_come_to_the_rates_of_the_trial(measured):
    load, path, point = measured
    if "writes" in load:
        assert not (path / "operations.csv").exists()
        return
    rows = {row["operation"]: row for row in csv.DictReader((path / "operations.csv").read_text().splitlines())}
    for name in RATES:
        each = [value for row in rows.values() if (value := number(row[name])) is not None]
        assert sum(each) == pytest.approx(point[name], rel=0.01) if each else point[name] is None
    assert number(rows["range"]["read_rows_per_s"]) > number(rows["range"]["requests_per_s"])
    assert rows["range"]["rows_per_s"] == ""
    if load == "mixed":
        assert rows["write"]["read_rows_per_s"] == ""
        assert number(rows["write"]["rows_per_s"]) == pytest.approx(
            10 * number(rows["write"]["requests_per_s"]), rel=0.02
        )


def test_exports_hold_what_the_files_hold(measured):
    _, path, point = measured
    folder = path.parent
    written = ("--csv", "p.csv", "--json", "p.json", "--parquet", "p.parquet", "--openmetrics", "p.om")
    done = run("export", str(path), *written, "--sql", f"sqlite:///{folder / 'p.db'}", cwd=folder)
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(folder / "p.db") as base:
        of_sql = dict(zip(RATES, base.execute(f"SELECT {', '.join(RATES)} FROM scale_trials").fetchone(), strict=True))
        ticks = base.execute("SELECT count(rows_per_s), count(requests_per_s) FROM scale_ticks").fetchone()
    (of_json,) = json.loads((folder / "p.json").read_text())
    (of_parquet,) = pyarrow.parquet.read_table(folder / "p.parquet").to_pylist()
    (of_csv,) = table(folder / "p.csv")
    series = table(path / "timeseries.csv")
    for at, name in enumerate(RATES):
        assert of_sql[name] == of_json[name] == of_parquet[name] == of_csv[name] == point[name]
        assert ticks[at] == sum(row[name] is not None for row in series)
    metrics = (folder / "p.om").read_text()
    for name in RATES:
        kind = name.removesuffix("_per_s")
        assert (f"scale_trial_{kind}_per_second{{" in metrics) == (point[name] is not None) or kind == "requests"
    fitted = "rows" if "scale_trial_requests_per_second{" not in metrics else "requests"
    assert f'unit="{fitted}"' in metrics
