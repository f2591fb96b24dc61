"""A load of another program: what the report has of it; and the folder of a client's configuration on a load host."""

from __future__ import annotations

from dataclasses import replace

from scale_sweep.loadgen.ceiling import Means
from scale_sweep.loadgen.remote import folders_of, written
from scale_sweep.measure.executing.place import Ceilings
from scale_sweep.model import LoadProgram, StoredRun
from scale_sweep.report.headlines import eyebrow_of
from scale_sweep.report.run_facts import method_facts
from tests.unit.factories import make_sweep, make_trial
from tests.unit.synthetic_run import synthetic_run

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
