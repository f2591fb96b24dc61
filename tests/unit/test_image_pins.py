"""The list of pinned images says what the facts of the targets say."""

import tomllib
from pathlib import Path

from scale_sweep.server.targets import all_facts

PINS = Path(__file__).resolve().parents[2] / "images/pins.toml"


def test_images_are_pinned_or_named_so_that_no_registry_is_asked():
    pins = tomllib.loads(PINS.read_text(encoding="utf-8"))["databases"]
    pulled = [facts for facts in all_facts() if facts.image and not facts.is_image_built]
    wanted = {facts.name: (facts.image, facts.image_version) for facts in pulled}
    assert {name: (one["image"], one["version"]) for name, one in pins.items()} == wanted
    built = [facts for facts in all_facts() if facts.is_image_built]
    assert {facts.name for facts in built} == {"kairosdb", "opentsdb"}
    assert all(facts.image.startswith("localhost/scale-") and facts.image_files for facts in built)
    for facts in all_facts():
        has_image = facts.image and facts.image_version and facts.image_home
        assert has_image or "image" not in facts.runs_from, facts.name
