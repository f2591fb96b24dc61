"""Counters read from recorded trees of both cgroup versions, rates over a window, and the sampler's schedule."""

import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.judge.figures.counts_per_second import time_series
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.machine.host.host_facts import kernel_bytes
from scale_sweep.machine.sampling import machine
from scale_sweep.machine.sampling.processes import NOTHING, ProcessTree, ThreadReader, subject_reader
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.model.resources import Accounting
from scale_sweep.model.samples import DiskSample, Sample, SubjectSample
from tests.unit.factories import make_disk


def sample(t_s: float, *, server=None, client=None, disk=None, memory=None, host=None, stolen=None):
    fields = {"written_bytes_total": disk, "busy_s_total": t_s / 2, "queue_s_total": t_s * 3}
    fields |= {"writes_total": (disk or 0) // 4096, "read_bytes_total": 0, "free_bytes": 10**9}
    return Sample(
        monotonic_ns=round(t_s * 1e9),
        server=SubjectSample(cpu_s_total=server, throttled_s_total=0.0, memory_bytes=memory),
        generator=SubjectSample(cpu_s_total=client, throttled_s_total=None, memory_bytes=None),
        disks={} if disk is None else {"d1": DiskSample(**fields)},
        memory_available_bytes=memory,
        psi_some_s_total={},
        thread_cpu_s_total={},
        host_cpu_busy_s_total=host,
        host_cpu_stolen_s_total=stolen,
    )


def test_rates_over_a_window_between_the_ticks():
    samples = [
        sample(t, server=0.9 * t, client=0.2 * t, disk=1_000_000 * t, host=1.5 * t, stolen=0.3 * t) for t in range(11)
    ]
    use = measure_window(samples, 2_500_000_000, 7_500_000_000)
    cores = (use.server_cpu_cores, use.generator_cpu_cores, use.other_cpu_cores, use.stolen_cpu_cores)
    assert cores == pytest.approx((0.9, 0.2, 0.4, 0.3))
    assert (use.disk_write_mb_per_s, use.disk_bytes) == pytest.approx((1.0, 5_000_000))
    assert (use.disk_busy_percent, use.disk_queue) == ({"d1": pytest.approx(50)}, {"d1": pytest.approx(3)})
    samples = [
        replace(sample(t, memory=m), thread_cpu_s_total={"vnode-write": 0.8 * t, "wal": 0.1 * t})
        for t, m in enumerate((3, 9, 5))
    ]
    use = measure_window(samples, 0, 2 * 10**9)
    assert (use.memory_used_bytes_max, use.memory_available_bytes_min) == (9, 3)
    assert use.threads == {"vnode-write": pytest.approx(0.8), "wal": pytest.approx(0.1)}


def test_what_was_not_read_or_covered_is_none_and_never_zero():
    use = measure_window([sample(t) for t in range(5)], 10**9, 3 * 10**9)
    assert (use.server_cpu_cores, use.disk_bytes, use.memory_used_bytes_max, use.io_waiting_percent) == (None,) * 4
    assert measure_window([], 0, 10**9).server_cpu_cores is None
    assert measure_window([sample(t, server=t) for t in range(3)], 0, 10 * 10**9).server_cpu_cores is None


CGROUP1 = {
    "cpuacct.usage": "2500000000\n",
    "cpu.stat": "nr_periods 10\nnr_throttled 2\nthrottled_time 300000000\n",
    "cpuacct.stat": "user 210\nsystem 40\n",
    "memory.stat": "cache 99\nrss 5\ntotal_rss 4096\ntotal_shmem 100\ntotal_pgfault 77\n",
}
CGROUP2 = {
    "cpu.stat": "usage_usec 2500000\nuser_usec 1\nsystem_usec 400000\nnr_periods 3\nthrottled_usec 300000\n",
    "memory.stat": "anon 4096\nfile 9\nshmem 100\npgfault 77\npgmajfault 3\n",
}


@pytest.mark.parametrize(
    ("kind", "controllers", "files"),
    [("cgroup1", ("cpuacct", "cpu", "memory"), CGROUP1), ("cgroup2", ("unified",), CGROUP2)],
)
def test_both_versions_of_cgroups(tmp_path, kind, controllers, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    read = subject_reader(Accounting(kind=kind, paths=dict.fromkeys(controllers, str(tmp_path))))
    known = SubjectSample(cpu_s_total=2.5, throttled_s_total=0.3, memory_bytes=4196)
    assert read() == replace(known, system_s_total=0.4, page_faults_total=77)
    roots = Accounting(kind="processes", root_pids=(os.getpid(),), paths={"cpu": str(tmp_path)})
    assert subject_reader(roots)().throttled_s_total == 0.3
    gone = {"unified": str(tmp_path / "gone")}
    assert subject_reader(Accounting(kind="cgroup2", paths=gone))() == NOTHING


FAULTS = """
import mmap, sys
sys.stdin.readline()
area = mmap.mmap(-1, 100_000 * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.madvise(mmap.MADV_NOHUGEPAGE)
area[::4096] = bytes(100_000)
print("done", flush=True)
sys.stdin.readline()
"""


def test_the_page_faults_of_a_program_that_touches_so_many_pages():
    with subprocess.Popen([sys.executable, "-c", FAULTS], stdin=-1, stdout=-1, text=True) as child:
        read = subject_reader(Accounting(kind="processes", paths={}, root_pids=(child.pid,)))
        before = read()
        child.stdin.write("\n")
        child.stdin.flush()
        assert child.stdout.readline() == "done\n"
        after = read()
        child.stdin.write("\n")
    assert 100_000 <= after.page_faults_total - before.page_faults_total < 110_000
    used_s, system_s = after.cpu_s_total - before.cpu_s_total, after.system_s_total - before.system_s_total
    assert 0 < system_s <= used_s
    rows = time_series((), [replace(sample(t_s), server=server) for t_s, server in ((1, before), (3, after))], 0)
    assert rows[0][1]["server_page_faults_per_s"] == pytest.approx(50_000, rel=0.1)
    assert rows[0][1]["server_system_cores"] == pytest.approx(system_s / 2)


def test_a_process_tree_keeps_what_an_ended_child_had_used():
    busy = "import sys, time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n"
    script = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {busy!r} + 'sys.stdin.read()'])\ntime.sleep(30)"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE) as process:
        try:
            tree = ProcessTree((process.pid,))
            deadline, before = time.monotonic() + 50, 0.0
            while time.monotonic() < deadline and len(tree.pids()) < 2:
                time.sleep(0.01)
            while len(tree.pids()) == 2 and time.monotonic() < deadline:
                now = tree.read().cpu_s_total or 0.0
                assert now >= before
                before = now
                if before >= 0.3:
                    process.stdin.close()
                time.sleep(0.02)
            assert before >= 0.3
            assert (tree.read().cpu_s_total or 0.0) >= before
        finally:
            process.kill()


