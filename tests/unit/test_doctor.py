"""What the doctor says of databases: every place where a command looks for one, how a sweep is told of it, and the age of a
version, which a report says of an old one."""

from dataclasses import replace

import pytest

from scale_sweep.base.texts import age_years, released_in
from scale_sweep.cli import doctor
from scale_sweep.report.run_facts import cautions_of
from scale_sweep.server.runtimes.docker_engine import DockerFacts
from scale_sweep.server.targets import all_facts, load_target
from tests.unit.factories import executable
from tests.unit.synthetic_run import synthetic_run


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Without Docker, and with the programs of the system only."""
    monkeypatch.setattr(doctor, "docker_facts", lambda: DockerFacts(reachable=False))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def program_in(home, name, script):
    executable(home / "bin" / name, script)
    return home


def taosd_in(home, version="3.3.0.0"):
    return program_in(home, "taosd", f"echo taosd version: {version} compatible_version: 3.0.0.0")


def said_of(name):
    (ability,) = [a for a in doctor.examine() if a.subject == name]
    return ability


def test_the_directory_that_a_variable_names_is_looked_at_beside_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_TDENGINE_HOME", str(taosd_in(tmp_path / "td")))
    said = said_of("tdengine")
    assert not said.there and "libtaos" in said.state, "without its client library it cannot be loaded"
    assert f"{tmp_path}/td (SCALE_TDENGINE_HOME)" in said.state
    assert f"--home {tmp_path}/td" in said.remedy, "a sweep does not read the variable"
    on_path = taosd_in(tmp_path / "installed", "3.3.5.2")
    monkeypatch.setenv("PATH", f"{on_path}/bin:/usr/bin:/bin")
    said = said_of("tdengine")
    assert f"{on_path} (PATH)" in said.state and f"{tmp_path}/td (SCALE_TDENGINE_HOME)" in said.state
    assert "3.3.5.2" in said.state and "3.3.0.0 of 2024-05" in said.state


@pytest.mark.parametrize("named", ["", "nothing-here"])
def test_a_variable_without_a_server_is_said(tmp_path, monkeypatch, named):
    monkeypatch.setenv("SCALE_TDENGINE_HOME", str(tmp_path / named) if named else "")
    said = said_of("tdengine")
    assert not said.there
    assert ("SCALE_TDENGINE_HOME" in said.state) == bool(named)
    assert "TDengine" in said.remedy


def test_a_target_without_such_a_variable_has_its_age():
    target = load_target("postgres")
    found = target.find("")
    said = said_of("postgres")
    assert said.there
    assert said.state.startswith(f"{found.version} of {released_in(target.facts.released, found.version)}, ")
    assert said.state.endswith(f" in {found.home} ({found.source})")
    for name, version in (("postgres", "16.14"), ("tdengine", "3.3.0.0"), ("iotdb", "2.0.1-beta")):
        assert released_in(load_target(name).facts.released, version)


def test_a_server_that_does_not_report_its_version_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("SCALE_TDENGINE_HOME", str(program_in(tmp_path / "td", "taosd", "exit 127")))
    said = said_of("tdengine")
    assert not said.there
    assert "its version" in said.state and "--target tdengine" in said.remedy


def test_a_client_library_that_cannot_be_opened_is_named_with_its_package(tmp_path, monkeypatch):
    home = program_in(tmp_path / "maria", "mariadbd", "echo mariadbd Ver 10.11.19-MariaDB")
    monkeypatch.setenv("SCALE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    (tmp_path / "libmariadb.so.3").write_text("no library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    said = said_of("mariadb")
    assert not said.there
    assert "libmariadb.so.3" in said.state
    assert said.remedy.split() == ["apt-get", "install", "libmariadb3"]


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
