"""Prometheus refuses a query while it writes the samples, which the query was about to read, into a block."""

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.server.targets.prometheus import prometheus_target
from scale_sweep.server.targets.prometheus.prometheus_target import _until_still

MOVED = "Prometheus refused /api/v1/query: HTTP status 422: cannot populate chunk 8 from block 00: not found"


def asked(messages):
    """A query that is refused with each of these messages, and then answered."""
    left = list(messages)

    def ask():
        if left:
            raise TargetError(left.pop(0))
        return [{"value": 1}]

    return ask


def test_it_is_asked_again_until_the_samples_are_in_their_block():
    assert _until_still(asked([MOVED, MOVED])) == [{"value": 1}]


def test_another_refusal_is_not_repeated():
    with pytest.raises(TargetError, match="parse error"):
        _until_still(asked(["Prometheus refused it: parse error"]))


def test_samples_that_stay_missing_are_an_error(monkeypatch):
    monkeypatch.setattr(prometheus_target, "_MOVED_S", 0.3)
    with pytest.raises(TargetError, match="cannot populate chunk"):
        _until_still(asked([MOVED] * 100))
