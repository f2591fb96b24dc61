"""Bottlenecks, where one figure of the whole machine hides it: per CPU, per thread, second by second."""

import threading
from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.resource_use import longest_stall, others_on_its_cpus, window_use
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.judge.verdict.bottleneck import bottleneck_of
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.machine.sampling import machine, processes
from scale_sweep.machine.sampling.processes import ThreadReader
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.machine.sampling.waits import WaitReader
from scale_sweep.model.measured import BottleneckKind
from scale_sweep.model.resources import Placement
from scale_sweep.model.samples import DiskSample, Sample, SubjectSample
from scale_sweep.plan.preparing import machine_findings as preparing
from scale_sweep.sweep.resolve import resolve_sweep
from tests.unit.factories import make_trial
from tests.unit.test_attribution import CORES, GIVEN, IDLE
from tests.unit.test_diagnosis import GOOD
from tests.unit.test_loadgen import summary
from tests.unit.test_open_loop import intervals

FOUR = replace(GIVEN, generator_cpus=4)
BACKENDS = {"hot_thread": ("postgres", 0.85)}
LOCKED = {"lock: tuple": 0.5, "lock: transactionid": 0.25, "": 0.25}
STOPPED = {"seconds": 8.0, "in_flight": 0.97, "stalled_s": 3.0, "stalled_cores": 0.0, "server_cpu_cores": 1.2}


@pytest.mark.parametrize(
    ("given", "use", "kind"),
    [
        (GIVEN, {"server_cpu_cores": 3.8, "generator_cpu_cores": 1.9}, BottleneckKind.SERVER_CPU),
        (FOUR, {"generator_cpu_cores": 1.1, "hot_generator_thread": ("x", 0.97)}, BottleneckKind.GENERATOR_CPU),
        (FOUR, {"generator_cpu_cores": 1.1, "hot_generator_thread": ("x", 0.6)}, BottleneckKind.UNKNOWN),
        (GIVEN, {**BACKENDS, "disk_busy_percent": {"d1": 99.0}}, BottleneckKind.DISK),
        (GIVEN, {**BACKENDS, "hot_thread_median": 0.84}, BottleneckKind.UNKNOWN),
        (GIVEN, {"hot_thread": ("vnode-write", 0.95), "hot_thread_median": 0.4}, BottleneckKind.HOT_THREAD),
        (GIVEN, {"hot_thread": ("vnode-commit", 0.85)}, BottleneckKind.HOT_THREAD),  # the only one of its name
        (GIVEN, {**STOPPED, "stalled_s": 1.0}, BottleneckKind.CONNECTIONS),
        (GIVEN, {**STOPPED, "io_waiting_percent": 90.0}, BottleneckKind.DISK),
        (GIVEN, {"in_flight": 0.95, "waits": {"IO: WALSync": 0.8, "": 0.2}}, BottleneckKind.CONNECTIONS),
        (GIVEN, {"in_flight": 0.95, "waits": {"lock: tuple": 0.3, "": 0.7}}, BottleneckKind.CONNECTIONS),
        (GIVEN, {"disk_busy_percent": {"d1": 97.0}, "waits": LOCKED}, BottleneckKind.DISK),
        (GIVEN, {"in_flight": 0.95, "network": {"eth0 received": 0.5}}, BottleneckKind.CONNECTIONS),
    ],
)
def test_what_is_busy_or_waits_beside_the_cpus_is_named(given, use, kind):
    assert bottleneck_of(replace(IDLE, **use), given, CORES).kind is kind


