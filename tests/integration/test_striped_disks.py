"""Striped disks on real loop devices, through the real playbook: made anew for each level, kept, refused, removed."""

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import ProvisionError
from scale_sweep.base.interrupts import current
from scale_sweep.loadgen.binary import loadgen_path
from scale_sweep.machine.disks import playbook, prepare
from scale_sweep.machine.disks.prepare import check_stripe, leftover_sets, prepared, remove_sets, restripe
from scale_sweep.machine.disks.sets import find_set, folder_of, name_of_run, save
from scale_sweep.machine.host.block_devices import disk_of
from scale_sweep.measure.executing.execute import Execution, Orders
from scale_sweep.measure.executing.place import Ceilings
from scale_sweep.measure.machine_setup import PreparedDisks
from scale_sweep.measure.trial.run import run_trial
from scale_sweep.model.events import TrialFinished
from scale_sweep.model.planned import Plan
from scale_sweep.model.resources import Placement
from scale_sweep.model.samples import DiskSource
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.targets import load_target
from tests.needs import needs
from tests.unit.factories import make_trial
from tests.unit.test_disk_axis import disk_sweep

pytestmark = needs("root")
LOOPS = DiskSource(kind="loop", loop_bytes=96 * 2**20)
WHY_NO_MD = "; ".join(finding.sentence for finding in check_stripe(LOOPS))
PLAYBOOKS = playbook.playbook_path().parent
ENVIRONMENT = {**os.environ, "PATH": playbook.search_path()}
MEMBERS = "held=$(cat {folder}/$LABEL.members 2>/dev/null || true)\nnode=$(losetup -n -O NAME -j {folder}/$LABEL.img)\n"
STAND_IN = {
    "probed": MEMBERS + '[ -n "$node" ] && [ "$held" = "$DEVICES" ] && echo $node || true',
    "present": """
for device in $DEVICES; do wipefs --all --quiet $device; done
truncate -s 256M {folder}/$LABEL.img
node=$(losetup --show -f {folder}/$LABEL.img)
folder={folder}/sys/$(lsblk -n -o MAJ:MIN $node | tr -d ' ')
mkdir -p $folder/md $folder/slaves
echo raid0 > $folder/md/level
for device in $DEVICES; do mkdir $folder/slaves/$(basename $device); done
echo "$DEVICES" > {folder}/$LABEL.members
echo $node
""",
    "absent": MEMBERS
    + """
[ -z "$node" ] || losetup -d $node
rm -rf {folder}/$LABEL.img {folder}/$LABEL.members {folder}/sys
""",
}


