"""A disk sweep from its texts to its plan: what is refused, what is counted, where vnodes would go."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import ProvisionError, UsageError
from scale_sweep.base.units import common_multiple
from scale_sweep.experiment.axes.disks import uneven_parts
from scale_sweep.experiment.work import logical_bytes
from scale_sweep.model.resources import ServerSpec, Site
from scale_sweep.model.samples import DiskSource
from scale_sweep.plan.make import make_plan
from scale_sweep.plan.summary import plan_sentence
from scale_sweep.plan.target_defaults import complete
from scale_sweep.server.runtimes.local import lay_out
from scale_sweep.server.targets import load_target
from scale_sweep.server.targets.tdengine import config
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_sweep, make_trial
from tests.unit.test_plan import make_host

DIRS = "/mnt/a,/mnt/b,/mnt/c"
ARTICLE_ROW = ",".join(
    ["d:double", "b:bigint", *(f"b{n}:binary(5000)" for n in range(1, 6)), *(f"n{n}:nchar(2500)" for n in (1, 2, 3))]
)


def disk_sweep(**flags):
    base = {"axis.disks": "1..3", "disks.dir": DIRS}
    return resolve_sweep("disk", {**base, **{k.replace("__", "."): v for k, v in flags.items()}})


def planned(target="tdengine", **flags):
    module = load_target(target)
    sweep = disk_sweep(target__name=target, **flags)
    return make_plan(complete(sweep, module.facts), make_host(4), module.facts)


@pytest.mark.parametrize(
    ("what", "flags", "texts"),
    [
        ("disk", {}, ("--disks", "missing")),
        ("disk", {"axis.disks": "1..3"}, ("--dir, --device or --loop", "nothing", "--loop 4GiB", "--dir /mnt/")),
        ("disk", {"axis.disks": "1,1.5", "disks.dir": DIRS}, ("--disks", "whole")),
        ("disk", {"axis.disks": "1..4", "disks.dir": DIRS}, ("3 named", "4")),
        ("disk", {"axis.disks": "1..2", "disks.dir": "/mnt/a,/mnt/a"}, ("named twice",)),
        ("disk", {"axis.disks": "1..2", "disks.dir": "a,b"}, ("absolute",)),
        ("disk", {"axis.disks": "1..2", "disks.dir": DIRS, "disks.loop": "1GiB"}, ("--dir and --loop",)),
        ("disk", {"axis.disks": "1..2", "disks.dir": DIRS, "disks.cap": "1MiB/s"}, ("--cap", "--loop")),
        ("disk", {"axis.disks": "1..2", "disks.loop": "1GiB", "disks.cap": "fast"}, ("--cap", "20MiB/s")),
        ("disk", {"axis.disks": "1..2", "disks.dir": DIRS, "disks.format": "1"}, ("--format", "--device")),
        ("disk", {"axis.disks": "1..2", "disks.dir": DIRS, "axis.cores": "1..2"}, ("--cores", "constant")),
        ("cpu", {"axis.disks": "1..2"}, ("--disks", "scale sweep disk")),
    ],
)
def test_what_cannot_be_asked_names_its_flag(what, flags, texts):
    with pytest.raises(UsageError) as caught:
        resolve_sweep(what, flags)
    assert all(text in caught.value.message for text in texts), caught.value.message


def test_a_mistake_about_the_disks_is_told_once():
    device = {"disks.device": "/dev/x,/dev/x", "disks.format": "1"}
    loop = {"disks.loop": "big", "disks.cap": "20MiB/s"}
    for kind, flags in (("device", device), ("loop", loop)):
        with pytest.raises(UsageError, match=rf"\A--{kind}: .*\Z"):
            resolve_sweep("disk", {"axis.disks": "1..2", **flags})


def test_a_flag_says_anew_where_the_disks_come_from(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('[axis]\ndisks = "1..2"\n[disks]\nloop = "1GiB"\ncap = "20MiB/s"\n')
    from_file = resolve_sweep(str(path), {})
    from_flag = resolve_sweep(str(path), {"disks.dir": DIRS})
    assert from_file.disks == DiskSource(kind="loop", loop_bytes=2**30, cap_bytes_per_s=20 * 2**20)
    assert from_flag.disks == DiskSource(kind="dir", dirs=("/mnt/a", "/mnt/b", "/mnt/c"))


def test_default_parts_are_divided_evenly_by_every_number_of_disks():
    assert planned().trials[0].knobs["vgroups"] == planned().trials[0].knobs["commit_threads"] == "12"
    assert planned("postgres").trials[0].knobs["partitions"] == "12"
    assert uneven_parts(planned()) == []
    (uneven,) = uneven_parts(planned(knobs__vgroups="16"))
    assert "6 on" in uneven.sentence and "5 on" in uneven.sentence and "18" in uneven.remedy
    assert not uneven.blocking
    assert uneven_parts(planned(knobs__vgroups="2"))[0].blocking


def test_common_multiple_is_no_number_of_thousands():
    for levels, expected in (((1, 2, 3), 12), ((1, 2, 3, 4, 5), 60), ((7,), 14), ((1,), 12), (range(1, 12), 22)):
        assert common_multiple(tuple(map(float, levels)), 12) == expected


def test_a_row_is_counted_as_the_article_counts_it():
    assert logical_bytes(make_sweep(workload__columns=ARTICLE_ROW).work) == 32_524


def test_a_target_decides_where_the_log_goes_and_refuses_what_it_cannot_do_by_name():
    assert planned().sweep.wal_disk == "data"
    assert planned("postgres").sweep.wal_disk == "off-axis"
    assert planned("postgres", disks__wal="first").sweep.wal_disk == "first"
    refused = {"postgres": {"disks__placement": "tiers"}, "tdengine": {"disks__wal": "first"}, "null": {}}
    for (target, flags), text in zip(refused.items(), ("--disk-placement", "--wal-disk", "cannot be"), strict=True):
        with pytest.raises(UsageError, match=text):
            planned(target, **flags)


SITE = Site(data_dir="/d", port=7030, bind_address="127.0.0.1", home="/h", disks=("/a/t", "/b/t"))
TRIAL = make_trial(knobs={"vgroups": "4", "connections": "4", "commit_threads": "2"})


def test_spread_links_each_vnode_before_the_server_starts_and_tiers_are_several_data_dir_lines():
    spec = config.server_spec(TRIAL, replace(SITE, disk_placement="spread"), adapter=False)
    where = {2: "/a/t", 3: "/b/t", 4: "/a/t", 5: "/b/t"}
    assert spec.links == {f"/d/data/vnode/vnode{n}": f"{disk}/vnode{n}" for n, disk in where.items()}
    assert set(spec.links.values()) <= set(spec.folders)
    assert "dataDir /d/data\n" in spec.files["/d/cfg/taos.cfg"]
    tiers = replace(SITE, disk_placement="tiers")
    assert "dataDir /a/t 0 1\ndataDir /b/t 0 0\n" in config.taos_cfg(TRIAL, tiers)
    assert config.links(tiers, 4) == {}
    plain = config.server_spec(TRIAL, replace(SITE, disks=()), adapter=False)
    assert not plain.links and not plain.setup
    assert "minimalDataDirGB" not in plain.files["/d/cfg/taos.cfg"]


@pytest.mark.parametrize(("length", "vgroups"), [(81, 8), (80, 12)])
def test_a_data_directory_of_which_tdengine_would_die_is_refused(length, vgroups):
    trial = make_trial(knobs={**TRIAL.knobs, "vgroups": str(vgroups)})
    disks = tuple(f"/{name}".ljust(length, "x") for name in "ab")
    longer = (disks[0], disks[1] + "x")

    def spec(disks, disk_placement):
        return config.server_spec(trial, replace(SITE, disks=disks, disk_placement=disk_placement), adapter=False)

    spec(disks, "tiers")
    spec(longer, "spread")
    with pytest.raises(ProvisionError, match=f"{length + 1} characters.* more than {length}"):
        spec(longer, "tiers")


def test_postgres_has_a_tablespace_on_each_disk_and_the_log_where_it_was_asked_for():
    target = load_target("postgres")
    trial = make_trial()
    off = target.server(trial, replace(SITE, wal_disk="off-axis"), "s")
    first = target.server(trial, replace(SITE, wal_disk="first"), "s")
    assert off.folders == ("/a/t/space", "/b/t/space")
    assert not [word for word in off.setup[0] if "waldir" in word]
    assert "--waldir=/a/t/wal" in first.setup[0]


def test_the_plan_says_how_long_the_disks_take_before_the_first_trial():
    """Of folders and of devices with a limit: test_golden."""
    asked = planned("postgres", disks__dir="", disks__loop="1GiB", axis__disks="1")
    assert "after 10 s" in plan_sentence(asked)


def test_what_a_server_wants_is_laid_out_before_it_starts(tmp_path):
    spec = ServerSpec(
        argv=("x",),
        folders=(f"{tmp_path}/d1/vnode2", f"{tmp_path}/log"),
        links={f"{tmp_path}/data/vnode/vnode2": f"{tmp_path}/d1/vnode2"},
        files={f"{tmp_path}/cfg/x.cfg": "secret"},
    )
    lay_out(spec, (str(tmp_path),), None)
    (tmp_path / "data/vnode/vnode2/wal").touch()
    assert (tmp_path / "d1/vnode2/wal").exists()
    assert (tmp_path / "log").is_dir()
    assert (tmp_path / "cfg/x.cfg").stat().st_mode & 0o777 == 0o600