@pytest.mark.parametrize(
    ("use", "kind", "bottleneck", "once_checked"),
    [
        ({"server_cpu_cores": 3.8, "generator_cpu_cores": 2.0}, "GENERATOR_BOUND", "GENERATOR_CPU", None),
        (STOPPED, "RESOURCE_NOT_SATURATED", "STALL", None),
        ({**STOPPED, "stalled_cores": 1.9}, "RESOURCE_NOT_SATURATED", "STALL", None),
        ({"in_flight": 0.95, "waits": LOCKED}, "RESOURCE_NOT_SATURATED", "LOCKS", "SOFTWARE_BOTTLENECK"),
        ({"in_flight": 0.95, "network": {"eth0 received": 0.93}}, "RESOURCE_NOT_SATURATED", "NETWORK", None),
    ],
    ids=["generator", "stopped", "ran", "locks", "network"],
)
def test_a_verdict_says_what_was_busy_or_waited(use, kind, bottleneck, once_checked, wording):
    verdict = diagnose(Evidence(resources=GIVEN, measurement=GOOD, window=replace(IDLE, **use)), CORES)
    assert (verdict.kind, verdict.bottleneck.kind, verdict.once_checked) == (kind, bottleneck, once_checked)
    assert verdict.reasons[0].endswith(verdict.bottleneck.sentence)
    wording(verdict.reasons[0])


