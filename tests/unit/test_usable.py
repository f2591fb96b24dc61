"""What a process may use where its control groups limit it: CPUs and memory, of v1 and v2, with the groups above it."""

from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import doctor
from scale_sweep.machine.host.host_facts import cpu_quota, memory_bytes, memory_left_bytes, quota_group, read_host
from scale_sweep.machine.host.placement import cpu_order, server_cpus_max
from scale_sweep.plan.granted import refuse_ungranted
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.test_plan import make_host, planned

MIB = 2**20
V1 = "4:memory:/a/b\n2:cpu,cpuacct:/a/b\n0::/\n"


def machine(root: Path, groups: str, **files: str) -> Path:
    """A machine of 8 GiB, half of them free. files: below the control groups, with __ for / and _of_ for a dot."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_of_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root


@pytest.mark.parametrize(
    ("groups", "files", "quota"),
    [
        ("0::/a/b\n", {"a__b__cpu_of_max": "150000 100000"}, 1.5),
        ("0::/a/b\n", {"a__b__cpu_of_max": "max 100000", "a__cpu_of_max": "50000 100000"}, 0.5),
        ("0::/a/b\n", {"a__b__cpu_of_max": "max 100000"}, None),
        ("0::/\n", {"cpu_of_max": "50000 100000"}, 0.5),
        ("0::/../../elsewhere\n", {"cpu_of_max": "50000 100000"}, 0.5),
        (V1, {"cpu__a__cpu_of_cfs_quota_us": "50000", "cpu__a__cpu_of_cfs_period_us": "100000"}, 0.5),
        (V1, {"cpu__cpu_of_cfs_quota_us": "50000", "cpu__cpu_of_cfs_period_us": "25000"}, 2.0),
        (V1, {"cpu__a__cpu_of_cfs_quota_us": "-1", "cpu__a__cpu_of_cfs_period_us": "100000"}, None),
        ("", {}, None),
    ],
)
def test_the_least_quota_of_the_groups_counts(tmp_path, groups, files, quota):
    root = machine(tmp_path, groups, **files)
    assert cpu_quota(root) == quota
    assert read_host(root).cpu_quota == quota
    assert bool(quota_group("self", root)) == (quota is not None)


def test_the_group_of_the_least_quota(tmp_path):
    root = machine(tmp_path, "0::/a/b\n", a__b__cpu_of_max="max 100000", a__cpu_of_max="50000 100000")
    assert quota_group("self", root) == str(root / "sys/fs/cgroup/a")


@pytest.mark.parametrize(
    ("groups", "folder", "used", "limit", "cache", "expected"),
    [
        ("0::/a/b\n", "a", 100, 600, 0, (600, 500)),
        ("0::/a/b\n", "a__b", 0, "max", 0, (8192, 4096)),
        ("0::/a/b\n", "a__b", 1, 6144, 0, (6144, 4096)),
        (V1, "memory__a__b", 100, 600, 0, (600, 500)),
        (V1, "memory__a__b", 700, 600, 0, (600, 0)),
        (V1, "memory__a__b", 400, 600, 300, (600, 500)),  # the kernel frees the page cache first
        ("", "", 0, 0, 0, (8192, 4096)),
    ],
)
def test_the_least_limit_of_the_groups_counts(tmp_path, groups, folder, used, limit, cache, expected):
    names = ("usage_in_bytes", "limit_in_bytes") if groups == V1 else ("current", "max")
    values = (str(used * MIB), str(limit * MIB) if isinstance(limit, int) else limit)
    files = {f"{folder}__memory_of_{name}": value for name, value in zip(names, values, strict=True) if folder}
    if cache:
        files[f"{folder}__memory_of_stat"] = f"inactive_file 7\ntotal_inactive_file {cache * MIB}\nhierarchical 1"
    root = machine(tmp_path, groups, **files)
    assert (memory_bytes(root) // MIB, memory_left_bytes(root) // MIB) == expected
    assert read_host(root).memory_bytes == expected[0] * MIB


def test_a_quota_leaves_as_many_cpus_as_can_be_busy_as_the_doctor_says_and_more_are_refused(monkeypatch):
    host = replace(make_host(8), cpu_quota=4.5)
    assert cpu_order(host) == (0, 1, 2, 3)
    assert server_cpus_max(host, (), ()) == 3, "one is the load generator's"
    placements = [trial.placement for trial in planned(host, cores="1..3").trials]
    assert {cpu for p in placements for cpu in (*p.server_cpus, *p.generator_cpus)} == {0, 1, 2, 3}
    limited = replace(make_host(2), cpu_quota=0.5, memory_bytes=600 * MIB)
    monkeypatch.setattr(doctor, "read_host", lambda: limited)
    said = {ability.subject: ability for ability in doctor.examine()}
    assert said["CPUs"].state.startswith("0.5 usable of 2")
    assert (said["memory"].state, said["CPUs"].there) == ("0.6 GB", False)
    for text, asked in (("1..all", "1 core"), ("2", "2 cores"), ("0.6", "0.6 cores")):
        with pytest.raises(UsageError, match=f"--cores: {asked} asked for, the quota .* control group is 0.5 CPUs"):
            refuse_ungranted(resolve_sweep("cpu", {"axis.cores": text}, limited), limited)
    refuse_ungranted(resolve_sweep("cpu", {"axis.cores": "0.25,0.5"}, limited), limited)
