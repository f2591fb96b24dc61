"""Which stored runs are this user's: the digest of a plan, its file, and what a longer plan does to it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import compose
from scale_sweep.machine.state import places, runs
from scale_sweep.model.events import PlanGrew
from scale_sweep.model.samples import DiskSource
from scale_sweep.plan.preparing.own_runs import digest_of, growing, is_own, named, of_hosts, refuse_strange, remember
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.run_lock import RunLock
from scale_sweep.results.store.stored import new_folder, own_folder
from scale_sweep.results.store.writer import RunWriter
from tests.unit import whole_commands
from tests.unit.stored_runs import NAMES, unpacked

HOSTS = {"inventory": "/hosts.ini", "server": "a", "load": ["b"], "address": "10.0.0.1"}


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """A state that knows no run."""
    monkeypatch.setenv(places.VARIABLE, str(tmp_path / "state"))


@pytest.fixture
def run(tmp_path):
    return read_run(unpacked("killed", tmp_path))


def with_home(plan, home):
    trials = [replace(trial, subject=replace(trial.subject, home=home)) for trial in plan.trials]
    return replace(plan, trials=tuple(trials))


def with_trial(plan, **changes):
    """The plan with its first trial changed as one more."""
    return replace(plan, trials=(*plan.trials, replace(plan.trials[0], **changes)))


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_has_the_same_digest_after_it_was_stored(name, tmp_path):
    stored = read_run(unpacked(name, tmp_path))
    disks = DiskSource(kind="loop", loop_bytes=2**30, dirs=("/mnt/a",))
    sweep = replace(stored.plan.sweep, disks=disks, constants={"memory": 4})
    plan = replace(with_home(stored.plan, "/opt/ä"), sweep=sweep)
    RunWriter(RunLock(new_folder(tmp_path / "again")), plan, {**stored.manifest, "hosts": {**HOSTS, "clocks": [1]}})
    again = read_run(tmp_path / "again")
    assert digest_of(again.plan, of_hosts(again.manifest)) == digest_of(plan, HOSTS)


def test_a_run_is_ones_own_until_it_changes_and_under_any_path(run):
    digest = digest_of(run.plan, {})
    asked = replace(run.plan, sweep=replace(run.plan.sweep, predict=(4.0,), need=(1e6,)))
    assert digest_of(asked, {}) == digest
    knobs = replace(run.plan, trials=tuple(replace(t, knobs={**t.knobs, "x": "1"}) for t in run.plan.trials))
    changed = [digest_of(with_home(run.plan, "/x"), {}), digest_of(knobs, {}), digest_of(run.plan, HOSTS)]
    assert len({digest, *changed}) == 4
    compose.report(compose.reopen_to_report(run, RunLock(own_folder(Path(run.path)))))
    assert not is_own(read_run(Path(run.path))), "a report does not make it one's own"
    remember(run.manifest["run"], run.plan, {})
    assert is_own(run) and is_own(replace(run, path="/elsewhere"))
    assert not is_own(replace(run, plan=with_home(run.plan, "/x")))
    assert not is_own(replace(run, manifest={**run.manifest, "hosts": HOSTS}))
    assert not is_own(replace(run, manifest={**run.manifest, "run": "another"}))


def test_a_longer_plan_is_ones_own_before_and_after_it_is_stored(run):
    """A kill between the note and the new plan.json leaves a run that goes on."""
    longer = with_trial(run.plan, trial_id="more")
    name = run.manifest["run"]
    growing(name, run.plan, {})(PlanGrew(plan=longer))
    assert not is_own(replace(run, plan=longer)), "a stranger's run does not become one's own by growing"
    remember(name, run.plan, {})
    note = growing(name, run.plan, {})
    note(PlanGrew(plan=longer))
    assert is_own(run) and is_own(replace(run, plan=longer))
    longest = with_trial(longer, trial_id="most")
    note(PlanGrew(plan=longest))
    assert is_own(replace(run, plan=longest)) and is_own(replace(run, plan=longer)) and not is_own(run)


@pytest.mark.parametrize("way", ["writable", "link", "two names"])
def test_a_file_that_another_user_can_have_made_is_not_believed(way, run):
    remember(run.manifest["run"], run.plan, {})
    (file,) = places.folder("runs").iterdir()
    if way == "writable":
        file.chmod(0o666)
    elif way == "link":
        file.rename(file.with_name("moved"))
        file.symlink_to("moved")
    else:
        os.link(file, file.with_name("second"))
    assert not is_own(run)


def test_the_files_are_bounded_and_clean_keeps_them(run, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "KEPT_MAX", 3)
    for number in range(5):
        remember(f"run {number}", run.plan, {})
    remember(run.manifest["run"], run.plan, {})
    assert len(list(places.folder("runs").iterdir())) == 3
    assert all(path.stat().st_size < 200 for path in places.folder("runs").iterdir())
    done = whole_commands.run("clean", "--caches", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert is_own(run)


def test_each_value_is_given_again_and_no_other(run):
    subject = replace(run.plan.trials[0].subject, home="/b")
    strange = replace(run, plan=with_trial(with_home(run.plan, "/a"), subject=subject), results=())
    assert named(strange) == {"--home": ("/a", "/b")}
    with pytest.raises(UsageError, match="--home /b") as refused:
        refuse_strange(strange, {"--home": ["/a"]})
    assert "--home /a" not in refused.value.message
    refuse_strange(strange, {"--home": ["/b", "/a"]})
    with pytest.raises(UsageError, match="--home /c: the run names /a, /b"):
        refuse_strange(strange, {"--home": ["/a", "/b", "/c"]})


@pytest.mark.parametrize(
    "words",
    [
        "plan cpu --cores 1 --target postgres --endpoint me:S3cret@h:5432",
        "plan cpu --cores 1 --target postgres --endpoint=me:S3cret@h:5432",
        "plan cpu --cores 1 --target postgres --vary endpoint=h:1,me:S3cret@h:5432",
        "plan file.toml",
        "resume killed --results . --endpoint me:S3cret@h:5432",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(words, run, tmp_path):
    target = '[target]\nname = "postgres"\nendpoint = "me:S3cret@h:5432"\n'
    (tmp_path / "file.toml").write_text(f'{target}[axis]\ncores = "1"\n')
    done = whole_commands.run(*words.split(), cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.code == 2 and "SCALE_TARGET_PASSWORD" in said and "S3cret" not in said
