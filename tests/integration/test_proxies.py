"""A proxy that the environment names is not used for this machine: an engine on loopback, asked by the SDK of Docker."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.integration.cli import run

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