def test_disks_memory_pressure_and_cpu_of_this_machine_and_stolen_time_is_not_busy(tmp_path):
    names = [line.split()[2] for line in Path("/proc/diskstats").read_text().splitlines()]
    found, none = (machine.disk_samples([make_disk("d1", block_name=name)])["d1"] for name in (names[0], "no disk"))
    assert found.written_bytes_total is not None and found.busy_s_total is not None and found.free_bytes > 0
    assert none.written_bytes_total is None
    assert machine.disk_samples([]) == {}
    assert kernel_bytes("MemAvailable") > 10**6
    assert machine.cpu_times()[""].busy_s > 0
    assert machine.pressure_s(Path("/nonexistent")) == {}
    (tmp_path / "stat").write_text("cpu  100 20 30 9000 40 5 6 700 3 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n")
    assert machine.cpu_times(tmp_path)[""] == (1.61, 7.0)


def test_threads_by_name():
    reader, spinning = ThreadReader(), threading.Event()
    thread = threading.Thread(target=lambda: [None for _ in iter(spinning.is_set, True)], daemon=True)
    thread.start()
    clock, begun = time.pthread_getcpuclockid(thread.ident), time.monotonic()
    try:
        assert reader.read([os.getpid()]).peak_cores == {}
        before = time.clock_gettime(clock)
        while time.clock_gettime(clock) < before + 0.5 or time.monotonic() < begun + 1:
            time.sleep(0.05)
        cores = (time.clock_gettime(clock) - before) / (time.monotonic() - begun)
        found = reader.read([os.getpid()])
    finally:
        spinning.set()
    assert sum(found.cpu_s_total.values()) > 0
    assert 0.5 * cores < max(found.peak_cores.values()) < 1.3


