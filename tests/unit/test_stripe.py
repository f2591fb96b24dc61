"""Striped disks without a disk: where they are refused, and how they are registered. On disks: tests/integration."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import LoadError, ProvisionError
from scale_sweep.machine.disks import prepare, sets
from scale_sweep.machine.disks.playbook import playbook_path, search_path, variables
from scale_sweep.measure.trial.disks import check_placement, refuse_full
from scale_sweep.model.resources import Site
from scale_sweep.model.samples import DataDisk, DiskSource
from scale_sweep.server.targets import Part
from scale_sweep.server.targets.tdengine import config
from tests.unit.factories import make_disk
from tests.unit.test_disk_trial import sample

LOOPS = DiskSource(kind="loop", loop_bytes=2**28, cap_bytes_per_s=2**23)


def disk(number: int, path: str) -> DataDisk:
    size = {"size_bytes": 2**28, "free_bytes": 2**27}
    return make_disk(f"d{number}", path, kind="loop", device=f"7:{number}", block_name=f"loop{number}", **size)


@pytest.fixture
def register(tmp_path, monkeypatch):
    """A register of the test's own."""
    monkeypatch.setattr(sets, "REGISTER", tmp_path / "register")
    monkeypatch.setattr(sets, "REGISTER_OWNER", os.getuid())
    return sets.new_set("run", LOOPS, 3, tmp_path, owner="root", kept=False)


@pytest.mark.parametrize(
    ("source", "has_md", "has_mdadm", "sentence", "remedy"),
    [
        (LOOPS, False, True, "this kernel has no md", "--disk-placement spread"),
        (LOOPS, False, False, "this kernel has no md", "--disk-placement spread"),
        (LOOPS, True, False, "mdadm: not installed", "apt-get install mdadm"),
        (DiskSource(kind="dir", dirs=("/a", "/b")), True, True, "file systems already", "--device with --format"),
    ],
)
def test_where_no_array_can_be_made_it_is_said_with_what_to_use_instead(source, has_md, has_mdadm, sentence, remedy):
    (found,) = prepare.unstripable(source, has_md=has_md, has_mdadm=has_mdadm)
    assert found.blocking
    assert sentence in found.sentence
    assert remedy in found.remedy
    for good in (LOOPS, DiskSource(kind="device", devices=("/dev/sdb",), format=True)):
        assert prepare.unstripable(good, has_md=True, has_mdadm=True) == ()


def test_an_array_is_registered_mounted_at_its_first_place_and_left_over_after_a_crash(register, tmp_path):
    with pytest.raises(ProvisionError, match="the set of disks run is gone"):
        prepare.restripe("run", [disk(1, "/d1")])
    sets.save(register)
    path = sets.folder_of("run") / "state.json"
    path.write_text(path.read_text().replace(',\n "stripe": 0', ""))  # as written before there were arrays
    assert "stripe" not in path.read_text()
    assert sets.find_set("run") == register
    assert [Path(p).name for p in register.paths] == ["d1", "d2", "d3"]
    assert [Path(p).name for p in replace(register, stripe=2).paths] == ["d1"]
    sets.save(replace(register, stripe=3, maker_started=1))
    (left,) = prepare.leftover_sets()
    assert variables(left, "absent")["disks_stripe"] == 3
    for name in ("md", "slaves/sdc", "slaves/sdb"):
        (tmp_path / name).mkdir(parents=True)
    assert prepare.members_of(tmp_path) == []
    for level, members in (("raid1", []), ("raid0", ["sdb", "sdc"])):
        (tmp_path / "md/level").write_text(f"{level}\n")
        assert prepare.members_of(tmp_path) == members


def test_parts_are_counted_on_the_array_and_its_members_fill_together(tmp_path):
    site = Site(
        data_dir="/d", port=7030, bind_address="127.0.0.1", home="/h", disks=("/array/t",), disk_placement="stripe"
    )
    assert (config.data_dirs(site), config.links(site, 12)) == (("/array/t",), {})
    members = [disk(1, str(tmp_path)), disk(2, str(tmp_path))]
    (tmp_path / "t/vnode/vnode2").mkdir(parents=True)
    part = Part(name="vnode 2", path=str(tmp_path / "t/vnode/vnode2"), disk=None)
    assert check_placement([part], members, [str(tmp_path / "t")]) == {"parts_per_disk": "1"}
    with pytest.raises(LoadError, match=r"disk d1\+d2 \(.*\) is about to fill"):
        refuse_full(sample(1, d1=450, d2=450), members, 64 * 2**20)


def test_ansible_takes_the_playbook_and_the_roles_arguments(tmp_path):
    """The array's role with a state that it does not have is refused by its argument specification."""
    program = Path(sys.executable).parent / "ansible-playbook"
    if not program.exists():
        pytest.skip("Ansible is not installed here")
    play = tmp_path / "play.yml"
    play.write_text(
        "- hosts: all\n  gather_facts: false\n  tasks:\n"
        "    - ansible.builtin.include_role: {name: stripe}\n"
        "      vars: {stripe_state: halved, stripe_devices: [/dev/null], stripe_label: sc000001}\n"
    )
    where = {"ANSIBLE_ROLES_PATH": str(playbook_path().parent / "roles"), "ANSIBLE_HOME": str(tmp_path)}
    environment = {**os.environ, "PATH": search_path(), **where}
    local = ("-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}")

    def ansible(*words):
        return subprocess.run([program, *local, *words], env=environment, check=False, capture_output=True, text=True)

    syntax, refused = ansible("--syntax-check", playbook_path()), ansible(play)
    assert syntax.returncode == 0, syntax.stderr
    assert refused.returncode != 0
    assert "present, absent, probed, got: halved" in refused.stdout
