"""One tree, one exit code each."""

from runner import errors


def test_every_error_has_its_own_exit_code():
    kinds = errors.ScaleError.__subclasses__()
    codes = [k.exit_code for k in kinds] + [errors.EXIT_INTERRUPTED, errors.EXIT_TRIALS_FAILED, errors.EXIT_OK]
    assert len(kinds) == 6
    assert len(set(codes)) == len(codes)
