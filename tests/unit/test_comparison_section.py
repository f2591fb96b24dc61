"""The section of docs/databases.md on many databases, made from a run."""

from dataclasses import replace

import pytest

from tests.unit.test_several_databases import measured, several
from tools import comparison_section as module

COMMAND = "scale sweep cpu --results /elsewhere -y --target questdb,victoriametrics,postgres --cores 1..2".split()


def run_of_three():
    host = {"cpus": [0, 1], "cpu_model": "a CPU"}
    manifest = {"command": COMMAND, "created_utc": "2026-11-26T10:40:43+00:00", "host": host}
    return replace(measured(several()), manifest=manifest)


def test_it_has_the_command_the_valid_trials_and_the_files(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 3)
    page = module.written(f"before\n{module.BEGIN}old\n{module.END}after\n", run_of_three())
    assert page.startswith(f"before\n{module.BEGIN}") and page.endswith(f"{module.END}after\n") and "old" not in page
    parts = ["\nscale sweep cpu --target questdb,victoriametrics,postgres --cores 1..2\n", "VALID"]
    parts += ["2026-11-26 10:40 UTC on 2 × a CPU", "(examples/many-databases.html)", "images/many-databases.svg"]
    assert [part for part in parts if part not in page] == []


def test_a_run_of_fewer_databases_or_with_missing_trials_is_refused(monkeypatch):
    run = run_of_three()
    for least, count, why in ((module.LEAST, None, "has 3 databases"), (3, 5, "5 of")):
        monkeypatch.setattr(module, "LEAST", least)
        with pytest.raises(ValueError, match=why):
            module.section(replace(run, results=run.results[:count]))
