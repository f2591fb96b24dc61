"""One tree, one exit code each."""

import pytest

from scale_sweep.base import errors
from scale_sweep.cli import console


def test_every_error_has_its_own_exit_code():
    kinds = errors.ScaleError.__subclasses__()
    named = [value for name, value in vars(errors).items() if name.startswith("EXIT_") and isinstance(value, int)]
    codes = [*(kind.exit_code for kind in kinds), *named, 0]
    assert len(kinds) == 6
    assert len(set(codes)) == len(codes)
    assert set(codes) == set(errors.EXIT_CODES)


@pytest.mark.parametrize("kind", errors.ScaleError.__subclasses__())
def test_every_error_says_what_to_do(kind, capsys):
    console.show_error(kind("it went wrong"))
    message, remedy = capsys.readouterr().err.splitlines()
    assert message == "scale: it went wrong"
    assert remedy == f"  → {kind.usual_remedy}" and kind.usual_remedy
