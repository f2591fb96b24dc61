"""Sweeps on a real PostgreSQL: clients, two databases in one plan, growth, and the rates in each file and export."""

import csv
import json
import math
import shutil
import sqlite3
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.integration.cli import assert_measured, assert_nothing_left, run
from tests.integration.watching import blocks_of, prometheus, shown, watch

QUICK = "--duration 1s --warmup 1s --window-max 0 --replicates 1 --connections-check off --json".split()


@pytest.fixture(scope="module")
def swept(data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    words = f"sweep clients --clients 1..8:x2 --cores 1 --target postgres --data-dir {data_dir}".split()
    done = run(*words, *QUICK, cwd=folder)
    assert_measured(done)
    return folder, json.loads(done.stdout)


def test_each_level_has_as_many_connections_and_the_same_resources(swept, data_dir):
    folder, document = swept
    trials = {t["trial"]["level"]: t for t in document["trials"]}
    assert sorted(trials) == [1.0, 2.0, 4.0, 8.0]
    for level, trial in trials.items():
        lines = (folder / document["path"] / "trials" / trial["trial"]["trial_id"] / "loadgen.jsonl").read_text()
        hello = json.loads(lines.splitlines()[0])
        assert hello["event"] == "hello" and hello["threads"] == level
        assert trial["trial"]["load"]["connections"] == level
        assert trial["measurement"]["rows_acked"] == trial["measurement"]["rows_counted"] > 0
    for level, trial in trials.items():  # the number of clients is a resource too, the only one that differs
        assert trial["trial"]["resources"]["amounts"].pop("clients")["value"] == level
    assert len({json.dumps(t["trial"]["resources"], sort_keys=True) for t in trials.values()}) == 1
    assert len({t["trial"]["knobs"]["partitions"] for t in trials.values()}) == 1
    assert_nothing_left(data_dir)
    for trial in document["trials"]:  # a server whose cores are full, or whose clients wait, counts
        if trial["verdict"]["bottleneck"]["kind"] in ("SERVER_CPU", "CONNECTIONS", "HOT_THREAD", "QUOTA"):
            assert trial["verdict"]["kind"] in ("VALID", "UNSTEADY"), trial["verdict"]


def test_the_report_and_the_files_speak_of_clients(swept):
    folder, document = swept
    report = (folder / document["path"] / "report.md").read_text()
    assert "How does the write rate grow with clients?" in report and "| Clients |" in report
    assert not document["fit"] or document["fit"]["axis"] == "clients"
    rows = list(csv.DictReader((folder / document["path"] / "points.csv").open()))
    assert [(float(r["point"]), r["connections"], r["cores"]) for r in rows] == [
        (1.0, "1", "1.0"),
        (2.0, "2", "1.0"),
        (4.0, "4", "1.0"),
        (8.0, "8", "1.0"),
    ]
    verified = run("verify", "last", cwd=folder)
    assert verified.returncode == 0, verified.stdout


def test_two_databases_stand_in_one_plan_and_in_every_block(data_dir, tmp_path):
    words = "sweep cpu --cores 1 --target null,postgres --duration 3s --warmup 0s --window-max 0 --replicates 2 --json"
    done = run(*words.split(), "--data-dir", str(data_dir), cwd=tmp_path)
    assert_measured(done)
    points = [t["trial"] for t in json.loads(done.stdout)["trials"] if t["trial"]["role"] == "point"]
    assert sorted((t["block"], t["subject"]["target"]) for t in points) == [
        (block, name) for block in (1, 2) for name in ("null", "postgres")
    ]
    (path,) = tmp_path.glob("results/*/points.csv")
    rows = list(csv.DictReader(path.open()))
    assert {(r["target"], r["method"]) for r in rows} == {("null", "discard"), ("postgres", "copy")}
    assert run("verify", "last", cwd=tmp_path).returncode == 0
    planned = run("plan", "cpu", "--cores", "1", "--target", "null,postgres", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr
    assert "of null,postgres (process, discard,copy)" in planned.stdout
    assert "dynamic_shared_memory_type (postgres)" in planned.stdout
    assert_nothing_left(data_dir)
    if shutil.which("prometheus"):
        assert_side_by_side(path.parent, tmp_path)


REJECTED = " †"  # behind the name of a series of trials that do not count


def assert_side_by_side(path, folder):
    """The dashboard of the targets has both, and the variables of the others offer them."""
    exported = run("export", "last", "--openmetrics", "run.om", cwd=folder)
    assert exported.returncode == 0, exported.stderr
    blocks_of(folder / "run.om", folder / "tsdb")
    with prometheus(folder) as server:
        seen = watch(server.url, path)
        rates = {one["of"]: value for one, value in shown(seen, "curve", "Throughput of each", "A")}
        for ref, title in (
            ("A", "Response time of each"),
            ("A", "Client CPU"),
            *((ref, "Figures of each") for ref in "ABEF"),
        ):
            found = shown(seen, "curve", title, ref)
            assert {one["of"].removesuffix(REJECTED) for one, _ in found} == {"null", "postgres"}, (title, ref)
        cores = {one["of"]: value for one, value in shown(seen, "curve", "Per server core", "A")}
        own_rate = next(name for name in rates if name.startswith("postgres"))
        assert rates[own_rate] / 1.2 < cores[own_rate] and math.isfinite(sum(cores.values()))
        results = [json.loads(one.read_text()) for one in path.glob("trials/*/trial.json")]
        for name, rate in rates.items():
            own = [
                r["measurement"]["rows_per_s"]
                for r in results
                if r["trial"]["role"] == "point"
                and r["trial"]["subject"]["target"] == name.removesuffix(REJECTED)
                and (r["verdict"]["kind"] in ("VALID", "SOFTWARE_BOTTLENECK")) is not name.endswith(REJECTED)
            ]
            assert rate == pytest.approx(sum(own) / len(own))
        match = {"match[]": f'scale_trial_info{{run="{seen.run}"}}', "start": seen.begin, "end": seen.end}
        assert seen.get("label/target/values", **match) == ["null", "postgres"]


# Requests of 10,000 rows make rates of whole 5,000 rows/s: two replicates that agree to the row then end the growth.
GROWING = (
    *"--connections-check off --target postgres --runtime process --duration 1s --warmup 0s --window-max 0 --json".split(),
    *"--rows-per-request 170".split(),
)


def test_a_sweep_grows_to_its_limit_bridges_its_boundary_and_ends_with_its_anchor(tmp_path):
    words = "--cores 1..2 --replicates 2 --until-ci 0.01% --replicates-max 3 --partitions 1=4,2=8 --ablation".split()
    done = run("sweep", "cpu", *GROWING, *words, cwd=tmp_path)
    assert_measured(done)
    assert "the limit is 3 replicates" in done.stderr
    document = json.loads(done.stdout)
    trials = [t["trial"] for t in document["trials"]]
    roles = [t["role"] for t in trials]
    assert (roles.count("point"), roles.count("ablation"), roles.count("drift_check")) == (6, 3, 1)
    assert max(trials, key=lambda t: t["order"])["role"] == "drift_check"
    ablations = [t for t in trials if t["role"] == "ablation"]
    assert {t["resources"]["amounts"]["cores"]["value"] for t in ablations} == {2.0}
    assert {t["knobs"]["partitions"] for t in ablations} == {"4"}
    assert document["noise"]["drift"]["ratio"]["value"] > 0
    (run_dir,) = (tmp_path / "results").iterdir()
    assert len(json.loads((run_dir / "plan.json").read_text())["trials"]) == 10
    assert "How sure the points are" in (run_dir / "report.html").read_text()


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
    if load == "writes":
        assert point["rows_counted"] == point["rows_acked"] > point["rows"], "those of the warm-up as well"
        assert point["disk_write_mb_per_s"] is not None


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
