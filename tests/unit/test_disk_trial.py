"""The disks of a trial: proof of placement, room watched, shares counted, and what a verdict makes of it."""

import os
from dataclasses import replace

import pytest

from scale_sweep.base.errors import LoadError, ProvisionError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.disk_figures import ceiling_mb_per_s, disk_figures, stalled_s
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict import diagnose
from scale_sweep.measure.trial.disks import bytes_at_rest, check_placement, refuse_full, sync_disks
from scale_sweep.model import (
    DiskCeiling,
    DiskFigures,
    DiskSample,
    Measurement,
    Sample,
    SubjectSample,
)
from scale_sweep.report.columns import disk_mb_per_s
from scale_sweep.server.targets import Part
from tests.unit.evidences import evidence_of
from tests.unit.factories import as_rated, make_disk, make_interval, make_trial

NOTHING = SubjectSample(cpu_s_total=None, throttled_s_total=None, memory_bytes=None)


def sample(at_s, **written_mb):
    disks = {
        name: DiskSample(
            written_bytes_total=int(mb * 1e6),
            read_bytes_total=0,
            writes_total=0,
            busy_s_total=at_s / 2,
            queue_s_total=at_s,
            free_bytes=int(5e8 - mb * 1e6),
        )
        for name, mb in written_mb.items()
    }
    return Sample(
        monotonic_ns=int(at_s * 1e9),
        server=NOTHING,
        generator=NOTHING,
        memory_available_bytes=None,
        psi_some_s_total={},
        thread_cpu_s_total={},
        disks=disks,
    )


CEILINGS = (
    DiskCeiling(disks=("d1",), write_mb_per_s=20.0, sync_writes_per_s=None, by_disk={"d1": 20.0}),
    DiskCeiling(disks=("d2",), write_mb_per_s=20.0, sync_writes_per_s=None, by_disk={"d2": 20.0}),
    DiskCeiling(disks=("d3",), write_mb_per_s=20.0, sync_writes_per_s=None, by_disk={"d3": 20.0}),
    DiskCeiling(
        disks=("d1", "d2", "d3"),
        write_mb_per_s=30.0,
        sync_writes_per_s=None,
        by_disk={"d1": 10.0, "d2": 10.0, "d3": 10.0},
    ),
)


def test_each_disk_beside_its_own_ceiling():
    samples = [sample(0, d1=0, d2=0), sample(10, d1=180, d2=120)]
    found = disk_figures(measure_window(samples, 0, 10 * 10**9), samples, CEILINGS)
    assert found["d1"].write_mb_per_s == pytest.approx(18)
    assert found["d1"].share_percent == pytest.approx(60)
    assert found["d1"].used_percent == pytest.approx(90)
    assert found["d2"].used_percent == pytest.approx(60)
    assert found["d1"].busy_percent == pytest.approx(50)
    assert found["d1"].free_gb_min == pytest.approx(0.32)


@pytest.mark.parametrize(
    ("names", "expected"), [(("d1",), 20), (("d1", "d2"), 30), (("d1", "d2", "d3"), 30), (("d9",), None)]
)
def test_disks_that_share_a_bottleneck_have_a_lower_ceiling_together(names, expected):
    assert ceiling_mb_per_s(CEILINGS, names) == expected


def test_the_part_of_a_database_must_lie_on_its_own_disk(tmp_path):
    disks = [make_disk("d1", tmp_path / "a"), make_disk("d2", tmp_path / "b")]
    folders = [str(tmp_path / "a/t"), str(tmp_path / "b/t")]
    for name in ("a/t/vnode2", "b/t/vnode3", "data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data/vnode2").symlink_to(tmp_path / "a/t/vnode2")
    (tmp_path / "data/vnode3").symlink_to(tmp_path / "b/t/vnode3")
    parts = [Part(name=f"vnode {n}", path=str(tmp_path / f"data/vnode{n}"), disk=n - 2) for n in (2, 3)]
    assert check_placement(parts, disks, folders) == {"parts_per_disk": "1,1"}
    with pytest.raises(ProvisionError, match="vnode 2 is on d1, planned was d2"):
        check_placement([replace(parts[0], disk=1)], disks, folders)
    (tmp_path / "data/vnode4").mkdir()
    with pytest.raises(ProvisionError, match="vnode 4 is on .*data/vnode4, planned was any"):
        check_placement([Part(name="vnode 4", path=str(tmp_path / "data/vnode4"), disk=None)], disks, folders)
    assert check_placement([], disks, folders) == {}


