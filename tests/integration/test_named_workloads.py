"""Every named workload that reads, on every real database that can be read, by the command as a user types it: through
the ceiling of the load generator, each database is asked what it can answer, and every answer is right.

SCALE_SLOW_TESTS=1 sweeps the databases that take long to start as well. TDengine has a contract test, and TimescaleDB
and InfluxDB 2 have tests of their own, which need a server that is not in any registry.
"""

import json
import os

import pytest

from scale_sweep.experiment.work import queries_of
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import TARGETS, load_facts
from scale_sweep.sweep.named_workloads import NAMED
from scale_sweep.sweep.resolve import resolve_sweep
from tests.integration.cli import assert_measured, run
from tests.integration.real_server import required

QUICK = ("postgres", "influxdb", "victoriametrics", "questdb", "mariadb", "prometheus", "clickhouse")
SLOW = ("iotdb", "cassandra", "kairosdb", "opentsdb")
# All are asked iot-queries; test_reads_on_databases.py has the kinds of the others' operations.
FEW = {
    "cassandra-reads": ("postgres", "influxdb"),
    "tsbs-devops": ("postgres", "victoriametrics"),
    "iot-mixed": ("mariadb", "influxdb"),
}
ELSEWHERE = ("tdengine", "timescaledb", "influxdb2", "cratedb")  # where a server is there
BY_HAND = pytest.mark.skipif(not os.environ.get("SCALE_SLOW_TESTS"), reason="they take long: SCALE_SLOW_TESTS=1")
READING = tuple(name for name, texts in NAMED.items() if "mix" in texts)
SMALL = ("--tables", "8", "--preload", "36k", "--warmup", "0s", "--window-max", "0", "--replicates", "1")
CHECKS = ("--connections-check", "off", "--drift-check", "off", "--runtime", "process")


def sweep_and_check(tmp_path, data_dir, workload, targets, *more):
    """Sweeps the databases in one run, and looks at the check of each operation that they are asked. more: flags."""
    words = ("sweep", "cpu", "--cores", "1", "--workload", workload, "--target", ",".join(targets), *SMALL, *CHECKS)
    where = (*more, "--results", "r", "--data-dir", str(data_dir), "--no-metrics", "--json", "-y")
    done = run(*words, *where, cwd=tmp_path)
    assert_measured(done)
    path = tmp_path / json.loads(done.stdout)["path"]
    checked = {}
    for facts in path.glob("trials/*/facts.json"):
        trial = json.loads((facts.parent / "trial.json").read_text())["trial"]
        answers = json.loads(facts.read_text())["answers"]
        assert not any(one["wrong"] for one in answers), (trial["subject"]["target"], answers)
        checked[trial["subject"]["target"]] = {one["operation"] for one in answers if one["whole"]}
    sweep = resolve_sweep("cpu", {"axis.cores": "1", "workload.name": workload})
    everything = queries_of(sweep.work)
    assert checked == {name: set(queries_of(complete(sweep, load_facts(name)).work)) for name in targets}
    findings = (path / "manifest.json").read_text()
    for name, operations in checked.items():
        title = f"{load_facts(name).title} is not asked"
        assert operations and (title in findings) == (len(operations) < len(everything)), findings


@pytest.mark.parametrize(
    ("workload", "names"),
    [
        *((one, FEW.get(one, QUICK)) for one in READING),
        *(pytest.param(one, (name,), marks=BY_HAND) for one in READING for name in SLOW),
    ],
)
def test_each_database_is_asked_what_it_can_answer(tmp_path, data_dir, workload, names):
    targets = [required(name).facts.name for name in names]
    sweep_and_check(tmp_path, data_dir, workload, targets, "--duration", "10s" if names[0] in SLOW else "1s")


def test_no_database_that_can_be_read_is_forgotten():
    assert {name for name in TARGETS.names() if load_facts(name).queries} == {*QUICK, *SLOW, *ELSEWHERE}
