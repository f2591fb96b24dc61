"""A sweep with a proof on a real PostgreSQL: its phases, its raw file, its report, and that it can be verified."""

import json

import pytest
from typer.testing import CliRunner

from scale_sweep.cli import app
from scale_sweep.measure.trial import disturbances
from scale_sweep.plan import proofs
from scale_sweep.results.store.reader import find_run, read_run
from tests.integration.cli import assert_nothing_left

ONE_BLOCK_S = 16.0


def test_a_proof_is_measured_stored_told_and_verified(folder, tmp_path, monkeypatch):
    for module in (proofs, disturbances):
        monkeypatch.setattr(module, "DISTURBED_S", ONE_BLOCK_S)
    words = (
        "--cores 1 --replicates 1 --duration 1s --warmup 1s --window-max 0 --target postgres --runtime process --yes"
    )
    places = ("--results", str(tmp_path), "--data-dir", str(folder), "--no-metrics")
    done = CliRunner().invoke(app, ["sweep", "cpu", *words.split(), "--prove", "cpu,clients", *places])
    assert done.exit_code in (0, 14), done.output
    run = find_run(tmp_path, "last")
    stored = read_run(run)
    (proof,) = (r for r in stored.results if r.trial.role == "proof")
    assert proof.verdict.kind.is_fitted and proof.trial.disturbed == ("cpu", "clients"), proof.verdict
    assert not proof.is_fitted
    lines = (run / f"trials/{proof.trial.trial_id}/disturbances.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["start_s"] for row in rows}) == 8
    taken = {name: [row for row in rows if row["resource"] == name] for name in ("cpu", "clients")}
    assert len(taken["cpu"]) == len(taken["clients"]) == 4
    assert all(0 < row["taken_s"] < 2 for row in taken["cpu"])
    assert "held=1\n" in (run / f"trials/{proof.trial.trial_id}/spec").read_text()
    (level,) = json.loads((run / "fit.json").read_text())["proofs"]
    assert level["sentence"] and (level["proof"]["reason"] or level["proof"]["elasticities"])
    assert "## Proof of the bottleneck" in (run / "report.md").read_text()
    shown = CliRunner().invoke(app, ["show", str(run.path)])
    assert f"At 1 core, {level['sentence']}" in " ".join(shown.output.split())
    verified = CliRunner().invoke(app, ["verify", str(run.path)])
    assert verified.exit_code == 0, verified.output
    archive = tmp_path / "run.tar.gz"
    exported = CliRunner().invoke(app, ["export", str(run.path), "--redacted", "--out", str(archive)])
    assert exported.exit_code == 0, exported.output
    imported = CliRunner().invoke(app, ["import", str(archive), "--results", str(tmp_path / "there")])
    assert imported.exit_code == 0, imported.output
    (carried,) = (read_run(find_run(tmp_path / "there", "last")).fit or pytest.fail("no fit")).proofs
    assert carried.sentence == level["sentence"]
    assert_nothing_left(folder)
