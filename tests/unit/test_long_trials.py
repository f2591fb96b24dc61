"""Long trials: reading them again takes little memory, and the work grows as their seconds."""

import json
from dataclasses import replace
from pathlib import Path

from scale_sweep.judge.figures.counts_per_second import rated_intervals
from scale_sweep.judge.figures.resource_use import second_uses
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.loadgen.handle import read_recorded
from scale_sweep.results.store import files
from scale_sweep.results.store.stored import Folder
from tests.unit.raw_run import KNOBS, SECOND, Shape, load_lines, raw_run, samples_of
from tests.unit.synthetic_run import synthetic_trial
from tests.unit.whole_commands import run as run_command


def verified(run, changed):
    """The memory of `scale verify` of a run whose lines of the load generator are changed, in MB."""
    path = run / "trials/cores-1-r1/loadgen.jsonl"
    path.write_text(changed(path.read_text()))
    digests = {n: files.digest((run / n).read_bytes()) for n in files.read_sums(Folder(run))}
    (run / files.SUMS).write_text(files.sums_text(digests))
    done = run_command("verify", str(run), cwd=run)
    assert (done.code, "it agrees" in done.stdout) == (0, True), done.stdout
    return done.memory_mb


def test_a_long_trial_takes_little_memory_and_time(tmp_path, monkeypatch):
    run = Path(raw_run(tmp_path, shape=Shape(levels=1, replicates=1)).path)
    more = json.dumps({"event": "remark", "text": "x" * 200}) + "\n"

    def with_remarks(text):
        *lines, last = text.splitlines(keepends=True)
        return "".join([*lines, more * 500_000, last])

    assert verified(run, with_remarks) < 100, "the file has 120 MB"

    def of_fixed_length(*given):
        trial = synthetic_trial(*given)
        return replace(trial, load=replace(trial.load, window_max_s=None))

    monkeypatch.setattr("tests.unit.synthetic_run.synthetic_trial", of_fixed_length)
    run = Path(raw_run(tmp_path / "long", shape=Shape(levels=1, replicates=1, seconds=100)).path)
    assert verified(run, lambda text: text.replace(SECOND, "A" * 2_000_000)) < 100, "the file has 200 MB"
    trial, rows = synthetic_trial(1.0, 1, 0, KNOBS), [400_000] * 40
    recorded = read_recorded("".join(json.dumps(line) + "\n" for line in load_lines(rows, 2, 10**12)))
    intervals = Looked(rated_intervals(recorded.intervals, trial.work, is_answered=True))
    facts = TrialFacts(samples=tuple(samples_of(trial, rows, 10**12)))
    uses = second_uses(trial, facts, recorded.summary, intervals)
    assert (len(uses), intervals.times) == (37, 1)
    assert {use.rate_per_s for use in uses} == {400_000.0}


class Looked(list):
    """A list that counts how often its elements were gone through."""

    times = 0

    def __iter__(self):
        self.times += 1
        return super().__iter__()
