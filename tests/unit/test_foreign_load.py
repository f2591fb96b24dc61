"""A load generator that is not ours: its words are read to their end before they are judged, what the report has of it, and
the folder of a client's configuration on a load host."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen import foreign
from scale_sweep.loadgen.ceiling import Means
from scale_sweep.loadgen.foreign import ForeignCommand, ForeignLoad, ForeignResult
from scale_sweep.loadgen.remote import folders_of, written
from scale_sweep.measure.executing.place import Ceilings
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.loads import LoadProgram
from scale_sweep.report.headlines import eyebrow_of
from scale_sweep.report.run_facts import method_facts
from tests.unit.factories import make_sweep, make_trial
from tests.unit.synthetic_run import synthetic_run

CPUS = tuple(sorted(os.sched_getaffinity(0)))
LIMIT_S = 120.0
PROGRAM = LoadProgram(name="sh")


def parse(output):
    """The last line is the count of rows. Raises ValueError."""
    rows = int(output.strip().splitlines()[-1].removeprefix("rows "))
    return ForeignResult(rows=rows, seconds=1.0, threads=1, delay_ms={})


def run(script):
    command = ForeignCommand(program=PROGRAM, argv=("/bin/sh", "-c", script), env={}, files={}, parse=parse)
    with ForeignLoad(command, CPUS) as load:
        for _ in load.lines(LIMIT_S):
            pass
        return load, load.summary()


def test_the_last_words_count_although_they_come_after_the_end():
    _, summary = run("echo begin; (sleep 0.7; echo rows 5) & exit 0")
    assert summary.rows_acked == 5
    assert summary.cpu_window_s is not None


def test_many_words_are_all_read():
    load, summary = run("seq 1 400000; echo rows 7")
    assert (summary.rows_acked, summary.program, len(load.raw)) == (7, PROGRAM, 400_001)


def test_why_it_failed_is_said_although_it_comes_after_the_end():
    with pytest.raises(LoadError, match="ended with code 3: no such table"):
        run("(sleep 0.7; echo no such table) & exit 3")


def test_words_that_never_end_are_not_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr(foreign, "READ_S", 0.5)
    _, summary = run(f"echo rows 9; sleep 600 & echo $! > {tmp_path}/pid; exit 0")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert summary.rows_acked == 9


CEILING = "Ceiling of the load generator"
TOLD = LoadProgram(
    name="taosBenchmark", version="3.3.0.0", command="taosBenchmark -f job.json", rows="ts, v:int; 9 tables"
)


def loaded(program: LoadProgram | None) -> StoredRun:
    """A run whose load another program made, by its own words."""
    run = synthetic_run((1, 2), 2)

    def foreign(trial):
        return replace(trial, load=replace(trial.load, generator="taosbenchmark", rows=5_000_000, duration_s=None))

    results = tuple(replace(r, trial=foreign(r.trial), loaded_by=program) for r in run.results)
    sweep = replace(run.plan.sweep, load=foreign(run.plan.trials[0]).load)
    plan = replace(run.plan, sweep=sweep, trials=tuple(map(foreign, run.plan.trials)))
    measured = {"ceiling_rows_per_s": {"4 threads": 1e8}}
    return replace(run, plan=plan, results=results, manifest=run.manifest | measured)


def test_the_facts_of_the_load_are_those_of_the_program_and_no_ceiling_is_measured(wording):
    run = loaded(TOLD)
    facts = dict(method_facts(run))
    assert (facts["Rows"], CEILING in facts) == (TOLD.rows, False)
    assert f"{TOLD.name} {TOLD.version}" in eyebrow_of(run) and "copy" not in eyebrow_of(run)
    wording(facts["Load"])
    for unknown in (None, LoadProgram(name="taosbenchmark")):
        facts = dict(method_facts(loaded(unknown)))
        assert not {"Rows", CEILING} & set(facts)
        wording(facts["Load"])
    ours = dict(method_facts(synthetic_run((1, 2), 2)))
    assert ours["Load"].startswith("copy, ") and "values: " in ours["Rows"]

    def refused(*_):
        raise AssertionError("nothing is measured")

    sweep = make_sweep(load__rows="1M")
    trial = make_trial(replace(sweep, load=replace(sweep.load, generator="taosbenchmark")))
    ceilings = Ceilings("no program", {}, lambda program, key: refused() if key.means.is_measured else None)
    assert not ceilings.are_measured([trial])
    ceilings.measure([trial])
    assert ceilings.of(trial) is None
    assert [*ceilings.described().values()] == [Means.OTHERS.value]


def test_a_folder_of_a_spec_is_written_elsewhere_with_its_new_path(tmp_path):
    there, here = tmp_path / "there/client", tmp_path / "here"
    there.mkdir(parents=True)
    here.mkdir()
    (there / "taos.cfg").write_text(f"firstEp 10.0.0.1:6030\nlogDir {there}\n")
    (there / "taoslog0.0").write_text("a log")
    spec = {"client_config": str(there), "method": "stmt"}
    own = written(spec, folders_of(spec), here)
    assert own == {"client_config": str(here / "client_config"), "method": "stmt"}
    (only,) = (here / "client_config").iterdir()
    assert only.read_text().split() == ["firstEp", "10.0.0.1:6030", "logDir", str(here / "client_config")]
    assert (here / "client_config").stat().st_mode & 0o777 == 0o700
    written({}, {"client_config": {"../../x.cfg": "a"}}, tmp_path)
    assert (tmp_path / "client_config/x.cfg").read_text() == "a"
    assert written({"client_config": ""}, folders_of({"client_config": ""}), tmp_path) == {"client_config": ""}
