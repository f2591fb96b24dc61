"""New memory pages: what they cost, the limits of the probe, and memory that is held for a server."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scale_sweep.machine.host import child_programs, memory_pages
from scale_sweep.machine.host.child_programs import HeldMemory, judged, measure_new_pages
from scale_sweep.machine.host.memory_pages import AHEAD_BYTES, FIRST, HELD_BYTES, TOUCHED_BYTES, Holder
from scale_sweep.measure.machine_setup import memory_of_run
from tests.needs import need

GB = 10**9
BUSY_S = 120.0  # on a busy machine the usual 10 s give the child little CPU time
# Each page of a mapping costs COST_NS more of CPU time once CHEAP_BYTES were mapped in large pieces.
SLOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static size_t mapped;
static long long cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}
void *mmap(void *at, size_t size, int rights, int flags, int file, off_t offset) {
    void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");
    if (size >= 16u << 20 && (mapped += size) > strtoull(getenv("CHEAP_BYTES"), 0, 10)) {
        long long end = cpu_ns() + (long long)(size / 4096) * atoll(getenv("COST_NS"));
        while (cpu_ns() < end) {}
    }
    return real(at, size, rights, flags, file, offset);
}
void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));
"""


@pytest.fixture
def measured(monkeypatch):
    monkeypatch.delenv(child_programs.NEW_PAGES_SWITCH, raising=False)


@pytest.fixture
def slow(tmp_path, monkeypatch, measured):
    """Makes pages of the child 20 µs dearer after 320 MiB."""
    compiler = need("cc")
    source, library = tmp_path / "slow.c", tmp_path / "slow.so"
    source.write_text(SLOW)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    monkeypatch.setenv("CHEAP_BYTES", str((10 + FIRST) * TOUCHED_BYTES))
    monkeypatch.setenv("COST_NS", "20000")
    monkeypatch.setenv("LD_PRELOAD", str(library))


def test_a_cost_that_begins_after_some_bytes_is_measured(slow):
    found = measure_new_pages(GB, limit_s=BUSY_S)
    assert found is not None and found.are_dear
    assert 0 < found.cheap_bytes <= 10 * TOUCHED_BYTES, "the host's own pages may be dear before that"
    assert found.last_us > found.first_us
    assert found.touched_bytes == found.cheap_bytes + 8 * TOUCHED_BYTES, "it ends when it knows the cost of dear pages"
    assert f"{found.last_us:.1f} µs" in found.sentence and f"{found.cheap_bytes / GB:.1f} GB" in found.sentence


def test_pages_are_measured_until_their_cost_is_known(measured, monkeypatch):
    found = measure_new_pages(9 * TOUCHED_BYTES, limit_s=BUSY_S)
    assert found is not None and 0 < found.first_us < 1000
    assert found.touched_bytes == 9 * TOUCHED_BYTES
    assert measure_new_pages(7 * TOUCHED_BYTES) is None
    monkeypatch.setenv(child_programs.NEW_PAGES_SWITCH, "off")
    assert measure_new_pages(GB) is None
    program = Path(memory_pages.__file__)
    command = [sys.executable, "-I", "-S", str(program), "touch", str(2**31), "10"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert child.stdout is not None and os.read(child.stdout.fileno(), 1)
    child.stdout.close()
    assert child.wait(timeout=60) == 0


@pytest.mark.parametrize(("left", "pieces"), [(40, 20), (20, 10)])
def test_half_of_the_memory_that_is_left_is_touched(measured, monkeypatch, left, pieces):
    monkeypatch.setattr(child_programs, "memory_left_bytes", lambda: left * TOUCHED_BYTES)
    found = measure_new_pages(GB * 100, limit_s=BUSY_S)
    assert found is not None
    assert found.touched_bytes <= pieces * TOUCHED_BYTES
    assert found.are_dear or found.touched_bytes == pieces * TOUCHED_BYTES


def test_costs_of_pieces_are_judged(wording):
    alone = judged([1.0] * 12 + [30.0] + [1.0] * 7, 0)
    assert alone is not None and not alone.are_dear, "a single dear piece is no rise"
    rising = judged([1.2] * (24 + FIRST) + [11.8] * 8, 0)
    assert rising is not None and rising.cheap_bytes == 24 * TOUCHED_BYTES
    assert judged([1.0] * 15, 0) is None
    touched_again = judged([12.0] * FIRST + [1.5] * FIRST + [13.0] * 4, 0)
    assert touched_again is not None and touched_again.cheap_bytes == 0
    wording(touched_again.sentence)


GIB = 2**30
WANTED = 2**28


def holders() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "memory_pages.py hold" in " ".join(one.cmdline())]


class Machine:
    """A file that says how much memory is free, as the kernel's does, and a holder that looks there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "meminfo"
        self.free(8 * GIB)
        self.holder = Holder(WANTED // HELD_BYTES, str(self.path))

    def free(self, count: int, available: int = 12 * GIB) -> None:
        told = {"MemTotal": 16 * GIB, "MemFree": count, "MemAvailable": available}
        self.path.write_text("".join(f"{name}:  {size // 1024} kB\n" for name, size in told.items()))


def test_as_much_is_freed_as_others_took_and_no_more_held_than_is_left_to_them(tmp_path):
    machine = Machine(tmp_path)
    holder = machine.holder
    assert holder.take(60) == WANTED
    machine.free(8 * GIB + AHEAD_BYTES)
    assert holder.give() and holder.take(60) == WANTED, "enough is free: nothing was freed"
    machine.free(8 * GIB)
    assert holder.take(60) == WANTED
    machine.free(8 * GIB + AHEAD_BYTES - 3 * HELD_BYTES + 1)
    assert holder.give() and len(holder) == WANTED - 3 * HELD_BYTES
    machine.free(7 * GIB)
    assert not holder.give() and len(holder) == 0
    assert holder.take(0) == 0, "no time"
    assert holder.take(60) == WANTED
    other = Machine(tmp_path)
    other.free(GIB, available=3 * HELD_BYTES)
    assert other.holder.take(60) == 3 * HELD_BYTES


def test_the_program_holds_until_its_input_ends():
    with HeldMemory(WANTED, sorted(os.sched_getaffinity(0))) as held:
        assert held.take() == WANTED
        (holder,) = holders()
        assert Path(f"/proc/{holder.pid}/oom_score_adj").read_text().strip() == "1000"
        assert held.take() == WANTED
    assert not holders()
    program = Path(memory_pages.__file__)
    child = subprocess.Popen([sys.executable, "-I", "-S", program, "hold", "1"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=50) == 0


@pytest.mark.parametrize("wanted", [0, WANTED])
def test_a_run_holds_memory_only_where_the_plan_says_so_and_a_killed_holder_stops_no_run(wanted):
    said: list[str] = []
    with memory_of_run(wanted, (min(os.sched_getaffinity(0)),), said.append) as before_trial:
        before_trial()
        assert (len(holders()), said) == (bool(wanted), [])
        for holder in holders():
            holder.kill()
            before_trial()
    assert ["0.0 GB" in one for one in said] == [True] * bool(wanted)
