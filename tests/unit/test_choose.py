"""What is chosen when nothing fits: the remedy is of what is really missing."""

import functools
import hashlib
import json
import os
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingUnixStreamServer

import pytest

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.plan.preparing.choice import choose
from scale_sweep.server.runtimes import docker, docker_engine
from scale_sweep.server.runtimes.docker_engine import DockerFacts
from scale_sweep.server.targets import Installation
from scale_sweep.server.targets.kairosdb.kairosdb_target import KairosdbTarget
from tests.unit.factories import executable, make_sweep
from tests.unit.whole_commands import run


@pytest.fixture
def engine(monkeypatch):
    """Puts a Docker in which there is no image, and which can pull none."""
    monkeypatch.setattr(docker, "image_state", lambda image: "absent")
    monkeypatch.setattr(docker, "can_pull", lambda image: False)
    return lambda reachable: monkeypatch.setattr(docker, "docker_facts", lambda: DockerFacts(reachable=reachable))


def refused(error=UsageError, **asked):
    with pytest.raises(error) as found:
        choose(replace(make_sweep(), **asked))
    return found.value


def remedy_of(target, **asked):
    return refused(PreflightError, target=target, runtime="docker", **asked).remedy


def test_an_image_that_cannot_be_pulled_is_not_a_missing_docker(engine):
    for is_reachable in (True, False):
        engine(reachable=is_reachable)
        remedy = remedy_of("tdengine", version="9.9.9.9")
        assert ("docker pull tdengine/tdengine:9.9.9.9" in remedy) is is_reachable
        assert ("install Docker" in remedy) is not is_reachable


@pytest.mark.parametrize("is_installed", [True, False])
def test_an_image_that_only_scale_makes_is_built_and_not_pulled(engine, monkeypatch, is_installed, wording):
    engine(reachable=True)
    found = Installation(home="/opt/kairos", version="1.3.0-1", source="--home") if is_installed else None
    monkeypatch.setattr(KairosdbTarget, "find", lambda self, home: found)
    wording(remedy_of("kairosdb"))
    assert "docker pull own:1" in remedy_of("kairosdb", image="own:1")


HOME, IMAGE, ENDPOINT = {"home": "/opt/db"}, {"image": "db:1"}, {"endpoint": "127.0.0.1:1"}


TWO_PLACES = [
    ("docker", HOME, "--runtime docker, --home"),
    ("process", IMAGE, "--image, --runtime process"),
    ("auto", IMAGE | HOME, "--image, --home"),
    ("docker", ENDPOINT, "--endpoint, --runtime docker"),
    ("auto", ENDPOINT | IMAGE, "--endpoint, --image"),
    ("process", ENDPOINT, "--endpoint, --runtime process"),
    ("endpoint", {}, "--runtime endpoint"),
    *(
        (runtime, ENDPOINT | {"target": name}, name)
        for runtime in ("auto", "endpoint")
        for name in ("prometheus", "null")
    ),
]


@pytest.mark.parametrize(("runtime", "asked", "named"), TWO_PLACES)
def test_a_server_in_two_places_or_none_is_refused_by_its_flags(runtime, asked, named):
    message = refused(runtime=runtime, **asked).message
    assert "--" in message and all(flag in message for flag in named.split(", "))


def test_a_running_server_is_taken_where_the_target_can_use_one():
    chosen = choose(replace(make_sweep(), target="tdengine", endpoint="127.0.0.1:6030"))
    assert (chosen.runtime, chosen.image, chosen.version) == ("endpoint", "", "")
    assert "127.0.0.1:6030" in chosen.sentence


@pytest.fixture
def with_taosd(tmp_path, monkeypatch, engine):
    """Puts a program of that name first on PATH, on a machine without Docker."""
    engine(reachable=False)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    return functools.partial(executable, tmp_path / "bin" / "taosd")


TAOSD = "echo taosd version: 9.9.9.9 compatible_version: 9.0.0.0"


@pytest.mark.parametrize(
    ("script", "why"), [("exit 0", "its version"), ("exit 127", "its version"), (TAOSD, "libtaos")]
)
def test_auto_passes_over_a_server_that_could_not_be_used_and_says_why(with_taosd, tmp_path, script, why):
    with_taosd(script)
    chosen = choose(replace(make_sweep(), target="auto"))
    assert (chosen.target.facts.name, chosen.runtime) == ("postgres", "process")
    assert f"tdengine in {tmp_path} (PATH)" in chosen.sentence and why in chosen.sentence
    assert why in str(refused(PreflightError, target="auto", home=str(tmp_path)))


