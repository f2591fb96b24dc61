"""The age of a version, and what a report says of an old one."""

from dataclasses import replace

import pytest

from scale_sweep.base.texts import age_years, released_in
from scale_sweep.report.run_facts import cautions_of
from scale_sweep.server.targets import all_facts
from tests.unit.synthetic_run import synthetic_run

MONTHS = {"1.79.5": "2022-11", "2.42": "2023-01", "2": "2017-11"}


def test_the_longest_beginning_of_a_version_counts():
    found = {version: released_in(MONTHS, version) for version in ("1.79.5", "2.42.0", "2.4", "1.79.51", "")}
    assert list(found.values()) == ["2022-11", "2023-01", "2017-11", "", ""]
    assert released_in(MONTHS, "2.42.0+ds") == released_in(MONTHS, "2.42~rc0") == "2023-01"


def test_years_are_those_between_two_months():
    assert age_years("2022-11", "2026-11-25") == 4
    assert age_years("2026-12", "2026-11-25T10:00:00") == 0
    with pytest.raises(ValueError):
        age_years("2022-11", "yesterday")
    for facts in all_facts():
        assert all(age_years(month, "2026-11") >= 0 for month in facts.released.values()), facts.name


def test_a_report_says_so_if_its_server_was_older_than_two_years(wording):
    run = synthetic_run((1, 2), replicates=1)
    released = {run.results[0].trial.subject.target: {"1.79.5": "2022-11", "1.131.0": "2025-12"}}
    run = replace(run, manifest={"released": released, "created_utc": "2026-11-25T10:00:00Z"})
    for version in ("1.79.5", "1.131.0", ""):
        results = tuple(replace(r, effective={"server_version": version}) for r in run.results)
        wording(*(one for one in cautions_of(replace(run, results=results), ()) if "years old" in one))
