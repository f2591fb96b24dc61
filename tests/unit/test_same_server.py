"""scale ab with two servers whose settings are equal is refused while it is planned, and starts nothing."""

import pytest

from runner.errors import UsageError
from runner.preparing.ab import prepare_ab
from runner.sweep.ab import flags_of, together
from runner.sweep.resolve import resolve_sweep
from runner.targets import load_target

pytestmark = pytest.mark.skipif(load_target("postgres").find("") is None, reason="no PostgreSQL")
COMMON = "--cores 1 --target postgres --runtime process"


def prepared(a, b, folder):
    common = flags_of(COMMON, "--a")
    sides = [resolve_sweep("cpu", together(common, flags_of(own, "--b"))) for own in (a, b)]
    return prepare_ab(*sides, 1, folder / "results")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("", "--knob synchronous_commit=on"),
        ("", "--settings defaults"),
        ("--knob work_mem=1GB", "--knob work_mem=1024MB"),
        ("--knob checkpoint_timeout=10min", "--knob checkpoint_timeout=600s"),
        ("--settings loading", "--settings loading --knob synchronous_commit=off"),
    ],
)
def test_equal_settings_are_refused(a, b, tmp_path):
    with pytest.raises(UsageError, match="A and B are the same server") as refused:
        prepared(a, b, tmp_path)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("b", ["--knob synchronous_commit=off", "--settings loading", "--rows-per-request 77", ""])
def test_other_variants_are_planned(b, tmp_path):
    assert len(prepared("", b, tmp_path).plan.trials) == 4
