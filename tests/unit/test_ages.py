"""The age of a version, and what a report says of an old one."""

from dataclasses import replace

import pytest

from scale_sweep.base.ages import age_years, released_in
from scale_sweep.report.run_facts import cautions_of
from scale_sweep.server.targets import all_facts
from tests.unit.synthetic_run import synthetic_run

MONTHS = {"1.79.5": "2022-11", "2.42": "2023-01", "2": "2017-11"}


def test_the_longest_beginning_of_a_version_counts():
    assert released_in(MONTHS, "1.79.5") == "2022-11"
    assert released_in(MONTHS, "2.42.0") == "2023-01"
    assert released_in(MONTHS, "2.4") == "2017-11"
    assert released_in(MONTHS, "2.42.0+ds") == released_in(MONTHS, "2.42~rc0") == "2023-01"
    assert released_in(MONTHS, "1.79.51") == released_in(MONTHS, "") == ""


def test_years_are_those_between_two_months():
    assert age_years("2022-11", "2026-11-25") == 4
    assert age_years("2026-12", "2026-11-25T10:00:00") == 0
    with pytest.raises(ValueError):
        age_years("2022-11", "yesterday")


def test_every_month_is_one():
    for facts in all_facts():
        assert all(age_years(month, "2026-11") >= 0 for month in facts.released.values()), facts.name


@pytest.mark.parametrize(("version", "is_old"), [("1.79.5", True), ("1.131.0", False), ("", False)])
def test_a_report_says_so_if_its_server_was_older_than_two_years(version, is_old):
    run = synthetic_run((1, 2), replicates=1)
    name = run.results[0].trial.subject.target
    results = tuple(replace(r, effective={"server_version": version}) for r in run.results)
    manifest = {"released": {name: {"1.79.5": "2022-11", "1.131.0": "2025-12"}}, "created_utc": "2026-11-25T10:00:00Z"}
    cautions = cautions_of(replace(run, results=results, manifest=manifest), ())
    assert (
        f"{name} 1.79.5 came out in 2022-11: it was 4 years old, and a current version may differ" in cautions
    ) is is_old
    assert not any("years old" in caution for caution in cautions) or is_old
