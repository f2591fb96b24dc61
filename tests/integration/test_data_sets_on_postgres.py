"""Rows that are loaded once, on a real PostgreSQL: each trial gets a copy, warm or cold, and no copy is left behind."""

import contextlib
import csv
import functools
import json
import os
import shutil
import signal
from dataclasses import replace

import pytest

from scale_sweep.base.interrupts import Stop
from scale_sweep.measure.executing.place import data_of_run
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import PhaseEntered
from scale_sweep.model.planned import Plan
from scale_sweep.report.table import MARK
from tests.integration.cli import assert_nothing_left, ours_running, run, start, waited_for
from tests.integration.made_images import postgres_image, require_docker
from tests.integration.watching import free_port, prometheus, shown, targets, values_of, watch
from tests.needs import need
from tests.unit.factories import make_sweep
from tests.unit.reading_trials import answers_of, reading_order
from tests.unit.trial_orders import result_of

SWEEP = (
    *("sweep", "cpu", "--cores", "1", "--target", "postgres", "--runtime", "process", "--connections-check", "off"),
    *("--mix", "range=1,write=1", "--preload", "50k", "--step-ms", "10000", "--tables", "20", "--connections", "2"),
    *("--duration", "1s", "--window-max", "0", "--warmup", "0s", "--replicates", "2", "--results", "r"),
)


@pytest.fixture(scope="module")
def swept(tmp_path_factory, data_dir):
    """The folder of a sweep of the mix, and the Prometheus that read it, where there is one."""
    folder, port = tmp_path_factory.mktemp("mix"), free_port()
    watching = prometheus(folder, f"127.0.0.1:{port}") if shutil.which("prometheus") else contextlib.nullcontext()
    more = ("--duration", "3s", "--metrics-port", str(port), "--data-dir", str(data_dir))
    with watching as server:
        run(*SWEEP, *more, cwd=folder)
        yield folder, server


def test_the_trials_of_a_sweep_get_copies_of_rows_that_were_loaded_once(swept, data_dir):
    tmp_path, _ = swept
    (points,) = tmp_path.glob("r/*/points.csv")
    rows = list(csv.DictReader(points.open()))
    assert len(rows) == 2
    assert len({row["preload_s"] for row in rows}) == 1  # of the one time that they were loaded
    for row in rows:
        assert row["preload_copied"] in ("copy", "reflink")
        assert float(row["preload_copy_s"]) > 0
        assert int(row["rows_counted"]) == int(row["rows_acked"]) + 50_000
        assert float(row["preload_bytes_per_row"]) > float(row["preload_raw_bytes_per_row"]) == 20
        assert 0 < float(row["preload_cached_percent"]) <= 100
    report = (points.parent / "report.md").read_text()
    assert "They were loaded once, in" in report
    assert run("verify", "last", "--results", "r", cwd=tmp_path).returncode == 0
    assert "`VACUUM (ANALYZE)` and `CHECKPOINT` have returned" in report.replace("\\", "")
    assert_nothing_left(data_dir)
    assert [p.name for p in data_dir.iterdir() if p.name != "programs"] == []


def test_the_dashboards_have_data_of_each_operation_of_a_mix(swept):
    folder, server = swept
    need("prometheus")
    (path,) = folder.glob("r/*")
    seen = watch(server.url, path)
    (panel,) = (t["expr"] for title, t in targets("live") if title == "Requests by operation")
    now = {one["metric"]["operation"]: float(one["value"][1]) for one in seen.instant(panel, seen.at, values_of(seen))}
    assert now.keys() == {"range", "write"} and all(now.values())
    results = [json.loads(one.read_text()) for one in path.glob("trials/*/trial.json")]
    stored = {one["trial"]["trial_id"]: one["measurement"] for one in results}
    kinds = {one["trial"]["trial_id"]: one["verdict"]["kind"] for one in results}
    valid = {name for name, kind in kinds.items() if kind in ("VALID", "SOFTWARE_BOTTLENECK")}
    mark = "" if valid else MARK
    columns = {"A": ("requests_per_s",), "B": ("response_ms", "p50"), "C": ("response_ms", "p99")}
    for ref, keys in columns.items():
        table = shown(seen, "curve", "Operations", ref)
        for name in ("range", "write"):
            each = [
                functools.reduce(lambda found, key: found.get(key), keys, stored[trial]["operations"][name])
                for trial in valid or stored
            ]
            known = [value / (1 if ref == "A" else 1000) for value in each if value is not None]
            assert known or ref != "A", "a percentile needs more requests than a busy machine may answer"
            found = [value for one, value in table if (one["operation"], one["level"]) == (name + mark, "1")]
            assert found == ([pytest.approx(sum(known) / len(known))] if known else [])
    requests = {name: m["requests_per_s"] for name, m in stored.items()}
    ended = shown(seen, "live", "Trials that ended", "C")
    assert {one["trial"]: value for one, value in ended} == pytest.approx(requests)
    assert shown(seen, "live", "Trials that ended", "B") == [], "rows are not what the trials are compared by"
    for ref, names in (("C", valid), ("G", requests.keys() - valid)):
        rates = [requests[name] for name in names]
        highest = [pytest.approx(max(rates))] if rates else []
        assert [value for _, value in shown(seen, "curve", "Throughput", ref)] == highest


