"""Drift checks, ablation trials and growth in a real sweep of a real PostgreSQL."""

import json

from tests.integration.cli import assert_measured, run

# Requests of 10,000 rows make rates of whole 5,000 rows/s: two replicates that agree to the row then end the growth.
QUICK = (
    *"--connections-check off --target postgres --runtime process --duration 1s --warmup 0s --window-max 0 --json".split(),
    *"--rows-per-request 170".split(),
)


def test_a_sweep_grows_to_its_limit_bridges_its_boundary_and_ends_with_its_anchor(tmp_path):
    done = run(
        *"sweep cpu --cores 1..2".split(),
        *QUICK,
        *"--replicates 2 --until-ci 0.01% --replicates-max 3 --partitions 1=4,2=8 --ablation".split(),
        cwd=tmp_path,
    )
    assert_measured(done)
    assert "the limit is 3 replicates" in done.stderr
    document = json.loads(done.stdout)
    trials = [t["trial"] for t in document["trials"]]
    roles = [t["role"] for t in trials]
    assert (roles.count("point"), roles.count("ablation"), roles.count("drift_check")) == (6, 3, 1)
    last = max(trials, key=lambda t: t["order"])
    assert last["role"] == "drift_check"
    assert {
        (t["resources"]["amounts"]["cores"]["value"], t["knobs"]["partitions"])
        for t in trials
        if t["role"] == "ablation"
    } == {(2.0, "4")}
    assert document["noise"]["drift"]["ratio"]["value"] > 0
    stored = json.loads(next((tmp_path / "results").glob("*/plan.json")).read_text())
    assert len(stored["trials"]) == 10
    assert "How sure the points are" in next((tmp_path / "results").glob("*/report.html")).read_text()
