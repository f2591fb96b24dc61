"""scale ab with two servers whose settings are equal is refused while it is planned, and starts nothing; if only the
servers show it, after the first trials of both."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.machine.host.machine_file import read_machine
from scale_sweep.model.events import TrialFinished
from scale_sweep.plan.preparing import machines
from scale_sweep.plan.preparing import prepared as prepare
from scale_sweep.plan.preparing.refusals import RefusesSameServer
from scale_sweep.server.targets import load_target
from scale_sweep.sweep.ab import flags_of, together
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_result

pytestmark = pytest.mark.skipif(load_target("postgres").find("") is None, reason="no PostgreSQL")
COMMON = "--cores 1 --target postgres --runtime process"


def prepared(a, b, folder):
    common = flags_of(COMMON, "--a")
    sides = [resolve_sweep("cpu", together(common, flags_of(own, "--b"))) for own in (a, b)]
    return prepare.prepare_ab(*sides, (1,), folder / "results")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("", "--knob synchronous_commit=on"),
        ("--knob work_mem=1GB", "--knob work_mem=1024MB"),
        ("--knob checkpoint_timeout=10min", "--knob checkpoint_timeout=600s"),
        ("--settings loading", "--settings loading --knob synchronous_commit=off"),
    ],
)
def test_equal_settings_are_refused(a, b, tmp_path):
    with pytest.raises(UsageError, match="same server"):
        prepared(a, b, tmp_path)


@pytest.mark.parametrize(
    "b", ["--knob synchronous_commit=off", "--settings loading", "--rows-per-request 77", "--settings defaults", ""]
)
def test_other_variants_are_planned(b, tmp_path):
    assert len(prepared("", b, tmp_path).plan.trials) == 4


def test_the_number_of_tables_follows_the_connections_as_in_a_sweep(monkeypatch, tmp_path):
    monkeypatch.setattr(machines, "read_host", lambda: read_machine(Path("sweeps/machines/two-sockets.toml")))
    plan = prepared("--cores 64", "--cores 64 --knob work_mem=1GB", tmp_path).plan
    assert {trial.work.data.tables for trial in plan.trials} == {300}
    assert any("300 tables" in note for note in plan.notes)


def run_through(check, plan, **reported):
    """Both variants' first trials end, with what their servers reported of wal_buffers."""
    for trial in plan.trials[:2]:
        effective = {"wal_buffers": reported[trial.variant["variant"]], "port": trial.trial_id}
        check(TrialFinished(result=replace(make_result(1, 1e5), trial=trial, effective=effective)))


@pytest.mark.parametrize(
    ("a", "b", "reported"),
    [
        ("--knob wal_buffers=-1", "--knob wal_buffers=16MB", "16384kB"),
        ("--knob wal_buffers=8MB", "--knob wal_buffers=16MB", "8MB"),
        ("", "", "16MB"),
    ],
)
def test_equal_settings_that_only_the_servers_report_end_the_run(a, b, reported, tmp_path):
    found = prepared(a, b, tmp_path)
    ends = pytest.raises(UsageError, match="wal_buffers=16MB") if reported == "16384kB" else nullcontext()
    with ends:
        run_through(RefusesSameServer(found.plan, found.choices), found.plan, A="16MB", B=reported)
