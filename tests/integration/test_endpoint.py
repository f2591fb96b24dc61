"""A server that already runs, on another host (a network namespace) and on this one: its processes are looked for at its\nown address, and a local program with the same port is not taken for it. No proxy is asked for this machine."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scale_sweep.model import Site
from scale_sweep.server.runtimes.endpoint import listeners
from tests.integration.cli import run
from tests.integration.real_server import required
from tests.needs import needs
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


NOBODY = "http://127.0.0.1:9"


class Engine(BaseHTTPRequestHandler):
    """Answers as an engine that has nothing."""

    def do_GET(self):
        body = json.dumps({"ApiVersion": "1.44", "ServerVersion": "99.1", "CgroupVersion": "2"}).encode()
        self.send_response(200 if self.path.endswith(("/version", "/_ping", "/info")) else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Prints nothing."""


@pytest.fixture
def engine():
    with ThreadingHTTPServer(("127.0.0.1", 0), Engine) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("proxies", [{"http_proxy": NOBODY}, {"ALL_PROXY": NOBODY, "HTTPS_PROXY": NOBODY}])
@pytest.mark.parametrize("excepted", ["", "example.org"])
def test_an_engine_on_loopback_is_asked_directly(engine, tmp_path, proxies, excepted):
    done = run("doctor", cwd=tmp_path, DOCKER_HOST=engine, NO_PROXY=excepted, no_proxy="", **proxies)
    assert "99.1" in done.stdout, done.stdout
