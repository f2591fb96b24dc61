"""A real interface that a token bucket (tc tbf) keeps slow, between two network namespaces: the sampler sees that it is
full, the rule names it, and nothing stays behind. `bench/provoke.py --only NETWORK` does the same under a database."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.slow_network import INTERFACE, slow_network
from scale_sweep.judge.verdict import bottleneck_of
from scale_sweep.model import BottleneckKind
from tests.needs import needs
from tests.unit.test_attribution import CORES, GIVEN, IDLE

pytestmark = needs("root")
MBIT = 20.0
PORT = "8765"
# On the server's side: takes all that comes in, and watches the interface for two seconds.
RECEIVE = """
import json, socket, sys, threading, time
from scale_sweep.judge.figures.window import measure_window
from scale_sweep.machine.sampling import Sampler
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
