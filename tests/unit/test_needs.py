"""A test whose program is missing is skipped with the package's name, and fails where all is required."""

import pytest

from tests import needs


@pytest.mark.parametrize(("required", "outcome"), [("", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_what_is_missing_is_named_with_its_package(monkeypatch, required, outcome):
    monkeypatch.setenv(needs.VARIABLE, required)
    monkeypatch.setitem(needs.PACKAGES, "no-such-program", "a-package")
    monkeypatch.setitem(needs.PACKAGES, "libnothing.so.1", "libnothing1")
    for name, package in (("no-such-program", "a-package"), ("libnothing.so.1", "libnothing1")):
        with pytest.raises(outcome, match=f"{name} is missing: apt-get install {package}"):
            needs.need(name)
    assert needs.need("cc").startswith("/")
    with pytest.raises(KeyError):
        needs.need("sh")
