"""A target of another package that lacks a method is refused by name before anything starts."""

from dataclasses import replace

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.server import targets
from scale_sweep.server.targets import Target, load_facts, load_target


class WithoutSession(Target):
    def server(self, trial, site, secret):
        raise AssertionError("nothing may start")


@pytest.mark.parametrize(
    ("implementation", "reason"),
    [
        (f"{__name__}:WithoutSession", "abstract method '?session"),
        (f"{__name__}:Nothing", "Nothing"),
        ("no_such_package:Target", "no_such_package"),
    ],
)
def test_it_is_refused_with_what_is_missing(monkeypatch, implementation, reason):
    facts = replace(load_facts("null"), name="incomplete", implementation=implementation)
    monkeypatch.setattr(targets, "load_facts", lambda name: facts)
    with pytest.raises(UsageError, match=f"target incomplete: .* cannot be used: .*{reason}"):
        load_target("incomplete")
