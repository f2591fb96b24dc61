"""The commands of README and the tutorial, run as a reader would type them, print what the pages show."""

from pathlib import Path

import pytest

from tests.integration.leftovers import assert_nothing_left
from tools.walkthrough.__main__ import compared, failed, walk

pytestmark = pytest.mark.alone


def test_readme_and_tutorial_show_what_the_commands_print(tmp_path: Path):
    outputs = walk(tmp_path)
    assert compared(outputs) == []
    assert failed(tmp_path, outputs) == []
    assert_nothing_left(tmp_path)
