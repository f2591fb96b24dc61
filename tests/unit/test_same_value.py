"""Settings that are equal but spelled differently are one value in the plan, in a trial and in the report."""

import pytest

from scale_sweep.base.texts import are_same_values, is_same_value
from scale_sweep.server.targets import load_target
from tests.unit.factories import make_trial

SAME = (
    "1GB=1024MB",
    "1GiB=1073741824",
    "1g=1024m",
    "5min=300s",
    "168h0m0s=7d",
    "1m=60s",
    "on=true",
    "4.000000=4",
    "0=0s",
)
OTHER = ("1GB=1000MB", "4096=4kB", "4096=4s", "1g=1d", "sync=nosync", "=0", "nan=4", "on=off", "1h=1hour")


@pytest.mark.parametrize("pair", [*SAME, "'UTC'=utc"])
def test_other_spellings_are_one_value(pair):
    one, other = pair.split("=")
    assert is_same_value(one, other) and is_same_value(other, one)
    assert are_same_values({"x": one}, {"x": other})


@pytest.mark.parametrize("pair", OTHER)
def test_other_values_are_not(pair):
    one, other = pair.split("=")
    assert not is_same_value(one, other)
    assert not are_same_values({"x": one}, {"x": other})
    assert not are_same_values({"x": one}, {"x": one, "y": other})  # a setting that one lacks


def test_units_of_victoriametrics_are_decimal():
    target, sizes = load_target("victoriametrics"), {}
    for text in ("1GB", "1000MB", "1024MB", "1GiB"):
        sizes[text] = target.settings(make_trial(knobs={"memory": text}), is_ours=True)["memory.allowedBytes"]
    assert sizes["1GB"] == sizes["1000MB"] == "1000000000"
    assert not is_same_value(sizes["1GB"], sizes["1024MB"])
    assert is_same_value(sizes["1GiB"], str(2**30))