def test_asked_for_by_name_it_is_taken_and_refused_later_with_the_remedy(with_taosd, tmp_path):
    with_taosd(TAOSD)
    chosen = choose(replace(make_sweep(), target="tdengine"))
    assert (chosen.target.facts.name, chosen.home, chosen.version) == ("tdengine", str(tmp_path), "9.9.9.9")
    assert [f.blocking for f in chosen.target.check_client(chosen.home, chosen.version)] == [True]
    for runtime in ("process", "auto"):
        assert "as requested" in choose(replace(make_sweep(), target="postgres", runtime=runtime)).sentence


@pytest.mark.parametrize("target", ["postgres", "tdengine", "auto"])
def test_a_home_that_does_not_exist_is_named_once(tmp_path, target):
    home = str(tmp_path / "none")
    assert refused(target=target, runtime="process", home=home).message.count(home) == 1


class Engine(BaseHTTPRequestHandler):
    """Answers as the engine of another machine."""

    def do_GET(self):
        info = {"ApiVersion": "1.44", "ServerVersion": "99.1", "Name": "far-away", "NCPU": 96}
        body = json.dumps(info).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Prints nothing."""


@pytest.fixture
def far_away(tmp_path):
    """The environments by which an engine of another machine is named, with what a message names."""
    docker_engine._engine.cache_clear()
    address, socket = "tcp://192.0.2.1:2375", tmp_path / "socket"
    meta = tmp_path / "contexts/meta" / hashlib.sha256(b"far").hexdigest()
    meta.mkdir(parents=True)
    context = {
        "Name": "far",
        "Metadata": {},
        "Endpoints": {"docker": {"Host": address}},
    }  # as `docker context` writes it
    (meta / "meta.json").write_text(json.dumps(context))
    (tmp_path / "config.json").write_text(json.dumps({"currentContext": "far"}))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/config.json").write_text("{}")
    (tmp_path / "other/contexts").symlink_to(tmp_path / "contexts")
    with ThreadingUnixStreamServer(str(socket), Engine) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield (
            ({"DOCKER_HOST": address}, f"{address} (DOCKER_HOST)"),
            ({"DOCKER_HOST": "ssh://user@192.0.2.1"}, "ssh://user@192.0.2.1 (DOCKER_HOST)"),
            ({"DOCKER_CONFIG": str(tmp_path)}, f"{address} (the context of `docker`)"),
            ({"DOCKER_CONFIG": f"{tmp_path}/other", "DOCKER_CONTEXT": "far"}, f"{address} (DOCKER_CONTEXT)"),
            ({"DOCKER_HOST": f"unix://{socket}"}, "far-away with 96 CPUs"),
        )
        server.shutdown()


def test_an_engine_of_another_machine_is_refused_by_every_command_before_anything_starts(far_away, tmp_path):
    words = ("cpu", "--cores", "1", "--target", "tdengine")
    in_docker, of_image = ((*words, "--runtime", "docker"), (*words, "--image", "tdengine/tdengine:3.3.6.13"))
    commands = [("plan", *in_docker)] * len(far_away)
    commands += [("sweep", *in_docker), ("sweep", *of_image), ("plan", *words), ("sweep", *words), ("doctor",)]
    for number, command in enumerate(commands):
        environment, named = far_away[number % len(far_away)]
        done = run(*command, cwd=tmp_path, PATH="/nowhere", **environment)
        said = " ".join((done.stdout if command == ("doctor",) else done.stderr).split())
        assert done.code == (0 if command == ("doctor",) else 3), (environment, command, done.stderr)
        assert named in said and "--hosts" in said, (environment, command, done.stderr)
    assert not (tmp_path / "results").exists()
    done = run("plan", "cpu", "--cores", "1", "--target", "postgres", cwd=tmp_path, **far_away[0][0])
    assert done.code == 0, "it runs without Docker"


def test_an_engine_of_this_machine_may_be_limited_to_some_cpus(monkeypatch):
    here = os.uname().nodename
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    found = [bool(docker_engine._other_machine({"Name": here, "NCPU": cpus})) for cpus in (8, 4, 16)]
    assert found == [False, False, True]
