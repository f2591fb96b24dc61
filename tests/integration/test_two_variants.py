"""scale ab: blocks in order, both variants as asked, resumed, shown again, its exit codes; two servers that only say when\nthey run that they are the same."""

import json
import shutil

from tests.integration.cli import run
from tests.integration.leftovers import assert_nothing_left
from tests.integration.real_server import required

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


SAME = (
    "--cores",
    "1",
    "--runtime",
    "process",
    "--duration",
    "1s",
    "--warmup",
    "0s",
    "--window-max",
    "0",
    "--rows-per-request",
    "500",
)
VARIANTS = ("--a", "--knob wal_buffers=-1", "--b", "--knob wal_buffers=4MB", "--blocks", "1")


def test_two_servers_that_reported_equal_settings(tmp_path, data_dir):
    target = required("postgres").facts.name
    where = ("--results", "r", "--data-dir", str(data_dir), "--no-metrics", "-y")
    done = run("ab", "cpu", "--target", target, *SAME, *VARIANTS, *where, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "A and B are the same server: both reported wal_buffers=4MB" in done.stderr
    (path,) = (tmp_path / "r").iterdir()
    results = [json.loads(file.read_text()) for file in path.glob("trials/*/trial.json")]
    assert {one["trial"]["subject"]["variant"]["variant"] for one in results} == {"A", "B"}
    assert len(results) < 4, "the other trials were not run"
    assert_nothing_left(data_dir)