def test_cold_rows_are_not_in_memory_and_warm_ones_are(folder):
    """The same data set for both; every answer of the cold trial is checked before its server is started again."""
    order = reading_order(
        folder, "postgres", "range,write", preload__rows="100k", load__duration="1s", load__warmup="0s"
    )
    plan = Plan(sweep=make_sweep(), trials=(order.trial,), confounds=(), notes=(), seconds_estimated=0.0)
    found, phases = {}, {}
    with data_of_run(plan, order.run_id) as data_set:
        for cache in ("warm", "cold"):
            work = replace(order.trial.work, cache=cache)
            trial = replace(order.trial, work=work)
            events = list(run_trial(replace(order, trial=trial, data=data_set(trial)), Stop()))
            found[cache] = result_of(events).measurement
            phases[cache] = [e.phase for e in events if isinstance(e, PhaseEntered)]
            assert result_of(events).verdict.kind not in ("ABORTED", "LOST_ROWS", "WRONG_ANSWER")
            assert answers_of(events)["range"]["whole"] == 20
    assert found["cold"].preload_cached_percent < 30
    assert found["warm"].preload_cached_percent > 90
    assert found["cold"].preload_s == found["warm"].preload_s
    assert phases["warm"][:4] == ["preload", "provision", "ready", "schema"]
    assert phases["cold"][:6] == ["provision", "ready", "schema", "preload", "check", "provision"]
    assert found["cold"].rows_counted == found["cold"].rows_acked + 100_000


@pytest.mark.docker
def test_a_container_is_started_again_on_cold_copies(tmp_path, data_dir):
    require_docker()
    flags = {"--runtime": "docker", "--replicates": "1"}
    words = [flags.get(before, word) for before, word in zip(("", *SWEEP), SWEEP, strict=False)]
    more = ("--image", postgres_image(), "--cache", "cold", "--data-dir", str(data_dir))
    run(*words, *more, cwd=tmp_path)
    (points,) = tmp_path.glob("r/*/points.csv")
    (row,) = csv.DictReader(points.open())
    assert row["verdict"] != "ABORTED", row["reasons"]
    assert row["preload_copied"] in ("copy", "reflink")
    assert float(row["preload_cached_percent"]) < 60
    assert int(row["rows_counted"]) == int(row["rows_acked"]) + 50_000
    assert [p.name for p in data_dir.iterdir() if p.name not in ("programs", "clients")] == []


def killed(process, data_dir):
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    waited_for(lambda: not ours_running(data_dir))


def test_a_killed_sweep_leaves_a_data_set_that_resume_uses_and_clean_removes(tmp_path, data_dir, only_cleaner):
    process = start(*SWEEP, "--data-dir", str(data_dir), cwd=tmp_path)
    (kept,) = waited_for(lambda: [p.parent for p in data_dir.glob(f"{6 * '?'}-data-{10 * '?'}/prepared.json")])
    loaded_s = json.loads((kept / "prepared.json").read_text())["preloaded"]["seconds"]
    killed(process, data_dir)
    assert kept.is_dir()
    resumed = start("resume", "last", "--results", "r", cwd=tmp_path)
    (done, *_) = waited_for(lambda: list(tmp_path.glob("r/*/trials/*/trial.json")))
    assert json.loads(done.read_text())["measurement"]["preload_s"] == loaded_s
    killed(resumed, data_dir)
    assert kept.is_dir()
    cleaned = run("clean", "--data-dir", str(data_dir), cwd=tmp_path)
    assert kept.name in cleaned.stderr
    left = [p.name for p in data_dir.iterdir() if p.name not in ("programs", "clients")]
    assert left == [], cleaned.stderr
