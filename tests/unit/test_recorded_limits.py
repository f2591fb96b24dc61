"""The rules of attribution on trials of real servers whose limit was provoked (`python bench/provoke.py --record`)."""

import gzip
import json
from pathlib import Path

import pytest

from scale_sweep.model.measured import BottleneckKind, VerdictKind
from scale_sweep.results.store.reader import read_plan, read_result
from scale_sweep.results.store.stored import Folder
from scale_sweep.verify.trial import trial_again

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json.gz"))


def as_run(told: dict, run: Path) -> Path:
    """The recorded trial as files of a run; its folder's name."""
    folder = run / "trials" / told["trial"]["trial"]["trial_id"]
    folder.mkdir(parents=True)
    (run / "plan.json").write_text(json.dumps(told["plan"]))
    for name in ("facts", "trial"):
        (folder / f"{name}.json").write_text(json.dumps(told[name]))
    for name in ("loadgen", "samples"):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told[name]))
    (folder / "server.log").write_text("")
    return folder


def judged_again(told: dict, run: Path):
    folder, stored = as_run(told, run), Folder(run)
    return trial_again(stored, read_plan(stored), read_result(stored, f"trials/{folder.name}/trial.json")).judged


def test_at_least_five_limits_are_recorded():
    assert len({json.loads(gzip.decompress(path.read_bytes()))["limit"] for path in RECORDED}) >= 5


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_the_limit_that_was_provoked_is_named(path, tmp_path):
    told = json.loads(gzip.decompress(path.read_bytes()))
    found = judged_again(told, tmp_path).bottleneck
    assert found.kind == told["limit"]
    assert found.sentence and found.shares


@pytest.mark.parametrize(
    ("waiting", "limit"), [(0.9, BottleneckKind.LOCKS), (0.3, BottleneckKind.CONNECTIONS)], ids=["most", "some"]
)
def test_waits_in_recorded_samples_are_read(waiting, limit, tmp_path):
    """A recorded trial of idle cores, with what the database reports of its connections added to its samples."""
    (path,) = (path for path in RECORDED if "one-connection" in path.name)
    told = json.loads(gzip.decompress(path.read_bytes()))
    for at, sample in enumerate(told["samples"]):
        sample["waits_total"] = {"lock: tuple": waiting * 5 * at, "at work": (1 - waiting) * 5 * at}
    judged = judged_again(told, tmp_path)
    assert judged.bottleneck.kind is limit
    assert judged.kind is VerdictKind.RESOURCE_NOT_SATURATED
    assert judged.once_checked is VerdictKind.SOFTWARE_BOTTLENECK
