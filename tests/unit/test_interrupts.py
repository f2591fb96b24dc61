"""Ctrl-C while something is made or undone: it waits, is never lost, and what ignores signals goes on ignoring them."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from scale_sweep.base.interrupts import Stop, Stopped, current, deferred, listen, undone
from scale_sweep.hosts.link import AgentRequest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STATUS = "from scale_sweep.base.interrupts import listen; listen(); print(open('/proc/self/status').read())"


@pytest.fixture(autouse=True)
def handlers():
    """As in a terminal, also if the tests run under nohup, which ignores SIGHUP; without the requests of other tests."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    with Stop().here():
        yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_acts_at_once_and_in_a_block_at_the_end_of_the_outermost(number):
    listen()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    with Stop().here():
        seen = []
        with pytest.raises(KeyboardInterrupt), deferred() as came:
            with deferred():
                seen.append(came())
                os.kill(os.getpid(), number)
                seen.append(came())
            seen.append("after")
        assert seen == [False, True, "after"]
        with deferred() as came:  # it is delivered once
            assert not came()


def test_an_error_loses_no_signal_and_what_was_ignored_stays_so_but_sigquit():
    listen()
    with pytest.raises(KeyboardInterrupt) as raised, deferred():
        os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("while undoing")
    assert isinstance(raised.value.__context__, ValueError)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    script = f"trap '' QUIT INT; {shlex.quote(sys.executable)} -c {shlex.quote(STATUS)}"
    told = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=True).stdout
    ignored = int(next(line for line in told.splitlines() if line.startswith("SigIgn:")).split()[1], 16)
    assert ignored & 1 << (signal.SIGINT - 1) and not ignored & 1 << (signal.SIGQUIT - 1)


def test_threads_have_stops_of_their_own_and_hold_nothing_back_for_others():
    listen()
    inside, over = threading.Event(), threading.Event()

    def block():
        with deferred():
            inside.set()
            over.wait(50)

    thread = threading.Thread(target=block)
    thread.start()
    assert inside.wait(50)
    try:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        over.set()
        thread.join()
    others = []
    in_a_thread(lambda: others.append(current()))
    assert others[0] is not current()
    stop = Stop()
    with pytest.raises(KeyboardInterrupt), stop.here():
        os.kill(os.getpid(), signal.SIGTERM)
    assert stop.requested()
    assert current() is not stop


def test_requests_wait_for_the_outermost_block_and_a_second_one_hurries():
    stop, seen = Stop(), []
    stop.look()
    assert not stop.requested()
    with pytest.raises(Stopped), stop.deferred() as waits:
        with stop.deferred():
            seen.append(waits())
            stop.request()
            stop.look()
            seen.append(waits())
        seen.append("after")
    assert seen == [False, True, "after"]
    stop.look()
    assert stop.requested()
    stop = Stop()
    stop.request()
    with pytest.raises(Stopped):
        try:
            stop.look()
        finally:
            with stop.deferred() as waits:
                assert not waits()
                stop.request()
                assert waits()
    with stop.deferred() as hurry:
        assert hurry()
    done = []
    stop = Stop()
    with stop.here(), pytest.raises(Stopped), undone() as stack:
        for name in ("last", "second", "first"):
            stack.callback(lambda name=name: (stop.request(), stop.look(), done.append(name)))
    assert done == ["first", "second", "last"]


def in_a_thread(work):
    """What it raised there."""
    raised = []

    def catch():
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=catch)
    thread.start()
    thread.join(50)
    assert not thread.is_alive()
    return raised


def test_a_request_or_signal_from_elsewhere_ends_waits_but_no_block():
    stop, seen = Stop(), []
    inside = threading.Event()

    def work():
        with stop.here():
            with deferred() as waits:
                inside.set()
                while not waits():
                    time.sleep(0.01)
                seen.append("undone")

    threading.Thread(target=lambda: (inside.wait(50), stop.request())).start()
    (error,) = in_a_thread(work)
    assert isinstance(error, Stopped)
    assert seen == ["undone"]
    threading.Timer(0.2, stop.request).start()
    (error,) = in_a_thread(lambda: stop.sleep(600))
    assert isinstance(error, Stopped)
    link = SimpleNamespace(host=SimpleNamespace(name="db1"))
    listen()
    asked = AgentRequest(link, 1, None)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(Stopped), Stop().here():
        asked.answer(400)
    stop, other = Stop(), AgentRequest(link, 2, None)

    def work():
        with stop.here():
            other.answer(600)

    threading.Timer(0.3, stop.request).start()
    (error,) = in_a_thread(work)
    assert isinstance(error, Stopped)
    asked.lines.put({"answer": 7})  # the line that only woke is left out
    assert list(asked.events(5)) == [{"answer": 7}]
