"""scale ab of two PostgreSQL servers that only say when they run that they are the same: 2, and nothing is left."""

import json

from tests.integration.cli import run
from tests.integration.leftovers import assert_nothing_left
from tests.integration.real_server import required

FLAGS = (
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
    done = run("ab", "cpu", "--target", target, *FLAGS, *VARIANTS, *where, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "A and B are the same server: both reported wal_buffers=4MB" in done.stderr
    (path,) = (tmp_path / "r").iterdir()
    results = [json.loads(file.read_text()) for file in path.glob("trials/*/trial.json")]
    assert {one["trial"]["subject"]["variant"]["variant"] for one in results} == {"A", "B"}
    assert len(results) < 4, "the other trials were not run"
    assert_nothing_left(data_dir)