def test_the_others_of_a_name_are_those_that_worked(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(processes.time, "monotonic", lambda: now[0])

    def write(ticks):
        now[0] += 1.0
        for tid, used in ticks.items():
            (tmp_path / f"7/task/{tid}").mkdir(parents=True, exist_ok=True)
            fields = " ".join(["0"] * 10 + [str(used), "0"] + ["0"] * 10)
            (tmp_path / f"7/task/{tid}/stat").write_text(f"{tid} (worker_{tid}) S {fields}")

    write({1: 0, 2: 0, 3: 0, 4: 0})
    reader = ThreadReader(tmp_path)
    reader.read([7])
    write({1: 10**6, 2: 5 * 10**5, 3: 3 * 10**5, 4: 0})
    found = reader.read([7])
    assert found.median_cores["worker"] == pytest.approx(0.4 * found.peak_cores["worker"])
    write({1: 2 * 10**6, 2: 5 * 10**5, 3: 3 * 10**5, 4: 0})
    assert "worker" not in reader.read([7]).median_cores


def sample(at_s, busy, server, generator=0.0):
    return Sample(
        monotonic_ns=round(at_s * 1e9),
        memory_available_bytes=None,
        psi_some_s_total={},
        thread_cpu_s_total={},
        server=SubjectSample(cpu_s_total=server, throttled_s_total=None, memory_bytes=None),
        generator=SubjectSample(cpu_s_total=generator, throttled_s_total=None, memory_bytes=None),
        host_cpu_busy_s_total=sum(busy.values()),
        cpu_busy_s_total={str(cpu): s for cpu, s in busy.items()},
    )


def test_a_neighbour_on_other_cpus_of_a_large_machine_takes_nothing_from_the_server():
    """Eight CPUs are busy elsewhere; the server lacks one of its two, because its disk is full."""
    placement = Placement(server_cpus=(0, 1), generator_cpus=(2,))
    trial = make_trial(cores=2.0, placement=placement)
    before = dict.fromkeys(range(16), 0.0)
    after = {**before, 0: 5.0, 1: 5.2, 2: 1.0, **dict.fromkeys(range(8, 16), 10.0)}
    samples = (sample(0, before, 0.0), sample(10, after, 10.0, 1.0))
    use = measure_window(samples, 0, 10**10)
    assert use.other_cpu_cores == pytest.approx(8.02)
    assert use.cpus[0] == pytest.approx(0.5)
    own = others_on_its_cpus(trial, use, 0.1)
    assert own == pytest.approx(0.02)
    busy, two = replace(IDLE, server_cpu_cores=1.0, disk_busy_percent={"d1": 99.0}), replace(GIVEN, cores=2.0)
    hidden = bottleneck_of(replace(busy, other_cpu_cores=use.other_cpu_cores), two, CORES)
    assert hidden.kind is BottleneckKind.OTHER_PROCESSES
    assert bottleneck_of(replace(busy, other_cpu_cores=own), two, CORES).kind is BottleneckKind.DISK


def large_host(disk_busy=0.0, neighbours=0.0, stolen=0.0, generator=0.3, hot=0.3):
    """What the rules look at on sixteen CPUs for 10 s: the server has two and uses one core, the load generator has four
    and uses `generator` of them, its busiest thread `hot`; `neighbours` and `stolen` are of each of eight other CPUs."""
    placement = Placement(server_cpus=(0, 1), generator_cpus=(2, 3, 4, 5))
    samples = []
    for second in range(11):
        busy = dict.fromkeys(range(16), second * neighbours)
        busy |= {0: second * 0.5, 1: second * 0.5, **dict.fromkeys(range(2, 6), second * generator / 4)}
        taken = {str(cpu): second * stolen * (cpu >= 8) for cpu in range(16)}
        nothing = dict.fromkeys(("read_bytes_total", "writes_total", "written_bytes_total", "queue_s_total"), 0)
        more = {
            "cpu_stolen_s_total": taken,
            "host_cpu_stolen_s_total": sum(taken.values()),
            "disks": {"d1": DiskSample(busy_s_total=second * disk_busy, free_bytes=None, **nothing)},
            "generator_peak_cores": {"scale-loadgen": hot},
        }
        samples.append(replace(sample(second, busy, 1.0 * second, generator * second), **more))
    loaded = summary([100.0], cpu_window_s=10 * generator, worker_cores=generator, threads=8, make_s=3.0)
    trial = make_trial(cores=2.0, placement=placement)
    return window_use(trial, TrialFacts(samples=tuple(samples)), loaded, [])


TWO_OF_SIXTEEN = replace(GIVEN, cores=2.0, generator_cpus=4)


def test_what_happens_on_other_cpus_of_a_large_host_hides_no_full_disk_and_no_hot_thread():
    for busy in ({"neighbours": 1.0}, {"stolen": 0.5}, {"neighbours": 0.5, "stolen": 0.4}):
        use = large_host(disk_busy=0.99, **busy)
        assert use.taken_cores == pytest.approx(0.0)
        assert bottleneck_of(use, TWO_OF_SIXTEEN, CORES).kind is BottleneckKind.DISK
        assert bottleneck_of(large_host(**busy), TWO_OF_SIXTEEN, CORES).kind is BottleneckKind.UNKNOWN
    found = bottleneck_of(large_host(generator=1.2, hot=0.97, neighbours=1.0), TWO_OF_SIXTEEN, CORES)
    assert found.kind is BottleneckKind.GENERATOR_CPU
    assert "scale-loadgen" in found.sentence and "97 %" in found.sentence
    assert bottleneck_of(large_host(generator=1.2, hot=0.3), TWO_OF_SIXTEEN, CORES).kind is BottleneckKind.UNKNOWN


def test_each_cpu_is_read_and_the_shares_of_the_waits_are_of_the_window(tmp_path):
    (tmp_path / "stat").write_text("cpu 4 0 0 9 9 0 0 0\ncpu0 300 0 100 9 9 0 0 7\ncpu1 100 0 0 9 9 0 0 0\nintr 5\n")
    assert machine.cpu_times(tmp_path) == {"": (0.04, 0.0), "0": (4.0, 0.07), "1": (1.0, 0.0)}
    assert machine.cpu_times(tmp_path / "none") == {}

    def at(second, **totals):
        return replace(sample(second, {0: float(second)}, float(second)), waits_total=totals)

    inside = (at(1, tuple=10.0), at(2, tuple=13.0, cpu=1.0), at(3, tuple=13.0, cpu=7.0))
    assert measure_window(inside, 10**9, 3 * 10**9).waits == pytest.approx({"tuple": 0.3, "cpu": 0.7})
    assert measure_window(inside[:1], 10**9, 3 * 10**9).waits == {}


def with_rows(rows, longest_us=1000.0):
    seconds = zip(intervals([None] * len(rows)), rows, strict=True)
    return [replace(i, rows=n, monotonic_ns=round(1e9 * i.t_s), response_us_max=longest_us) for i, n in seconds]


def test_the_longest_stall_of_a_window_is_one_on_every_axis():
    assert longest_stall(with_rows([5, 5, 5])) is None
    assert longest_stall([]) is None
    stall = longest_stall(with_rows([5, 0, 5, 0, 0, 5], longest_us=2.97e6))
    assert (stall.start_ns, stall.end_ns) == (3 * 10**9, 5 * 10**9)
    assert stall.seconds == pytest.approx(2.97)
    assert longest_stall(with_rows([0, 0, 5])).seconds == pytest.approx(2.0)
    assert longest_stall(with_rows([5, 0, 0])).seconds == pytest.approx(2.0)
    assert bottleneck_of(replace(IDLE, **STOPPED), GIVEN, load_axis("clients")).kind is BottleneckKind.STALL


def test_waits_are_asked_beside_the_other_counters_and_who_hangs_or_ends_holds_up_nobody():
    asked, hangs = threading.Event(), threading.Event()

    def ask():
        asked.set()
        hangs.wait(50)
        return {"lock: tuple": 2}

    sampler = Sampler(server=None, generator=None, disks=(), hz=10, on_sample=lambda seen: None, waits=ask)
    with sampler:
        assert asked.wait(50)
        assert sampler.take().waits_total == {}
        hangs.set()
        while not sampler.take().waits_total:
            pass
    assert sampler.take().waits_total["lock: tuple"] >= 2

    def ask():
        raise RuntimeError("the connection was lost")

    reader = WaitReader(ask)
    reader.start()
    reader.stop()
    assert reader.totals() == {}


def test_only_interfaces_with_hardware_and_a_speed_are_read_and_one_that_is_said_must_be_there(tmp_path):
    for name, speed in (("eth0", "1000"), ("veth1", "10000"), ("eth1", "-1"), ("lo", "")):
        (tmp_path / name / "statistics").mkdir(parents=True)
        (tmp_path / name / "speed").write_text(speed)
        (tmp_path / name / "statistics/rx_bytes").write_text("7\n")
        (tmp_path / name / "statistics/tx_bytes").write_text("9\n")
        if name.startswith("eth"):
            (tmp_path / name / "device").mkdir()
    assert machine.network_speeds(net=tmp_path) == {"eth0": 1.25e8}
    assert machine.network_speeds({"veth1": 4e7, "eth0": 1e10}, tmp_path) == {"veth1": 5e6, "eth0": 1.25e9}
    assert machine.network_bytes_total(machine.network_speeds(net=tmp_path), tmp_path) == {
        "eth0 received": 7.0,
        "eth0 sent": 9.0,
    }
    assert machine.network_speeds(net=tmp_path / "none") == {}
    old = replace(sample(0, {0: 0.0}, 0.0), network_bytes_per_s={"eth0": 1.25e8}, network_bytes_total={"eth0 sent": 0})
    new = replace(old, monotonic_ns=10**10, network_bytes_total={"eth0 sent": 1e9})
    assert measure_window((old, new), 0, 10**10).network == {"eth0 sent": pytest.approx(0.8)}
    sweep = resolve_sweep("cpu", {"axis.cores": "1", "method.network_speed": ["eth0=10Gbit", "veth1 = 40 mbit/s"]})
    assert sweep.network_bits_per_s == {"eth0": 1e10, "veth1": 4e7}
    assert resolve_sweep("cpu", {"axis.cores": "1"}).network_bits_per_s == {}
    for wrong in ("eth0", "eth0=fast", "eth0=0Mbit", "eth0=10"):
        with pytest.raises(UsageError, match="network-speed|network_speed"):
            resolve_sweep("cpu", {"axis.cores": "1", "method.network_speed": [wrong]})
    (tmp_path / "other/eth0").mkdir(parents=True)
    (finding,) = preparing.interfaces(sweep.network_bits_per_s, tmp_path / "other")
    assert finding.blocking and "veth1" in finding.sentence and "eth0" in finding.remedy
