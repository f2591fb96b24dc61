"""The commands of README and the tutorial, run as a reader would type them, print what the pages show; those without an
output there read a stored run."""

from pathlib import Path

import pytest

from tests.integration.leftovers import assert_nothing_left
from tests.unit.stored_runs import unpacked
from tools.walkthrough.__main__ import TUTORIAL, compared, failed, steps_of, walk


@pytest.mark.alone
def test_readme_and_tutorial_show_what_the_commands_print(tmp_path: Path):
    assert compared(walk(tmp_path)) == []
    assert_nothing_left(tmp_path)


def test_commands_without_a_shown_output_end_as_their_pages_say(tmp_path: Path):
    unpacked("cpu", tmp_path / "results")
    shown = {step.command: "" for step in steps_of(TUTORIAL.read_text(encoding="utf-8"))}
    assert failed(tmp_path, shown) == []
