"""--settings: which settings servers start from, and the rows of those that differ from the vendors' defaults."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.model import DEFAULTS, LOADING
from scale_sweep.plan import complete
from scale_sweep.report import subjects
from scale_sweep.report.console_table import console_table
from scale_sweep.report.documents import documents
from scale_sweep.report.heading import eyebrow_of
from scale_sweep.report.quota import quota_words
from scale_sweep.report.run_facts import cautions_of, settings_table
from scale_sweep.server.targets import all_facts, load_facts, load_target
from tests.unit.factories import make_sweep, make_trial
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_ab import plan_of
from tests.unit.test_several_databases import measured, several

DURABILITY_AND_MAINTENANCE = {"synchronous_commit", "autovacuum", "wal_level", "shared_buffers", "max_wal_size"}


def postgres_settings(settings, **knobs):
    trial = make_trial(replace(make_sweep(), target="postgres"), knobs={"partitions": "4", "connections": "4", **knobs})
    return load_target("postgres").settings(replace(trial, settings=settings), is_ours=True)


def test_several_databases_have_the_vendors_durability_and_maintenance():
    plan = several()
    assert {trial.settings for trial in plan.trials} == {DEFAULTS}
    assert plan.sweep.settings == DEFAULTS
    assert not DURABILITY_AND_MAINTENANCE & set(postgres_settings(DEFAULTS))


def test_one_database_has_the_vendors_defaults_too_and_the_set_for_loading_if_it_is_asked():
    sweep = complete(replace(make_sweep(), target="postgres"), load_facts("postgres"))
    assert sweep.settings == DEFAULTS
    loading = postgres_settings(LOADING)
    assert loading["synchronous_commit"] == loading["autovacuum"] == "off"
    assert loading["wal_level"] == "minimal" and loading["shared_buffers"] == "1GB"


def test_two_variants_are_compared_with_the_vendors_defaults():
    assert {trial.settings for trial in plan_of(knobs__connections="9").trials} == {DEFAULTS}


@pytest.mark.parametrize("asked", [DEFAULTS, LOADING])
def test_a_set_that_was_asked_for_stays(asked):
    sweep = replace(make_sweep(target__settings=asked), target="postgres", vary={"target": ("postgres", "questdb")})
    assert complete(sweep, load_facts("postgres")).settings == asked
    with pytest.raises(UsageError, match="--settings"):
        make_sweep(target__settings="auto")


def test_the_first_line_of_the_results_names_the_set():
    run = synthetic_run((1, 2), 2)
    run = replace(run, manifest={**run.manifest, "vendor_defaults": {"postgres": {"fsync": "on"}}})
    trials = tuple(replace(t, subject=replace(t.subject, target="postgres")) for t in run.plan.trials)
    run = replace(run, plan=replace(run.plan, trials=trials))
    assert console_table(run).title.endswith(" · postgres 16.2 · settings: defaults")
    assert " · settings: defaults · " in eyebrow_of(run)
    theirs = tuple(replace(t, subject=replace(t.subject, endpoint="h:5432")) for t in trials)
    assert "settings" not in console_table(replace(run, plan=replace(run.plan, trials=theirs))).title


def test_knobs_go_before_the_set():
    assert postgres_settings(LOADING, autovacuum="on")["autovacuum"] == "on"


def test_every_setting_of_a_set_has_the_vendors_default():
    for facts in all_facts():
        assert not set(facts.loading) - set(facts.vendor_defaults), facts.name
        assert not set(facts.fsynced or {}) - set(facts.vendor_defaults), facts.name


def test_the_report_has_a_row_for_each_setting_that_differs_as_read_back():
    run = measured(several())
    said = {
        "wal_level": "replica",
        "synchronous_commit": "off",
        "work_mem": "64MB",
        "max_wal_size": "1024MB",
        "port": "5432",
        "partitions": "4",
    }
    results = tuple(
        replace(r, effective={**r.effective, **said}) if r.trial.subject.target == "postgres" else r
        for r in run.results
    )
    defaults = {name: dict(load_facts(name).vendor_defaults) for name in ("questdb", "victoriametrics", "postgres")}
    run = replace(run, results=results, manifest={"vendor_defaults": defaults})
    table = settings_table(run)
    assert table.rows == (
        ("postgres", "synchronous_commit", "off", "on"),
        ("postgres", "work_mem", "64MB", "4MB"),
    )
    assert "--settings defaults" in table.notes[0]
    page = documents(run).pages["report.html"]
    assert page.index(table.title) < page.index("Report of each variant"), "on the first page"
    terms = subjects.terms_table(run).notes[0]
    assert terms.startswith("durability and maintenance: the vendors' defaults (--settings defaults)")


def test_a_caution_names_the_settings_for_loading_and_where_rows_were():
    run = synthetic_run((1, 2))
    at = {"synchronous_commit": "off", "autovacuum": "off", "acknowledged": "in memory"}
    loading = tuple(replace(r, trial=replace(r.trial, settings=LOADING), effective=at) for r in run.results)
    run = replace(
        run, results=loading, manifest={"vendor_defaults": {"postgres": load_facts("postgres").vendor_defaults}}
    )
    assert (
        "not the vendors' defaults: autovacuum, synchronous_commit; rows were acknowledged in memory, so a crash of the "
        "machine can lose the last of them. Compare with --settings defaults"
    ) in cautions_of(run, ())
    vendor = tuple(replace(r, trial=replace(r.trial, settings=DEFAULTS)) for r in run.results)
    assert not [c for c in cautions_of(replace(run, results=vendor), ()) if c.startswith("not the")]


def test_a_caution_tells_pauses_of_a_quota():
    run = synthetic_run((0.5, 1), sweep=make_sweep(cores="0.5,1"))
    trials = tuple(
        replace(t, resources=replace(t.resources, placement=replace(t.placement, server_cpus=(1,), quota_cores=quota)))
        for t in run.plan.trials
        for quota in [0.5 if t.level < 1 else None]
    )
    (said,) = quota_words(replace(run, plan=replace(run.plan, trials=trials)))
    assert said.startswith("0.5 cores: a CPU quota. The kernel stops the server for up to about 50 ms in each 100 ms")


def test_a_run_that_was_stored_without_a_set_had_the_one_for_loading():
    run = measured(several())
    old = replace(run, plan=replace(run.plan, trials=tuple(replace(t, settings=LOADING) for t in run.plan.trials)))
    assert settings_table(old) is None
    assert "the set of settings for loading" in subjects.terms_table(old).notes[0]
