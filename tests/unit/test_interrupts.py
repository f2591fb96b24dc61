"""Ctrl-C while something is made or undone: it waits, is never lost, and what ignores signals goes on ignoring them."""

import os
import shlex
import signal
import subprocess
import sys
import threading

import pytest

from runner.interrupts import deferred, listen

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STATUS = "from runner.interrupts import listen; listen(); print(open('/proc/self/status').read())"


@pytest.fixture(autouse=True)
def handlers():
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_outside_of_a_block_acts_at_once(number):
    listen()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_for_the_end_of_the_outermost_block(number):
    listen()
    seen = []
    with pytest.raises(KeyboardInterrupt), deferred() as came:
        with deferred():
            seen.append(came())
            os.kill(os.getpid(), number)
            seen.append(came())
        seen.append("after the inner block")
    assert seen == [False, True, "after the inner block"]
    with deferred() as came:  # it is delivered once
        assert not came()


def test_an_error_in_the_block_does_not_lose_the_signal():
    listen()
    with pytest.raises(KeyboardInterrupt) as raised, deferred():
        os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("while undoing")
    assert isinstance(raised.value.__context__, ValueError)


def test_what_a_shell_made_us_ignore_stays_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    listen()
    os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_a_background_job_of_a_shell_hands_no_ignored_sigquit_to_its_servers():
    script = f"trap '' QUIT INT; {shlex.quote(sys.executable)} -c {shlex.quote(STATUS)}"
    told = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout
    ignored = int(next(line for line in told.splitlines() if line.startswith("SigIgn:")).split()[1], 16)
    assert ignored & 1 << (signal.SIGINT - 1)
    assert not ignored & 1 << (signal.SIGQUIT - 1)


def test_another_thread_holds_nothing_back():
    listen()
    inside, over = threading.Event(), threading.Event()

    def block():
        with deferred():
            inside.set()
            over.wait(5)

    thread = threading.Thread(target=block)
    thread.start()
    assert inside.wait(5)
    try:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        over.set()
        thread.join()
