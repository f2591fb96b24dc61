"""Each rule of attribution on figures that only it explains; the order of the rules; shares over time; what is steady."""

from dataclasses import replace

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.verdict.bottleneck import attribute, bottleneck_of
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.steady import stalled_percent
from scale_sweep.judge.verdict.window_start import is_steady
from scale_sweep.model.measured import BottleneckKind

CORES = load_axis("cores")
GIVEN = TrialResources(
    cores=4.0,
    quota=False,
    generator_cpus=2,
    shared_cpus=(),
    threads=8,
    ceiling_per_s=1e9,
    disk_ceilings_mb_per_s={"d1": 20.0},
)
IDLE = ResourceUse(
    rate_per_s=1e6,
    server_cpu_cores=2.0,
    generator_cpu_cores=0.5,
    other_cpu_cores=0.0,
    throttled=0.0,
    in_flight=0.3,
    disk_busy_percent={"d1": 20.0},
    disk_mb_per_s={"d1": 5.0},
    io_waiting_percent=1.0,
)


ALONE = {"threads": 1}
RULES = {
    BottleneckKind.UNKNOWN: [({}, {}), ({"server_cpu_cores": 2.0, "other_cpu_cores": 0.5}, {})],
    BottleneckKind.SERVER_CPU: [({"server_cpu_cores": 3.7}, {}), ({"workers_busy": 0.83, "server_cpu_cores": 3.9}, {})],
    BottleneckKind.GENERATOR_CEILING: [({"rate_per_s": 0.9e9}, {})],
    BottleneckKind.GENERATOR_CPU: [
        ({"generator_cpu_cores": 1.9}, {}),
        ({"in_flight": 0.15, "workers_busy": 0.83}, ALONE),
    ],
    BottleneckKind.QUOTA: [({"throttled": 0.3, "server_cpu_cores": 3.9}, {"quota": True})],
    BottleneckKind.THROTTLING: [({"throttled": 0.3}, {})],
    BottleneckKind.SHARED_CPU: [({"generator_cpu_cores": 0.9, "server_cpu_cores": 3.0}, {"shared_cpus": (0, 1)})],
    BottleneckKind.OTHER_PROCESSES: [
        ({"other_cpu_cores": 1.8}, {}),
        ({"other_cpu_cores": 0.9, "stolen_cpu_cores": 0.6}, {}),
    ],
    BottleneckKind.HYPERVISOR: [({"other_cpu_cores": 0.4, "stolen_cpu_cores": 1.4}, {})],
    BottleneckKind.CONNECTIONS: [
        ({"in_flight": 0.95}, {}),
        ({"in_flight": 0.95}, ALONE),
        ({"in_flight": 0.95, "workers_busy": 0.05}, ALONE),
        ({"hot_thread": ("postgres", 0.98), "in_flight": 0.95}, ALONE),
    ],
    BottleneckKind.HOT_THREAD: [({"hot_thread": ("vnode-write", 0.98), "in_flight": busy}, {}) for busy in (0.3, 0.95)],
    BottleneckKind.DISK: [
        ({"disk_busy_percent": {"d1": 97.0}}, {}),
        ({"disk_mb_per_s": {"d1": 18.0}}, {}),
        ({"io_waiting_percent": 80.0}, {}),
    ],
    BottleneckKind.MEMORY: [({"memory_waiting_percent": 40.0}, {})],
    BottleneckKind.OFFERED_RATE: [({}, {"offered_per_s": 1e6})],
}


@pytest.mark.parametrize(("kind", "use", "given"), [(kind, *case) for kind, cases in RULES.items() for case in cases])
def test_each_rule_names_its_own_limit(kind, use, given):
    found = bottleneck_of(replace(IDLE, **use), replace(GIVEN, **given), CORES)
    assert found.kind is kind
    assert found.sentence and (found.remedy or kind is BottleneckKind.UNKNOWN)


