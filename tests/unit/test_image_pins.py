"""The list of pinned images says what the facts of the targets say."""

import tomllib
from pathlib import Path

from scale_sweep.server.targets import all_facts

PINS = Path(__file__).resolve().parents[2] / "images/pins.toml"


def is_pulled(facts):
    return facts.image and not facts.is_image_built


def test_each_target_with_an_image_of_its_vendor_has_its_version_in_the_list_of_pins():
    pins = tomllib.loads(PINS.read_text(encoding="utf-8"))["databases"]
    wanted = {facts.name: (facts.image, facts.image_version) for facts in all_facts() if is_pulled(facts)}
    assert {name: (one["image"], one["version"]) for name, one in pins.items()} == wanted


def test_an_image_that_no_vendor_has_is_named_so_that_no_registry_is_asked_for_it():
    built = [facts for facts in all_facts() if facts.is_image_built]
    assert {facts.name for facts in built} == {"kairosdb", "opentsdb"}
    assert all(facts.image.startswith("localhost/scale-") and facts.image_files for facts in built)


def test_a_target_that_runs_from_an_image_names_it_and_where_its_server_is():
    for facts in all_facts():
        if "image" in facts.runs_from:
            assert facts.image and facts.image_version and facts.image_home, facts.name