def test_a_thread_that_ended_stays_counted(tmp_path):
    reader = ThreadReader(tmp_path)

    def seconds(**ticks: int) -> int:
        for old in tmp_path.glob("7/task/*"):
            shutil.rmtree(old)
        for number, used in ticks.items():
            folder = tmp_path / "7" / "task" / number.removeprefix("t")
            folder.mkdir(parents=True)
            (folder / "stat").write_text(f"1 (postgres) S {'0 ' * 10}{used} 0 0")
        return round(reader.read([7]).cpu_s_total["postgres"] * os.sysconf("SC_CLK_TCK"))

    assert seconds(t1=100, t2=40) == 140
    assert seconds(t1=110) == 150
    assert seconds(t1=120, t3=5) == 165
    assert seconds(t1=3, t3=5) == 168  # its number belongs to another thread now


def test_the_sampler_keeps_its_schedule_says_what_it_cost_and_does_not_fail_silently():
    seen, own = [], Accounting(kind="processes", root_pids=(os.getpid(),))
    with Sampler(server=None, generator=own, disks=(), hz=10, on_sample=seen.append) as sampler:
        time.sleep(1.05)
    cost = sampler.cost()
    assert cost.ticks + cost.missed_ticks == pytest.approx(10 * cost.wall_s, abs=2)
    assert 0 < cost.cpu_s < cost.wall_s
    assert len(seen) == cost.ticks + 1

    def refuse(_):
        raise OSError("full")

    with pytest.raises(OSError, match="full"), Sampler(server=None, generator=None, disks=(), hz=10, on_sample=refuse):
        time.sleep(0.1)


def test_clock_rates_are_those_of_cpufreq_else_of_cpuinfo(tmp_path):
    (tmp_path / "proc").mkdir()
    cpus = (f"processor\t: {cpu}\ncpu MHz\t\t: {mhz}\n" for cpu, mhz in enumerate((2250.0, 3400.5)))
    (tmp_path / "proc/cpuinfo").write_text("\n".join(cpus))
    assert machine.cpu_mhz((1, 9), tmp_path) == {"1": 3400.5}
    for cpu, khz in ((0, 2100000), (1, 3000000)):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_cur_freq").write_text(f"{khz}\n")
    assert machine.cpu_mhz((0, 1), tmp_path) == {"0": 2100.0, "1": 3000.0}
    assert machine.cpu_mhz((), tmp_path) == {}


def test_what_threads_wait_for(tmp_path):
    """A disk, now, and a CPU, together since the first reading."""

    def written(states, queued_ns):
        for number, state in enumerate(states):
            folder = tmp_path / "7/task" / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "stat").write_text(f"{number} (server {number}) {state} {' '.join('0' * 40)}")
            (folder / "schedstat").write_text(f"5 {queued_ns} 9\n")
        return reader.read((7,))

    reader = ThreadReader(tmp_path)
    first, then = written("RSD", 10**9), written("DSD", 3 * 10**9)
    assert (first.disk_waits, first.queued_s_total, then.disk_waits, then.queued_s_total) == (1, 0.0, 2, 6.0)
