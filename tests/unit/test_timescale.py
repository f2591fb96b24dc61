"""TimescaleDB without its server: which PostgreSQL it takes, what it refuses, what is started."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import PreflightError
from scale_sweep.model.resources import Site
from scale_sweep.plan.preparing.choice import choose
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_facts, load_target
from scale_sweep.server.targets.records import seconds_of
from tests.unit.factories import make_sweep, make_trial

TARGET = load_target("timescaledb")
KNOBS = {"connections": "4", "chunk_interval": "1d", "compress": "off"}


def server_in(home, *, extension):
    """Programs of a PostgreSQL, with the extension's control file or without."""
    for path in ("bin/postgres", "bin/initdb", *(["share/postgresql/extension/timescaledb.control"] * extension)):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 16.14'\n")
        (home / path).chmod(0o755)
    return str(home)


def test_a_postgres_is_taken_with_the_extension_alone(tmp_path):
    home = server_in(tmp_path, extension=False)
    assert TARGET.find(home) is None
    with pytest.raises(PreflightError, match=f"no timescaledb server in {home}") as told:
        choose(replace(make_sweep(), target="timescaledb", runtime="process", home=home))
    assert "a PostgreSQL with the extension" in told.value.remedy
    found = TARGET.find(server_in(tmp_path, extension=True))
    assert (found.home, found.version) == (home, "16.14")


def test_knobs_of_the_extension_which_reports_nothing_and_whose_rows_are_not_partitioned_by_hash():
    trial = make_trial(knobs={**KNOBS, "space_partitions": "4", "work_mem": "8MB"})
    spec = TARGET.server(trial, Site(data_dir="/d", port=7001, bind_address="127.0.0.1", home="/h"), "secret")
    for item in ("shared_preload_libraries=timescaledb", "timescaledb.telemetry_level=off", "work_mem=8MB"):
        assert item in spec.argv
    assert not any(item.startswith(("chunk_interval", "space_partitions", "compress")) for item in spec.argv)
    knobs = complete(make_sweep(), load_facts("timescaledb")).knobs
    assert "partitions" not in knobs and {"connections", "chunk_interval", "compress"} <= set(knobs)
    assert list(map(seconds_of, ("90s", "12h", "7d", "2w"))) == [90, 43_200, 604_800, 1_209_600]
    for knob, value in (("chunk_interval", "soon"), ("compress", "yes")):
        (finding,) = TARGET.check(make_trial(knobs={**KNOBS, knob: value}), None)
        assert finding.blocking and value in finding.sentence
    assert TARGET.check(make_trial(knobs=KNOBS), None) == ()
