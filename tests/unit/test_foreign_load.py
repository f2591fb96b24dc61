"""Another program as the load: how it runs and ends, when its window begins, what the report has of it, and
the folder of a client's configuration on a load host."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from psutil import STATUS_ZOMBIE, Process, pid_exists

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.ceiling import Means
from scale_sweep.loadgen.command_load import CommandLoad, ToolCommand
from scale_sweep.loadgen.readers import pattern_reader, reader_of
from scale_sweep.loadgen.remote import folders_of, written
from scale_sweep.measure.executing.place import Ceilings
from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.loads import LoadProgram
from scale_sweep.report.headlines import eyebrow_of
from scale_sweep.report.run_facts import method_facts
from tests.integration.cli import waited_for
from tests.unit.factories import make_sweep, make_trial
from tests.unit.synthetic_run import synthetic_run

CPUS = tuple(sorted(os.sched_getaffinity(0)))
LIMIT_S = 120.0
PROGRAM = LoadProgram(name="sh")


def command(script, **more):
    reader = pattern_reader("^rows ([0-9]+)$")
    return ToolCommand(program=PROGRAM, argv=("/bin/sh", "-c", script), env=dict(os.environ), reader=reader, **more)


def run(script, **more):
    with CommandLoad(command(script, **more), CPUS) as load:
        lines = [line for line in load.lines(LIMIT_S) if line is not None]
        return load, load.summary(), lines


def test_many_words_are_all_read():
    load, summary, _ = run("seq 1 15000; echo rows 7")
    assert (summary.is_counted, summary.program, len(load.raw)) == (True, PROGRAM, 15_001)
    assert summary.requests == round(7 * summary.window_s)
    assert summary.cpu_window_s is not None


def test_without_a_result_nothing_is_counted():
    assert not run("echo no number")[1].is_counted


def test_why_it_failed_is_said():
    with pytest.raises(LoadError, match="sh ended with code 3: no such table"):
        run("echo no such table; exit 3")
    with pytest.raises(LoadError, match="sh was ended by SIGKILL: it said nothing"):
        run("kill -9 $$")


def test_what_it_leaves_in_its_session_ends_with_it(tmp_path):
    run(f"sleep 600 & echo $! > {tmp_path}/pid; echo rows 9")
    pid = int((tmp_path / "pid").read_text())
    assert waited_for(lambda: not pid_exists(pid) or Process(pid).status() == STATUS_ZOMBIE)


def test_a_deadline_ends_it():
    load = CommandLoad(command("sleep 600"), CPUS)
    with load, pytest.raises(LoadError, match="sh did not end within 0 s"):
        list(load.lines(0.2))
    assert not pid_exists(load.pids[0])


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(LoadError, match="/no/such did not start: No such file"):
        CommandLoad(replace(command(""), argv=("/no/such",)), CPUS).start()


PROGRESS = "for i in 1 2 3 4; do sleep 1; echo progress: $i.0 s, $i.0 tps, lat 1; done; echo 'tps = 9 (without i)'"


def test_the_window_begins_when_the_warm_up_is_over():
    tool = replace(command(PROGRESS, warmup_s=60.0), reader=reader_of(["pgbench"]))
    phases = []
    with CommandLoad(tool, CPUS) as load:
        for line in load.lines(LIMIT_S):
            if line is not None:
                phases.append(line.phase)
            if phases.count("warmup") == 3:  # its beginning, and two seconds
                load.begin_window()
        summary = load.summary()
    assert phases == ["warmup"] * 3 + ["measure"] * 3
    assert summary.service.count == 7
    assert summary.window_s == pytest.approx(2.0)


def test_a_load_that_ends_within_its_warm_up_has_no_window():
    with pytest.raises(LoadError, match="within the warm-up"):
        run("echo rows 5", warmup_s=60.0)


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
