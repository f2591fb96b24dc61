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
from scale_sweep.model import DiskCeiling, DiskFigures, DiskSample, Measurement, Sample, SubjectSample
from scale_sweep.report.columns import disk_mb_per_s
from scale_sweep.server.targets import Part
from tests.unit.evidences import evidence_of
from tests.unit.factories import as_rated, make_disk, make_interval, make_trial

NOTHING = SubjectSample(cpu_s_total=None, throttled_s_total=None, memory_bytes=None)


def sample(at_s, **written_mb):
    at_rest = {"read_bytes_total": 0, "writes_total": 0, "busy_s_total": at_s / 2, "queue_s_total": at_s}
    counts = {
        n: {"written_bytes_total": int(mb * 1e6), "free_bytes": int(5e8 - mb * 1e6)} for n, mb in written_mb.items()
    }
    return Sample(
        monotonic_ns=int(at_s * 1e9),
        server=NOTHING,
        generator=NOTHING,
        memory_available_bytes=None,
        psi_some_s_total={},
        thread_cpu_s_total={},
        disks={name: DiskSample(**at_rest, **own) for name, own in counts.items()},
    )


def ceiling(total, each, *names):
    return DiskCeiling(disks=names, write_mb_per_s=total, sync_writes_per_s=None, by_disk=dict.fromkeys(names, each))


ALONE = tuple(ceiling(20.0, 20.0, name) for name in ("d1", "d2", "d3"))
CEILINGS = (*ALONE, ceiling(30.0, 10.0, "d1", "d2", "d3"))


def test_each_disk_beside_its_own_ceiling():
    samples = [sample(0, d1=0, d2=0), sample(10, d1=180, d2=120)]
    found = disk_figures(measure_window(samples, 0, 10 * 10**9), samples, CEILINGS)
    one = found["d1"]
    assert (one.write_mb_per_s, one.share_percent, one.used_percent) == pytest.approx((18, 60, 90))
    assert (one.busy_percent, one.free_gb_min) == pytest.approx((50, 0.32))
    assert found["d2"].used_percent == pytest.approx(60)


@pytest.mark.parametrize(
    ("names", "expected"), [(("d1",), 20), (("d1", "d2"), 30), (("d1", "d2", "d3"), 30), (("d9",), None)]
)
def test_disks_that_share_a_bottleneck_have_a_lower_ceiling_together(names, expected):
    assert ceiling_mb_per_s(CEILINGS, names) == expected


def test_the_part_of_a_database_must_lie_on_its_own_disk(tmp_path):
    disks = [make_disk("d1", tmp_path / "a"), make_disk("d2", tmp_path / "b")]
    folders = [str(tmp_path / "a/t"), str(tmp_path / "b/t")]
    for name in ("a/t/vnode2", "b/t/vnode3", "data/vnode4"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data/vnode2").symlink_to(tmp_path / "a/t/vnode2")
    (tmp_path / "data/vnode3").symlink_to(tmp_path / "b/t/vnode3")
    two, three, four = (
        Part(name=f"vnode {n}", path=str(tmp_path / f"data/vnode{n}"), disk=disk)
        for n, disk in ((2, 0), (3, 1), (4, None))
    )
    assert check_placement([two, three], disks, folders) == {"parts_per_disk": "1,1"}
    with pytest.raises(ProvisionError, match="vnode 2 is on d1, planned was d2"):
        check_placement([replace(two, disk=1)], disks, folders)
    with pytest.raises(ProvisionError, match="vnode 4 is on .*data/vnode4, planned was any"):
        check_placement([four], disks, folders)
    assert check_placement([], disks, folders) == {}


def test_a_disk_about_to_fill_is_named(tmp_path):
    disks = [make_disk("d1", "/mnt/a"), make_disk("d2", "/mnt/b")]
    refuse_full(sample(1, d1=0, d2=400), disks, 64 * 2**20)
    with pytest.raises(LoadError, match=r"disk d2 \(/mnt/b\) is about to fill: 50 MB free"):
        refuse_full(sample(1, d1=0, d2=450), disks, 64 * 2**20)
    sync_disks([make_disk("d1", tmp_path)])


def test_time_without_an_acknowledgement():
    seen = as_rated(make_interval(t_s=t_s, rows=rows) for t_s, rows in ((1, 5), (2, 0), (3.5, 0), (4, 1)))
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
    ("m", "kind"),
    [
        (measured(d1=95.0), "VALID"),
        (measured(d1=95.0, d2=90.0), "VALID"),
        (measured(d1=95.0, d2=61.0), "RESOURCE_NOT_SATURATED"),
        (measured(d1=50.0, d2=90.0), "RESOURCE_NOT_SATURATED"),
        (measured(d1=50.0, cpu=97.0), "RESOURCE_NOT_SATURATED"),
        (measured(d1=95.0, cpu=97.0), "VALID"),
        (measured(d1=50.0, client=97.0), "GENERATOR_BOUND"),
        (measured(d1=95.0, d2=500.0), "ERRORS"),
        (measured(), "RESOURCE_NOT_SATURATED"),
    ],
)
def test_disks_are_judged_by_their_own_ceilings(m, kind):
    assert judged(m, cores=2.0).kind.value == kind


def test_the_reasons_name_the_disks(wording):
    """Those of one disk with a ceiling are in test_diagnosis."""
    busy = Measurement(rows=1, disks={"d1": DiskFigures(write_mb_per_s=20.0, busy_percent=95.0)})
    used = ({"d1": 95.0, "d2": 90.0}, {"d1": 95.0, "d2": 61.0}, {"d1": 50.0, "d2": 90.0}, {"d1": 95.0, "d2": 500.0})
    wording(*(judged(m, cores=2.0).reasons[0] for m in (busy, *(measured(**each) for each in used))))


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
