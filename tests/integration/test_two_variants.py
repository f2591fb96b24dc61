"""scale ab: blocks in order, both variants as asked, resumed, shown again, its exit codes, and two servers that are the same."""

import json
import shutil

from tests.integration.cli import assert_nothing_left, run
from tests.integration.real_server import required

FLAGS = "--cores 1 --target null --duration 1s --warmup 0s --window-max 0 --connections 1 -y".split()


def test_two_variants_in_turn(tmp_path, data_dir):
    more = f"--blocks 1 --order-seed 5 --no-metrics --json --results r --data-dir {data_dir}".split()
    done = run("ab", "cpu", *FLAGS, *more, "--b", "--rows-per-request 77", cwd=tmp_path)
    assert done.returncode == 14, "null has no VALID trial, so there is nothing to compare"
    assert "nothing to compare: no level has VALID trials of both A and B" in done.stderr
    path = tmp_path / json.loads(done.stdout)["path"]
    manifest, plan = (json.loads((path / name).read_text()) for name in ("manifest.json", "plan.json"))
    assert manifest["order_seed"] == 5 and manifest["sweep"]["variants_ab"]["B"] == "rows_per_request 77"
    assert manifest["sweep"]["variants_ab"]["A"] == "rows_per_request 10000", "with the target's default"
    files = [path / "trials" / trial["trial_id"] / "trial.json" for trial in plan["trials"]]
    trials = [json.loads(file.read_text())["trial"] for file in files]
    variants = [trial["subject"]["variant"]["variant"] for trial in trials]
    assert "".join(variants) in ("ABBA", "BAAB")
    per_request = [trial["work"]["data"]["rows_per_request"] for trial in trials]
    assert [rows == 77 for rows in per_request] == [variant == "B" for variant in variants]
    assert "B against A" in (path / "report.html").read_text()
    assert "trial 4 of 4" in done.stderr
    shutil.rmtree(files[-1].parent)
    again = run("resume", path.name, "--no-metrics", "--results", "r", cwd=tmp_path)
    assert "1 of 4 trials to go" in again.stderr and "B: rows_per_request 77" in again.stdout
    digests = (path / "SHA256SUMS").read_text()
    finished = run("resume", path.name, "--no-metrics", "--results", "r", cwd=tmp_path)
    assert "all trials are done" in finished.stderr and "to go" not in finished.stderr
    assert (path / "SHA256SUMS").read_text() == digests, "a fingerprint that was published stays true"
    judged = run("compare", path.name, "--fail-if-slower", "5%", "--results", "r", cwd=tmp_path)
    assert judged.returncode == 14, "one block, or trials that are not VALID, cannot be judged"
    assert_nothing_left(data_dir)


SAME = "--cores 1 --runtime process --duration 1s --warmup 0s --window-max 0 --rows-per-request 500".split()
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
