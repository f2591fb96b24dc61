"""The list of pinned images says what the facts of the targets say."""

import tomllib
from pathlib import Path

from scale_sweep.server.targets import all_facts

PINS = Path(__file__).resolve().parents[2] / "images/pins.toml"


def test_each_target_with_an_image_has_its_version_in_the_list_of_pins():
    pins = tomllib.loads(PINS.read_text(encoding="utf-8"))["databases"]
    wanted = {facts.name: (facts.image, facts.image_version) for facts in all_facts() if facts.image}
    assert {name: (one["image"], one["version"]) for name, one in pins.items()} == wanted


def test_a_target_that_runs_from_an_image_names_it_and_where_its_server_is():
    for facts in all_facts():
        if "image" in facts.runs_from:
            assert facts.image and facts.image_version and facts.image_home, facts.name