CROWDED = {"seconds": 10.0, "stalled_s": 3.0, "server_cpu_cores": 0.4, "stalled_cores": 0.1, "stalled_cores_min": 0.02}
CROWDED |= {"stalled_other_cores": 1.83, "stalled_cpu_waiting_percent": 98.0}


def test_a_server_that_others_leave_no_cpu_does_not_stall_by_itself(wording):
    def found(**change):
        return bottleneck_of(replace(IDLE, **{**CROWDED, **change}), replace(GIVEN, cores=2.0), CORES)

    assert found().kind is BottleneckKind.OTHER_PROCESSES
    wording(found().sentence, found().remedy)
    for change in (
        {"stalled_cpu_waiting_percent": 5.0},  # the others used CPUs that were idle
        {"stalled_other_cores": 0.9},  # a core was free
        {"stalled_cores_min": 0.0},  # it was stopped, or slept
        {"stalled_cpu_waiting_percent": None},  # a kernel without PSI
    ):
        assert found(**change).kind is BottleneckKind.STALL


def test_the_words_of_a_full_disk_and_of_the_load_generators_ceiling(wording):
    busy = replace(IDLE, disk_busy_percent={"d1": 97.0})
    assert "vgroups" in bottleneck_of(busy, replace(GIVEN, prepared_disks=1), load_axis("disks")).remedy
    assert "scale sweep disk" in bottleneck_of(busy, replace(GIVEN, disk_ceilings_mb_per_s={}), CORES).remedy
    reads = replace(GIVEN, ceiling_per_s=1000.0, unit="requests/s")
    found = bottleneck_of(replace(IDLE, rate_per_s=900.0), reads, CORES)
    assert found.kind is BottleneckKind.GENERATOR_CEILING
    wording(found.sentence)


def test_the_shares_are_of_the_seconds_and_what_was_not_read_explains_nothing():
    seconds = [replace(IDLE, server_cpu_cores=3.9)] * 6 + [replace(IDLE, disk_busy_percent={"d1": 99.0})] * 2
    found = attribute(replace(IDLE, server_cpu_cores=3.7), seconds, GIVEN, CORES)
    assert (found.kind, found.shares) == (BottleneckKind.SERVER_CPU, {"SERVER_CPU": 75.0, "DISK": 25.0})
    assert bottleneck_of(ResourceUse(), GIVEN, CORES).kind is BottleneckKind.UNREAD
    assert bottleneck_of(ResourceUse(server_cpu_cores=2.0), GIVEN, CORES).kind is BottleneckKind.UNKNOWN


def test_steady_and_stalled():
    rates = {(100, 101, 99, 100, 100): True, (100, 80, 60, 40, 20): False, (100, 100): None}
    assert {one: is_steady(one) for one in rates} == rates
    assert (stalled_percent([100, 100, 100, 5, 100]), stalled_percent([100])) == (20.0, None)


BUSY = BottleneckKind.GENERATOR_CPU


@pytest.mark.parametrize(
    ("use", "kind", "remedy"),
    [
        ({"in_flight": 0.95}, BottleneckKind.CONNECTIONS, "--rows-per-request"),
        ({"generator_cpu_cores": 1.9}, BUSY, "--method"),
        ({"hot_generator_thread": ("scale-loadgen", 0.99)}, BUSY, "--method"),
        ({"in_flight": 0.15, "workers_busy": 0.83}, BUSY, "--method"),
    ],
)
@pytest.mark.parametrize(("unit", "has_rows"), [("rows/s", True), ("requests/s", False)])
def test_larger_requests_and_another_method_are_remedies_for_writes_only(use, kind, remedy, unit, has_rows):
    found = bottleneck_of(replace(IDLE, **use), replace(GIVEN, unit=unit, threads=1), CORES)
    assert found.kind is kind
    assert (remedy in found.remedy) is has_rows
    assert "--generator-cpus" in found.remedy or "--connections" in found.remedy
