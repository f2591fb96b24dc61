"""Our histogram against exact values, and its encoding against the package `hdrhistogram`."""

from __future__ import annotations

import json
import math
import random
import subprocess

import pytest
from hdrh.histogram import HdrHistogram

QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


def values_of(kind: str, count: int) -> list[int]:
    chance = random.Random(7)
    draw = {
        "lognormal": lambda: int(chance.lognormvariate(12, 2)),
        "narrow": lambda: chance.randrange(1000, 1100),
        "small": lambda: chance.randrange(0, 2048),
        "wide": lambda: chance.randrange(0, 3_600_000_000_000),
        "equal": lambda: 123_456,
    }[kind]
    return [draw() for _ in range(count)]


@pytest.fixture(scope="module")
def probe(build):
    program = build("histogram_probe.c", "histogram.c", "hdr_encode.c")

    def probe(values: list[int]) -> dict:
        text = "\n".join(map(str, values))
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return probe


@pytest.mark.parametrize("kind", ["lognormal", "narrow", "small", "wide", "equal"])
@pytest.mark.parametrize("count", [1, 100, 20_000])
def test_quantiles_are_near_exact_ones_and_those_of_the_package(probe, kind, count):
    values = sorted(values_of(kind, count))
    seen = probe(values)
    theirs = HdrHistogram.decode(seen["hdr"])
    reference = HdrHistogram(1, 3_600_000_000_000, 3)
    for value in values:
        reference.record_value(value)
    assert theirs.get_total_count() == count
    for q in QUANTILES:
        expected = reference.get_value_at_percentile(q * 100)
        assert theirs.get_value_at_percentile(q * 100) == expected
        is_known = count * (1 - q) > 10 - 1e-6
        assert seen[str(q)] == (expected if is_known else None)
        exact = values[max(1, int(q * len(values) + 0.5)) - 1]
        assert not is_known or exact <= seen[str(q)] <= exact * 1.001 + 1
    assert values[-1] <= seen["highest"] <= values[-1] * 1.001 + 1


def test_nothing_recorded_decodes_as_nothing(probe):
    seen = probe([])
    assert HdrHistogram.decode(seen["hdr"]).get_total_count() == 0
    assert all(seen[str(q)] is None for q in QUANTILES)


def test_longer_than_the_range_counts_as_an_hour(probe):
    seen = probe([10**15] * 30)
    assert math.isclose(seen["0.5"], 3.6e12, rel_tol=1e-3)


def test_the_summary_agrees_with_its_own_encoding(load):
    response = load(rows=3_000_000, rows_per_request=1000).summary["response"]
    theirs = HdrHistogram.decode(response["hdr"])
    assert theirs.get_total_count() == response["count"] == 3000
    for key, percentile in (("p50_us", 50), ("p90_us", 90), ("p95_us", 95), ("p99_us", 99)):
        assert response[key] * 1e3 == pytest.approx(theirs.get_value_at_percentile(percentile))
    assert response["p999_us"] is None
    assert response["min_us"] <= response["p50_us"] <= response["max_us"] * 1.001
