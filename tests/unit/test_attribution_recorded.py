"""The rules on recorded trials of real servers, each provoked (bench/provoke.py --record): the raw lines name the limit
again, by the way that `scale verify` goes."""

import gzip
import json
from pathlib import Path

import pytest

from runner.model import Measurement, TrialResult, Verdict, VerdictKind
from runner.store.reader import read_plan
from runner.verify.trial import trial_again

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.json.gz"))


def unpacked(path: Path, run: Path):
    """The record as a run's folder; its plan."""
    told = json.loads(gzip.decompress(path.read_bytes()))
    run.mkdir()
    (run / "plan.json").write_text(json.dumps(told["plan"]))
    plan = read_plan(run)
    folder = run / "trials" / plan.trials[0].trial_id
    folder.mkdir(parents=True)
    for name in ("loadgen", "samples"):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told[name]))
    (folder / "facts.json").write_text(json.dumps(told["facts"]))
    (folder / "server.log").write_text("")
    return told, plan


def judged(path: Path, run: Path, *, without_samples: bool = False):
    """What the record says, and the trial made again from it."""
    told, plan = unpacked(path, run)
    trial = plan.trials[0]
    if without_samples:
        (run / "trials" / trial.trial_id / "samples.jsonl").write_text("")
    nothing = TrialResult(trial=trial, measurement=Measurement(), verdict=Verdict(kind=VerdictKind.VALID))
    return told, trial_again(run, plan, nothing).result


def test_there_are_recorded_trials_of_most_limits():
    limits = {json.loads(gzip.decompress(path.read_bytes()))["limit"] for path in RECORDED}
    assert len(limits) >= 5, limits


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.name.removesuffix(".json.gz"))
def test_the_limit_of_a_recorded_trial_is_named(path, tmp_path):
    told, result = judged(path, tmp_path / "run")
    limit = result.verdict.limit
    assert limit.kind.value == told["limit"]
    assert limit.sentence
    assert limit.shares[told["limit"]] >= 50, "and of most of its seconds"


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.name.removesuffix(".json.gz"))
def test_without_samples_only_the_generator_can_tell(path, tmp_path):
    _, result = judged(path, tmp_path / "run", without_samples=True)
    by_generator = {"OFFERED_RATE", "GENERATOR_CEILING", "GENERATOR_CPU", "CONNECTIONS", "UNKNOWN"}
    assert result.verdict.limit.kind.value in by_generator
