"""scale ab on a real load generator: blocks in order, both variants as asked, resumed, shown again, its exit codes."""

import json
import shutil

from tests.integration.cli import run
from tests.integration.leftovers import assert_nothing_left

FLAGS = (
    "--cores",
    "1",
    "--target",
    "null",
    "--duration",
    "1s",
    "--warmup",
    "0s",
    "--window-max",
    "0",
    "--connections",
    "1",
    "-y",
)


def test_two_variants_in_turn(tmp_path, data_dir):
    done = run(
        "ab",
        "cpu",
        *FLAGS,
        "--blocks",
        "1",
        "--b",
        "--rows-per-request 77",
        *"--order-seed 5 --no-metrics --json --results r --data-dir".split(),
        str(data_dir),
        cwd=tmp_path,
    )
    assert done.returncode == 2, "null has no VALID trial, so there is nothing to compare"
    assert "nothing to compare: no level has VALID trials of both A and B" in done.stderr
    found = json.loads(done.stdout)
    path = tmp_path / found["path"]
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["order_seed"] == 5 and manifest["sweep"]["variants_ab"]["B"] == "rows_per_request 77"
    assert manifest["sweep"]["variants_ab"]["A"] == "rows_per_request 10000", "with the target's default"
    trials = [
        json.loads((path / "trials" / t["trial_id"] / "trial.json").read_text())
        for t in json.loads((path / "plan.json").read_text())["trials"]
    ]
    order = "".join(t["trial"]["subject"]["variant"]["variant"] for t in trials)
    assert order in ("ABBA", "BAAB")
    per_request = {
        t["trial"]["work"]["data"]["rows_per_request"] == 77
        for t in trials
        if t["trial"]["subject"]["variant"]["variant"] == "B"
    }
    assert per_request == {True}
    assert "B against A" in (path / "report.html").read_text()
    assert "trial 4 of 4" in done.stderr
    shutil.rmtree(path / "trials" / trials[-1]["trial"]["trial_id"])
    again = run("resume", path.name, "--no-metrics", "--results", "r", cwd=tmp_path)
    assert "1 of 4 trials to go" in again.stderr and "B: rows_per_request 77" in again.stdout
    digests = (path / "SHA256SUMS").read_text()
    finished = run("resume", path.name, "--no-metrics", "--results", "r", cwd=tmp_path)
    assert "all trials are done" in finished.stderr and "to go" not in finished.stderr
    assert (path / "SHA256SUMS").read_text() == digests, "a fingerprint that was published stays true"
    judged = run("compare", path.name, "--fail-if-slower", "5%", "--results", "r", cwd=tmp_path)
    assert judged.returncode == 2, "one block, or trials that are not VALID, cannot be judged"
    assert_nothing_left(data_dir)
