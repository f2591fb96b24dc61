"""A real Prometheus reads a real short sweep each second; the same run, exported and loaded, gives the same answers."""

import json
import math

import pytest

from scale_sweep.watch.exporter.values import PHASES
from tests.integration.cli import run
from tests.integration.prometheus_server import blocks_of, checked, prometheus

pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def seen(observed):
    """The run's folder, the Prometheus that read it, and the run's document."""
    with prometheus(observed.folder, data=observed.tsdb) as server:
        yield observed.folder, server, observed.document()


@pytest.fixture(scope="module")
def past(seen, tmp_path_factory):
    """The same run in a Prometheus of its own, from the exported file."""
    folder = tmp_path_factory.mktemp("past")
    done = run("export", "last", "--results", "r", "--openmetrics", str(folder / "run.om"), cwd=seen[0])
    assert done.returncode == 0, done.stderr
    assert (folder / "run.om").read_text().endswith("# EOF\n")
    blocks_of(folder / "run.om", folder / "tsdb")
    with prometheus(folder) as server:
        yield server


def end_of(server, trial: str) -> float:
    return server.values(f'last_over_time(scale_trial_end_time_seconds{{trial="{trial}"}}[1h])', "trial")[trial]


def test_promtool_finds_nothing_wrong_with_the_page(observed):
    assert checked(observed.page) == ""


def test_prometheus_knows_the_curve_when_the_sweep_has_ended(seen):
    _, server, document = seen
    rates = server.values("last_over_time(scale_trial_rows_per_second[1h])", "trial")
    assert rates == pytest.approx({t["trial"]["trial_id"]: t["measurement"]["rows_per_s"] for t in document["trials"]})
    verdicts = {
        r["metric"]["trial"]: r["metric"]["verdict"] for r in server.query("last_over_time(scale_trial_verdict[1h])")
    }
    assert verdicts == {t["trial"]["trial_id"]: t["verdict"]["kind"] for t in document["trials"]}
    points = {p["level"]: p["rate_mean"] for p in document["fit"]["points"]}
    curve = server.values("last_over_time(scale_curve_rows_per_second[1h])", "level")
    assert {float(level): rate for level, rate in curve.items()} == pytest.approx(points)


def test_rows_acknowledged_and_counted_are_the_databases(seen):
    _, server, document = seen
    for trial in document["trials"]:
        name, m = trial["trial"]["trial_id"], trial["measurement"]
        assert server.values(f'last_over_time(scale_trial_rows_counted{{trial="{name}"}}[1h])', "trial") == {
            name: m["rows_counted"]
        }
        during = server.values(f'max_over_time(scale_rows_acknowledged_total{{trial="{name}"}}[1h])', "trial")[name]
        assert 0.5 * m["rows_acked"] < during <= m["rows_acked"]


def test_no_counter_ever_falls(seen):
    server = seen[1]
    counters = {r["metric"]["__name__"] for r in server.query('last_over_time({__name__=~"scale_.+_total"}[1h])')}
    assert len(counters) >= 11
    for name in counters:
        assert [r for r in server.query(f"resets({name}[1h])") if float(r["value"][1])] == [], name


def test_the_running_trial_was_seen_in_its_phases_on_its_cores(seen):
    _, server, document = seen
    for trial in document["trials"]:
        name, given = trial["trial"]["trial_id"], trial["trial"]["resources"]["amounts"]["cores"]["value"]
        phases = server.values(f'max_over_time(scale_trial_phase{{trial="{name}"}}[1h])', "phase")
        assert phases["measure"] == 1  # a shorter phase may fall between two readings
        assert set(phases) == set(PHASES)
        used = server.values(f'max_over_time(scale_cpu_used_cores{{trial="{name}"}}[1h])', "side")
        assert 0.05 < used["server"] < 1.25 * given
        assert used["generator"] > 0
        limits = server.values(f'max_over_time(scale_cpu_given_cores{{trial="{name}"}}[1h])', "side")
        assert limits["server"] == given
        ceilings = server.values("max_over_time(scale_generator_ceiling_rows_per_second[1h])", "trial")
        assert ceilings[name] == pytest.approx(trial["measurement"]["ceiling_rows_per_s"])


def test_the_past_run_gives_the_answers_of_the_store(seen, past):
    folder, _, document = seen
    for trial in document["trials"]:
        name, m = trial["trial"]["trial_id"], trial["measurement"]
        end = end_of(past, name)
        stored = (folder / document["path"] / "trials" / name / "samples.jsonl").read_text()
        samples = [json.loads(line) for line in stored.splitlines()]
        used = samples[-1]["server"]["cpu_s_total"] - samples[0]["server"]["cpu_s_total"]
        written = samples[-1]["disks"]["d1"]["written_bytes_total"] - samples[0]["disks"]["d1"]["written_bytes_total"]
        cpu = past.values(f'scale_cpu_seconds_total{{trial="{name}"}}', "side", end)
        assert cpu["server"] == pytest.approx(used, abs=1e-6)
        assert past.values(f'scale_disk_written_bytes_total{{trial="{name}"}}', "disk", end) == {"d1": written}
        assert past.values(f'scale_rows_acknowledged_total{{trial="{name}"}}', "trial", end) == {name: m["rows_acked"]}
        assert past.values(f'scale_trial_rows_per_second{{trial="{name}"}}', "trial", end + 1)[name] == pytest.approx(
            m["rows_per_s"]
        )


def test_past_and_live_answer_alike(seen, past):
    """Every series that ends the run with a value has the same value in both; a trial's own within its last second."""
    _, live, document = seen
    kept = '{__name__=~"scale_(trial_(rows|durable|verdict|info|start|end|response|service|disk|cpu).*|curve_.*)"}'

    def series(server):
        rows = server.query(f"last_over_time({kept}[1h])")
        drop = {"job", "instance"}
        return {
            tuple(sorted((k, v) for k, v in r["metric"].items() if k not in drop)): float(r["value"][1]) for r in rows
        }

    now, then = series(live), series(past)
    assert now.keys() == then.keys()
    assert len(now) > 25
    for labels, value in now.items():
        assert math.isclose(value, then[labels], rel_tol=1e-9), labels
    for trial in document["trials"]:
        name = trial["trial"]["trial_id"]
        peak = f'max_over_time(scale_achieved_rows_per_second{{trial="{name}"}}[1h])'
        assert live.values(peak, "trial")[name] <= past.values(peak, "trial")[name] * 1.001


def test_a_taken_port_is_replaced_by_a_free_one_on_loopback_only(observed):
    assert observed.bound == {"0100007F"}
    assert f":{observed.taken}/" not in observed.url
    said = " ".join(observed.sweep.seen.split())
    assert f"metrics at {observed.url}" in said and f"(port {observed.taken} is taken)" in said
    assert b"scale_run_info" in observed.page
