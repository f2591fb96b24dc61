"""--settings: which settings servers start from, and the rows of those that differ from the vendors' defaults."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.model.declared_parts import DEFAULTS, LOADING
from scale_sweep.plan.target_defaults import complete
from scale_sweep.report import several as shown
from scale_sweep.report.conditions import quota_words
from scale_sweep.report.documents import documents
from scale_sweep.report.headlines import eyebrow_of
from scale_sweep.report.level_tables import console_table
from scale_sweep.report.run_facts import cautions_of, settings_table
from scale_sweep.server.targets import all_facts, load_facts, load_target
from tests.unit.factories import make_sweep, make_trial
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_ab import plan_of
from tests.unit.test_several_databases import measured, several


def postgres_settings(settings, **knobs):
    trial = make_trial(replace(make_sweep(), target="postgres"), knobs={"partitions": "4", "connections": "4", **knobs})
    return load_target("postgres").settings(replace(trial, settings=settings), is_ours=True)


def test_several_databases_and_variants_have_the_vendors_durability_and_maintenance():
    for plan in (several(), plan_of(knobs__connections="9")):
        assert {trial.settings for trial in plan.trials} == {plan.sweep.settings} == {DEFAULTS}
    durability = {"synchronous_commit", "autovacuum", "wal_level", "shared_buffers", "max_wal_size"}
    assert not durability & set(postgres_settings(DEFAULTS))
    for facts in all_facts():
        assert not {*facts.loading, *(facts.fsynced or {})} - set(facts.vendor_defaults), facts.name


def test_one_database_has_the_vendors_defaults_too_and_the_set_for_loading_if_it_is_asked():
    sweep = complete(replace(make_sweep(), target="postgres"), load_facts("postgres"))
    assert sweep.settings == DEFAULTS
    for asked in (DEFAULTS, LOADING):
        sweep = replace(make_sweep(target__settings=asked), target="postgres", vary={"target": ("postgres", "questdb")})
        assert complete(sweep, load_facts("postgres")).settings == asked
    with pytest.raises(UsageError, match="--settings"):
        make_sweep(target__settings="auto")
    loading = {"synchronous_commit": "off", "autovacuum": "off", "wal_level": "minimal", "shared_buffers": "1GB"}
    assert loading.items() <= postgres_settings(LOADING).items()
    assert postgres_settings(LOADING, autovacuum="on")["autovacuum"] == "on"  # a knob goes before the set


def test_the_first_line_of_the_results_names_the_set():
    run = synthetic_run((1, 2), 2)
    run = replace(run, manifest={**run.manifest, "vendor_defaults": {"postgres": {"fsync": "on"}}})
    trials = tuple(replace(t, subject=replace(t.subject, target="postgres")) for t in run.plan.trials)
    run = replace(run, plan=replace(run.plan, trials=trials))
    assert console_table(run).title.endswith(" · settings: defaults")
    assert " · settings: defaults · " in eyebrow_of(run)
    theirs = tuple(replace(t, subject=replace(t.subject, endpoint="h:5432")) for t in trials)
    assert "settings" not in console_table(replace(run, plan=replace(run.plan, trials=theirs))).title


def test_the_report_has_a_row_for_each_setting_that_differs_as_read_back():
    run = measured(several())
    said = {"wal_level": "replica", "synchronous_commit": "off", "work_mem": "64MB", "max_wal_size": "1024MB"}
    said |= {"port": "5432", "partitions": "4"}
    results = tuple(
        replace(r, effective={**r.effective, **said}) if r.trial.subject.target == "postgres" else r
        for r in run.results
    )
    defaults = {name: dict(load_facts(name).vendor_defaults) for name in ("questdb", "victoriametrics", "postgres")}
    run = replace(run, results=results, manifest={"vendor_defaults": defaults})
    table = settings_table(run)
    assert table.rows == (("postgres", "synchronous_commit", "off", "on"), ("postgres", "work_mem", "64MB", "4MB"))
    assert "--settings defaults" in table.notes[0]
    page = documents(run).pages["report.html"]
    assert page.index(table.title) < page.index("Report of each variant")  # on the first page
    assert "(--settings defaults)" in shown.terms_table(run).notes[0]
    stored = tuple(replace(t, settings=LOADING) for t in run.plan.trials)  # without a set: it was that for loading
    old = replace(run, plan=replace(run.plan, trials=stored), manifest={})
    assert settings_table(old) is None
    assert "for loading" in shown.terms_table(old).notes[0]


def test_a_caution_names_the_settings_for_loading_and_where_rows_were(wording):
    run = synthetic_run((1, 2))
    at = {"synchronous_commit": "off", "autovacuum": "off", "acknowledged": "in memory"}
    manifest = {"vendor_defaults": {"postgres": load_facts("postgres").vendor_defaults}}
    cautions = {}
    for settings, effective in ((LOADING, at), (DEFAULTS, {})):
        results = tuple(
            replace(r, trial=replace(r.trial, settings=settings), effective=effective or r.effective)
            for r in run.results
        )
        told = cautions_of(replace(run, results=results, manifest=manifest), ())
        cautions[settings] = [c for c in told if c.startswith("not the vendors'")]
    wording(*cautions[LOADING])
    assert (len(cautions[LOADING]), cautions[DEFAULTS]) == (1, [])


def test_a_caution_tells_pauses_of_a_quota(wording):
    run = synthetic_run((0.5, 1), sweep=make_sweep(cores="0.5,1"))
    trials = []
    for t in run.plan.trials:
        placement = replace(t.placement, server_cpus=(1,), quota_cores=0.5 if t.level < 1 else None)
        trials.append(replace(t, resources=replace(t.resources, placement=placement)))
    wording(*quota_words(replace(run, plan=replace(run.plan, trials=tuple(trials)))))
