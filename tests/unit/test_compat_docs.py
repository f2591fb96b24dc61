"""The page about `scale load` names every option and every JSON key that the readers know."""

from pathlib import Path

import pytest

from runner.compat.options import OPTIONS
from tests.unit.test_compat_options import COLUMN, TABLE, TOP

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "taosbenchmark.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: o.long)
def test_every_option_is_on_the_page(option):
    assert f"`--{option.long}`" in PAGE
    assert not option.short or f"`-{option.short}`" in PAGE


@pytest.mark.parametrize("key", sorted({*TOP, *TABLE, *COLUMN}))
def test_every_json_key_is_on_the_page(key):
    assert f"`{key}`" in PAGE or f"`{key}[]`" in PAGE
