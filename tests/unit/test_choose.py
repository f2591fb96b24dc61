"""What is chosen when nothing fits: the remedy is of what is really missing."""

from dataclasses import replace

import pytest

from runner import choose as choosing
from runner.errors import PreflightError, UsageError
from runner.runtimes.docker_facts import DockerFacts
from tests.unit.factories import make_sweep


@pytest.mark.parametrize(
    ("reachable", "says", "says_not"),
    [(True, "docker pull tdengine/tdengine:9.9.9.9", "install Docker"), (False, "install Docker Engine", "says why")],
)
def test_an_image_that_cannot_be_pulled_is_not_a_missing_docker(monkeypatch, reachable, says, says_not):
    monkeypatch.setattr(choosing, "docker_facts", lambda: DockerFacts(reachable=reachable))
    monkeypatch.setattr(choosing, "image_state", lambda image: "absent")
    monkeypatch.setattr(choosing, "can_pull", lambda image: False)
    sweep = replace(make_sweep(), target="tdengine", runtime="docker", version="9.9.9.9")
    with pytest.raises(PreflightError) as refused:
        choosing.choose(sweep)
    assert says in refused.value.remedy and says_not not in refused.value.remedy


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
        choosing.choose(replace(make_sweep(), **asked))
    assert all(flag in refused.value.message for flag in named)


@pytest.mark.parametrize("target", ["postgres", "null"])
@pytest.mark.parametrize("runtime", ["auto", "endpoint"])
def test_a_running_server_of_a_target_that_cannot_use_one_is_refused(target, runtime):
    asked = replace(make_sweep(), target=target, runtime=runtime, endpoint="127.0.0.1:5432")
    with pytest.raises(UsageError) as refused:
        choosing.choose(asked)
    assert target in refused.value.message
    assert "--endpoint" in refused.value.message or "--runtime" in refused.value.message


def test_a_running_server_is_taken_where_the_target_can_use_one():
    chosen = choosing.choose(replace(make_sweep(), target="tdengine", endpoint="127.0.0.1:6030"))
    assert (chosen.runtime, chosen.image, chosen.version) == ("endpoint", "", "")
    assert "127.0.0.1:6030" in chosen.sentence
