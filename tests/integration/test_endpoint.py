"""A server that already runs, on another host (a network namespace) and on this one, and networks on the way to it."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bench.slow_network import INTERFACE, slow_network
from scale_sweep.judge.verdict.bottleneck import bottleneck_of
from scale_sweep.model.measured import BottleneckKind
from scale_sweep.model.resources import Site
from scale_sweep.server.runtimes.endpoint import listeners
from tests.integration.cli import run
from tests.integration.real_server import required
from tests.needs import needs
from tests.unit.test_attribution import CORES, GIVEN, IDLE
from tests.unit.trial_orders import here, result_of, trial_order

ANSWER_S = 90
LISTEN = "import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print(flush=True); input()"


@contextmanager
def listening(address, port=0):
    """A program of this machine that listens there, and its PID."""
    words = [sys.executable, "-c", LISTEN, address, str(port)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout.readline()
        yield program.pid


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=60)


@contextmanager
def another_host():
    """A network namespace with a cable to this machine, and its address."""
    name, cable, net = f"scale-host-{os.getpid()}", f"sc{os.getpid()}", f"10.213.{os.getpid() % 250}"
    ip("netns", "add", name)
    try:
        ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("addr", "add", f"{net}.1/30", "dev", cable)
        ip("link", "set", cable, "up")
        ip("-n", name, "addr", "add", f"{net}.2/30", "dev", "eth0")
        ip("-n", name, "link", "set", "eth0", "up")
        yield ("ip", "netns", "exec", name), f"{net}.2"
    finally:
        ip("netns", "delete", name)


def wait_for(address, port):
    deadline = time.monotonic() + ANSWER_S
    while True:
        try:
            return socket.create_connection((address, port), timeout=5).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@needs("root")
def test_a_server_of_another_host_has_no_process_here(tmp_path):
    target, port = required("victoriametrics"), 18428
    order = trial_order(tmp_path, "victoriametrics")
    with another_host() as (there, address), listening("0.0.0.0", port):
        site = Site(data_dir=str(tmp_path), port=port, bind_address=address, home=order.home)
        spec = target.server(order.trial, site, "")
        with subprocess.Popen([*there, *spec.argv], cwd=tmp_path) as server:
            try:
                wait_for(address, port)
                subject = replace(order.trial.subject, runtime="endpoint", endpoint=f"{address}:{port}")
                result = result_of(here(replace(order, trial=replace(order.trial, subject=subject))))
            finally:
                server.kill()
    assert result.measurement.rows_acked > 0, result.verdict
    assert result.server == {"endpoint": f"{address}:{port}", "pids": ""}
    assert result.measurement.server_cpu_cores is None
    assert result.verdict.bottleneck.kind == "UNREAD"


def test_only_the_program_that_listens_on_the_address_is_its_server():
    with socket.create_server(("127.0.0.1", 0)) as mine, listening("127.0.0.2", mine.getsockname()[1]) as other:
        port = mine.getsockname()[1]
        assert listeners("127.0.0.1", port) == listeners("localhost", port) == (os.getpid(),)
        assert listeners("127.0.0.2", port) == (other,)
        assert (
            listeners("127.0.0.3", port)
            == listeners("192.0.2.1", port)
            == listeners("no-such-host.invalid", port)
            == ()
        )
    with listening("0.0.0.0", port) as everywhere:
        assert listeners("127.0.0.3", port) == (everywhere,)
        assert listeners("192.0.2.1", port) == ()


def test_the_cores_of_an_endpoint_are_not_those_of_this_machine(tmp_path):
    more = str(8 * os.cpu_count())
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        done = run("plan", "cpu", "--cores", more, "--target", "tdengine", "--endpoint", address, cwd=tmp_path)
    assert f"{more} cores × 3 replicates of tdengine (endpoint" in done.stdout + done.stderr
    assert "cores asked for" not in done.stderr, done.stderr


MBIT = 20.0
PORT = "8765"
# On the server's side: takes all that comes in, and watches the interface for two seconds.
RECEIVE = """
import json, socket, sys, threading, time
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.machine.sampling.sampler import Sampler
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
def take():
    connection = listener.accept()[0]
    while connection.recv(1 << 16):
        pass
threading.Thread(target=take, daemon=True).start()
time.sleep(1)
samples = []
speeds = {sys.argv[2]: float(sys.argv[3])}
with Sampler(server=None, generator=None, disks=(), hz=5, on_sample=samples.append, network_bits_per_s=speeds):
    time.sleep(2)
print(json.dumps(measure_window(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns).network))
"""


@needs("root")
@pytest.mark.alone  # it measures bytes/s
def test_an_interface_at_its_speed_is_named_and_one_that_could_more_is_not():
    with slow_network(MBIT) as link:
        shares = {}
        for said in (MBIT, 10 * MBIT):
            words = [*link.prefix, sys.executable, "-c", RECEIVE, PORT, INTERFACE, str(said * 1e6)]
            with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as server:
                assert server.stdout.readline() == "listens\n"
                send = [*link.loader_prefix, "bash", "-c", f"exec cat /dev/zero > /dev/tcp/127.0.0.1/{PORT}"]
                with subprocess.Popen(send, stderr=subprocess.DEVNULL) as sender:
                    shares[said] = json.loads(server.communicate(timeout=60)[0])
                    sender.kill()
    waiting = replace(IDLE, in_flight=0.95)
    full, half = (replace(waiting, network=shares[said]) for said in (MBIT, 10 * MBIT))
    assert 0.85 < full.network[f"{INTERFACE} received"] < 1.2, shares
    found = bottleneck_of(full, GIVEN, CORES)
    assert found.kind is BottleneckKind.NETWORK and f"{INTERFACE} received" in found.sentence
    assert bottleneck_of(half, GIVEN, CORES).kind is BottleneckKind.CONNECTIONS
    left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True, timeout=20).stdout
    assert f"-{os.getpid()}" not in left
