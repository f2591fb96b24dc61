"""What is chosen when nothing fits: the remedy is of what is really missing."""

import os
from dataclasses import replace

import pytest

from scale_sweep.base.errors import PreflightError, UsageError
from scale_sweep.plan.preparing import choose
from scale_sweep.server.runtimes import docker
from scale_sweep.server.runtimes.docker_facts import DockerFacts
from scale_sweep.server.targets import Installation
from scale_sweep.server.targets.kairosdb.kairosdb_target import KairosdbTarget
from tests.unit.factories import make_sweep


@pytest.mark.parametrize(
    ("reachable", "says", "says_not"),
    [(True, "docker pull tdengine/tdengine:9.9.9.9", "install Docker"), (False, "install Docker Engine", "says why")],
)
def test_an_image_that_cannot_be_pulled_is_not_a_missing_docker(monkeypatch, reachable, says, says_not):
    monkeypatch.setattr(docker, "docker_facts", lambda: DockerFacts(reachable=reachable))
    monkeypatch.setattr(docker, "image_state", lambda image: "absent")
    monkeypatch.setattr(docker, "can_pull", lambda image: False)
    sweep = replace(make_sweep(), target="tdengine", runtime="docker", version="9.9.9.9")
    with pytest.raises(PreflightError) as refused:
        choose(sweep)
    assert says in refused.value.remedy and says_not not in refused.value.remedy


@pytest.mark.parametrize("is_installed", [True, False])
def test_an_image_that_only_scale_makes_is_built_and_not_pulled(monkeypatch, is_installed):
    monkeypatch.setattr(docker, "docker_facts", lambda: DockerFacts(reachable=True))
    monkeypatch.setattr(docker, "image_state", lambda image: "absent")
    monkeypatch.setattr(docker, "can_pull", lambda image: False)
    found = Installation(home="/opt/kairos", version="1.3.0-1", source="--home") if is_installed else None
    monkeypatch.setattr(KairosdbTarget, "find", lambda self, home: found)
    with pytest.raises(PreflightError, match="localhost/scale-kairosdb:") as refused:
        choose(replace(make_sweep(), target="kairosdb", runtime="docker"))
    said = {
        True: "scale images build kairosdb --home /opt/kairos",
        False: "scale servers install kairosdb, and scale images build kairosdb --home DIR",
    }
    assert refused.value.remedy == said[is_installed]
    with pytest.raises(PreflightError) as refused:
        choose(replace(make_sweep(), target="kairosdb", runtime="docker", image="own:1"))
    assert "docker pull own:1" in refused.value.remedy


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"runtime": "docker", "home": "/opt/db"}, ("--runtime docker", "--home")),
        ({"runtime": "process", "image": "db:1"}, ("--image", "--runtime process")),
        ({"runtime": "auto", "image": "db:1", "home": "/opt/db"}, ("--image", "--home")),
        ({"runtime": "docker", "endpoint": "127.0.0.1:1"}, ("--endpoint", "--runtime docker")),
        ({"runtime": "auto", "endpoint": "127.0.0.1:1", "image": "db:1"}, ("--endpoint", "--image")),
        ({"runtime": "process", "endpoint": "127.0.0.1:1"}, ("--endpoint", "--runtime process")),
        ({"runtime": "endpoint"}, ("--runtime endpoint",)),
    ],
)
def test_a_server_in_two_places_or_none_is_refused_by_its_flags(asked, named):
    with pytest.raises(UsageError) as refused:
        choose(replace(make_sweep(), **asked))
    assert all(flag in refused.value.message for flag in named)


@pytest.mark.parametrize("target", ["prometheus", "null"])
@pytest.mark.parametrize("runtime", ["auto", "endpoint"])
def test_a_running_server_of_a_target_that_cannot_use_one_is_refused(target, runtime):
    asked = replace(make_sweep(), target=target, runtime=runtime, endpoint="127.0.0.1:5432")
    with pytest.raises(UsageError) as refused:
        choose(asked)
    assert target in refused.value.message
    assert "--endpoint" in refused.value.message or "--runtime" in refused.value.message


def test_a_running_server_is_taken_where_the_target_can_use_one():
    chosen = choose(replace(make_sweep(), target="tdengine", endpoint="127.0.0.1:6030"))
    assert (chosen.runtime, chosen.image, chosen.version) == ("endpoint", "", "")
    assert "127.0.0.1:6030" in chosen.sentence


@pytest.fixture
def with_taosd(tmp_path, monkeypatch):
    """Puts a program of that name first on PATH, on a machine without Docker."""

    def put(script):
        program = tmp_path / "bin" / "taosd"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
        monkeypatch.setattr(docker, "docker_facts", lambda: DockerFacts(reachable=False))

    return put


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 0", "does not report its version"),
        ("echo cannot open shared object file >&2; exit 127", "does not report its version"),
        ("echo taosd version: 9.9.9.9 compatible_version: 9.0.0.0", "libtaos"),  # missing, or of another version
    ],
)
def test_auto_passes_over_a_server_that_could_not_be_used_and_says_why(with_taosd, tmp_path, script, why):
    with_taosd(script)
    chosen = choose(replace(make_sweep(), target="auto"))
    assert (chosen.target.facts.name, chosen.runtime) == ("postgres", "process")
    assert f"tdengine in {tmp_path} (PATH)" in chosen.sentence and why in chosen.sentence
    with pytest.raises(PreflightError, match=why):
        choose(replace(make_sweep(), target="auto", home=str(tmp_path)))


def test_asked_for_by_name_it_is_taken_and_refused_later_with_the_remedy(with_taosd, tmp_path):
    with_taosd("echo taosd version: 9.9.9.9 compatible_version: 9.0.0.0")
    chosen = choose(replace(make_sweep(), target="tdengine"))
    assert (chosen.target.facts.name, chosen.home, chosen.version) == ("tdengine", str(tmp_path), "9.9.9.9")
    assert [f.blocking for f in chosen.target.check_client(chosen.home, chosen.version)] == [True]


@pytest.mark.parametrize("asked", [{"target": "postgres"}, {"target": "tdengine"}, {"target": "auto"}])
def test_a_home_that_does_not_exist_is_named_once(tmp_path, asked):
    home = str(tmp_path / "none")
    with pytest.raises(UsageError) as refused:
        choose(replace(make_sweep(), **{"runtime": "process", **asked}, home=home))
    assert refused.value.message == f"--home {home}: does not exist"


@pytest.mark.parametrize(
    ("runtime", "how"), [("process", ", as requested"), ("auto", "as requested, in the best runtime of this machine")]
)
def test_a_database_that_was_named_was_not_chosen(monkeypatch, runtime, how):
    monkeypatch.setattr(docker, "docker_facts", lambda: DockerFacts(reachable=False))
    assert choose(replace(make_sweep(), target="postgres", runtime=runtime)).sentence.endswith(how)
