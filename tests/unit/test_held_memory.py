"""Memory that is held for a server: taken, freed as others take memory, taken again, and gone with its holder."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from scale_sweep.machine.host import hold_pages
from scale_sweep.machine.host.held_memory import HeldMemory
from scale_sweep.machine.host.hold_pages import AHEAD_BYTES, PIECE_BYTES, Holder
from scale_sweep.measure.machine_setup import memory_of_run

GB = 2**30
WANTED = 2**28


def holders() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "hold_pages.py" in " ".join(one.cmdline())]


class Machine:
    """A file that says how much memory is free, as the kernel's does, and a holder that looks there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "meminfo"
        self.free(8 * GB)
        self.holder = Holder(WANTED // PIECE_BYTES, str(self.path))

    def free(self, count: int, available: int = 12 * GB) -> None:
        told = {"MemTotal": 16 * GB, "MemFree": count, "MemAvailable": available}
        self.path.write_text("".join(f"{name}:  {size // 1024} kB\n" for name, size in told.items()))


def test_as_much_is_freed_as_others_took_and_no_more_held_than_is_left_to_them(tmp_path):
    machine = Machine(tmp_path)
    holder = machine.holder
    assert holder.take(60) == WANTED
    machine.free(8 * GB + AHEAD_BYTES)
    assert holder.give() and holder.take(60) == WANTED, "enough is free: nothing was freed"
    machine.free(8 * GB)
    assert holder.take(60) == WANTED
    machine.free(8 * GB + AHEAD_BYTES - 3 * PIECE_BYTES + 1)
    assert holder.give() and len(holder) == WANTED - 3 * PIECE_BYTES
    machine.free(7 * GB)
    assert not holder.give() and len(holder) == 0
    assert holder.take(0) == 0, "no time"
    assert holder.take(60) == WANTED
    other = Machine(tmp_path)
    other.free(GB, available=3 * PIECE_BYTES)
    assert other.holder.take(60) == 3 * PIECE_BYTES


def test_the_program_holds_until_its_input_ends():
    with HeldMemory(WANTED, sorted(os.sched_getaffinity(0))) as held:
        assert held.take() == WANTED
        (holder,) = holders()
        assert Path(f"/proc/{holder.pid}/oom_score_adj").read_text().strip() == "1000"
        assert held.take() == WANTED
    assert not holders()
    program = Path(hold_pages.__file__)
    child = subprocess.Popen([sys.executable, "-I", "-S", program, "1"], stdin=subprocess.PIPE)
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
