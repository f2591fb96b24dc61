"""One tree, one exit code each."""

import pytest

from scale_sweep.base import errors
from scale_sweep.cli import console


def test_every_error_has_its_own_exit_code():
    kinds = errors.ScaleError.__subclasses__()
    codes = [k.exit_code for k in kinds] + [errors.EXIT_INTERRUPTED, errors.EXIT_TRIALS_FAILED, 0]
    assert len(kinds) == 6
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", errors.ScaleError.__subclasses__())
def test_every_error_says_what_to_do(kind, capsys):
    console.show_error(kind("it went wrong"))
    message, remedy = capsys.readouterr().err.splitlines()
    assert message == "scale: it went wrong"
    assert remedy == f"  → {kind.usual_remedy}" and kind.usual_remedy
