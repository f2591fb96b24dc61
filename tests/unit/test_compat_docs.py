"""The page about `scale load` names every option and every JSON key that the readers know."""

from pathlib import Path

from scale_sweep.taosbenchmark.options import OPTIONS
from tests.offenders import assert_none
from tests.unit.test_compat_options import COLUMN, TABLE, TOP

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "taosbenchmark.md").read_text(encoding="utf-8")


def test_every_option_is_on_the_page():
    names = [f"--{option.long}" for option in OPTIONS] + [f"-{option.short}" for option in OPTIONS if option.short]
    assert_none(name for name in names if f"`{name}`" not in PAGE)


def test_every_json_key_is_on_the_page():
    keys = sorted({"cfgdir", *TOP, *TABLE, *COLUMN})
    assert_none(key for key in keys if f"`{key}`" not in PAGE and f"`{key}[]`" not in PAGE)