def out(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout


def traces(base):
    """Loop devices, mounts, arrays, files and register entries of these tests."""
    lines = [*out("losetup", "-n", "-O", "NAME,BACK-FILE").splitlines(), *Path("/proc/mounts").read_text().splitlines()]
    found = [line for line in lines if str(base) in line]
    found += [str(p) for p in Path("/sys/block").glob("md*/md")]
    return [
        *found,
        *map(str, base.glob("scale-disks-*")),
        *map(str, folder_of("x").parent.glob(f"*{name_of_run(base.name)}*")),
    ]


@pytest.fixture(scope="module")
def base():
    """On a disk, and open to the user that a server runs as; nothing of the tests may stay there."""
    path = Path(f"/var/tmp/scale-test-stripe-{os.getpid()}")
    path.mkdir(mode=0o755)
    before = traces(path)
    yield path
    left = traces(path)
    shutil.rmtree(path)
    assert left == before


def stand_in(base, monkeypatch):
    """The playbooks with a role that plays md, and a folder that plays /sys/dev/block."""
    room = base / "stand-in"
    shutil.copytree(PLAYBOOKS, room / "playbooks")
    tasks = room / "playbooks" / "roles" / "stripe" / "tasks"
    fact = "- ansible.builtin.set_fact:\n    stripe_array: \"{{ stripe_seen.stdout_lines | first | default('') }}\"\n"
    for state, script in STAND_IN.items():
        lines = "".join(f"      {line}\n" for line in ("set -eu\n" + script.format(folder=room)).splitlines())
        seen = ("stripe_gone", "") if state == "absent" else ("stripe_seen", fact)
        (tasks / f"{state}.yml").write_text(
            f"- ansible.builtin.shell:\n    cmd: |\n{lines}"
            "  environment: {LABEL: '{{ stripe_label }}', DEVICES: \"{{ stripe_devices | join(' ') }}\"}\n"
            f"  register: {seen[0]}\n{seen[1]}"
        )
    monkeypatch.setattr(playbook, "_CHECKOUT", room / "playbooks")
    monkeypatch.setattr(prepare, "_DEVICES", room / "sys")


@pytest.fixture(scope="module", params=["md", "stand-in"])
def disks(request, base):
    """Three disks of a set that has the base's name, as a sweep has them. At the end they are undone as at a sweep's
    end: by the set as it was before there was an array."""
    if request.param == "md" and WHY_NO_MD:
        pytest.skip(WHY_NO_MD)
    with pytest.MonkeyPatch.context() as monkeypatch:
        if request.param == "stand-in":
            stand_in(base, monkeypatch)
        before = traces(base)
        with prepared(LOOPS, 3, base.name, base) as made:
            yield made
        assert traces(base) == before


def mounted(base):
    """What is mounted of the set: place and device."""
    lines = [line.split()[:2] for line in Path("/proc/mounts").read_text().splitlines()]
    return {Path(place).name: device for device, place in lines if f"{base}/scale-disks-" in place}


# First, while nothing plays md.
@pytest.mark.skipif(not WHY_NO_MD, reason="this kernel has md")
def test_without_md_it_is_said_by_name_and_all_of_the_set_can_be_removed(base):
    with prepared(LOOPS, 2, base.name, base) as disks:
        with pytest.raises(ProvisionError, match="no md|mdadm is not installed"):
            restripe(base.name, disks)
        # the register says so before the playbook starts, else whoever cleans up would not look for an array
        assert find_set(name_of_run(base.name)).stripe == 2
    assert find_set(name_of_run(base.name)) is None


def test_each_level_has_an_empty_array_of_its_first_disks_and_keeps_it_for_the_next_trial(base, disks):
    before = {f"/dev/{disk.block_name}" for disk in disks}
    assert set(mounted(base).values()) == before
    for count in (2, 3, 1):
        members = restripe(base.name, disks[:count])
        assert [m.device for m in members] == [d.device for d in disks[:count]], "each is sampled by itself"
        (path,) = {m.path for m in members}
        assert mounted(base).keys() == {"d1"} and not set(mounted(base).values()) & before
        assert list(Path(path).iterdir()) == []
        assert members[0].free_bytes < shutil.disk_usage(path).total
        (Path(path) / "rows").write_text("of a trial")
        assert restripe(base.name, disks[:count])[0].path == path
        assert (Path(path) / "rows").exists(), "the same number makes no new array"
        assert find_set(name_of_run(base.name)).stripe == count


def test_an_array_of_other_members_is_not_believed(base, disks):
    restripe(base.name, disks[:2])
    there, wanted = (sorted(d.block_name for d in some) for some in (disks[:2], disks[1:]))
    with pytest.raises(ProvisionError, match=f"of {', '.join(wanted)} wanted, {', '.join(there)} found"):
        restripe(base.name, disks[1:])


def test_the_server_of_a_striped_trial_lies_on_the_array(base, disks):
    target = load_target("postgres")
    flags = {"target__name": "postgres", "target__runtime": "process", "disks__placement": "stripe"}
    flags |= {"load__rows": "20000", "load__warmup": "0s", "workload__tables": "24"}
    sweep = complete(disk_sweep(**flags), target.facts)
    home, last = target.find("").home, max(os.sched_getaffinity(0))
    knobs = {name: rule.pieces[0].value for name, rule in sweep.knobs.items()}
    placement = Placement(server_cpus=(last,), generator_cpus=(last,))
    trial = make_trial(sweep, trial_id="disks-2-r1", level=2.0, disks=2, knobs=knobs, placement=placement)
    plan = Plan(sweep=sweep, trials=(trial,), confounds=(), notes=(), seconds_estimated=1.0)
    trial = replace(trial, subject=replace(trial.subject, home=home))
    homes = {trial.subject.server: home}
    execution = Execution(plan=plan, data_dir=base / "data", client_homes=homes)
    stage, ceilings = PreparedDisks(disks=disks), Ceilings(loadgen_path(), homes)
    orders = Orders(execution=execution, run_id=base.name, program=loadgen_path(), stage=stage, ceilings=ceilings)
    seen = set()
    for event in run_trial(orders.order(trial, "stripe"), current()):
        seen |= {place for place in mounted(base) if list(Path(disks[0].path, "..", place).glob("*disks-2-r1*"))}
    assert isinstance(event, TrialFinished)
    assert event.result.measurement.rows_acked == event.result.measurement.rows_counted == 20_000, event.result.verdict
    assert seen == {"d1"}
    assert disk_of(Path(disks[0].path)).device not in {disk.device for disk in disks}
    assert find_set(name_of_run(base.name)).stripe == 2


def test_what_a_crash_left_striped_is_found_and_removed(base, disks, only_cleaner):
    restripe(base.name, disks)
    save(replace(find_set(name_of_run(base.name)), maker_started=1))
    (left,) = [found for found in leftover_sets() if found.name == name_of_run(base.name)]
    assert left.stripe == 3
    remove_sets([left])
    assert mounted(base) == {}
    assert [found for found in leftover_sets() if found.name == name_of_run(base.name)] == []