def test_a_disk_about_to_fill_is_named(tmp_path):
    disks = [make_disk("d1", "/mnt/a"), make_disk("d2", "/mnt/b")]
    refuse_full(sample(1, d1=0, d2=400), disks, 64 * 2**20)
    with pytest.raises(LoadError, match=r"disk d2 \(/mnt/b\) is about to fill: 50 MB free"):
        refuse_full(sample(1, d1=0, d2=450), disks, 64 * 2**20)
    sync_disks([make_disk("d1", tmp_path)])


def test_time_without_an_acknowledgement():
    def interval(t_s, rows):
        return make_interval(t_s=t_s, rows=rows)

    seen = as_rated([interval(1, 5), interval(2, 0), interval(3.5, 0), interval(4, 1)])
    assert stalled_s(seen) == pytest.approx(2.5)
    assert stalled_s([]) is None


def measured(cpu=20.0, client=20.0, **used):
    figures = {k: DiskFigures(write_mb_per_s=20.0, used_percent=v, busy_percent=1.0) for k, v in used.items()}
    return Measurement(
        rows=1, disks=figures, server_cpu_percent=cpu, server_cpu_cores=cpu / 50, generator_cpu_percent=client
    )


def judged(m, **trial):
    """In a sweep of disks, on as many as the figures have."""
    return diagnose(evidence_of(make_trial(disks=max(1, len(m.disks)), **trial), m), load_axis("disks"))


@pytest.mark.parametrize(
    ("m", "kind", "text"),
    [
        (measured(d1=95.0), "VALID", "the disk was used fully (d1 95 % of its ceiling)"),
        (measured(d1=95.0, d2=90.0), "VALID", "the new disk d2 was used fully, and so were the others"),
        (measured(d1=95.0, d2=61.0), "RESOURCE_NOT_SATURATED", "the new disk d2 was not used fully (d1 95 %, d2 61 %"),
        (measured(d1=50.0, d2=90.0), "RESOURCE_NOT_SATURATED", "the new disk d2 was used fully, d1 not"),
        (
            measured(d1=50.0, cpu=97.0),
            "RESOURCE_NOT_SATURATED",
            "the server's cores were the bottleneck and not its disks",
        ),
        (measured(d1=95.0, cpu=97.0), "VALID", "used fully"),
        (measured(d1=50.0, client=97.0), "GENERATOR_BOUND", "the load generator's CPUs were 97 % busy"),
        (measured(d1=95.0, d2=500.0), "ERRORS", "d2 wrote far more than its ceiling"),
        (measured(), "RESOURCE_NOT_SATURATED", "could not be read"),
    ],
)
def test_disks_are_judged_by_their_own_ceilings(m, kind, text):
    verdict = judged(m, cores=2.0)
    assert verdict.kind.value == kind
    assert text in verdict.reasons[0]


def test_without_a_ceiling_the_kernels_busy_time_judges():
    m = Measurement(rows=1, disks={"d1": DiskFigures(write_mb_per_s=20.0, busy_percent=95.0)})
    assert judged(m).reasons[0] == "the disk was used fully (d1 95 % busy)"


def test_a_disk_sweep_tells_the_disks_rate_to_the_end_of_the_flush():
    """A short load stays in buffers: the disks are idle in the window and busy after it."""
    whole = replace(measured(d1=95.0, d2=90.0), disk_write_mb_per_s=0.5)
    assert disk_mb_per_s(load_axis("disks"), whole) == 40.0
    assert disk_mb_per_s(load_axis("cores"), whole) == 0.5
    assert disk_mb_per_s(load_axis("disks"), replace(whole, disks={})) == 0.5


def test_a_directory_that_a_server_removes_meanwhile_takes_no_space(tmp_path, monkeypatch):
    for name in ("kept", "gone"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_bytes(b"x" * 10_000)
    scan = os.scandir

    def scandir(path):
        if str(path).endswith("gone"):
            raise FileNotFoundError(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert bytes_at_rest((str(tmp_path), "")) == (tmp_path / "kept" / "file").stat().st_blocks * 512 > 0
