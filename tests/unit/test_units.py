"""Ranges, amounts and CPU lists as people write them."""

import math

import pytest

from scale_sweep.base import units


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("1..4", (1, 2, 3, 4)),
        ("1..12:2", (1, 3, 5, 7, 9, 11)),
        ("1,2,4,8", (1, 2, 4, 8)),
        ("0.5,1,1.5", (0.5, 1, 1.5)),
        ("0.5..1.5:0.5", (0.5, 1, 1.5)),
        ("4,1..2,2", (1, 2, 4)),
        ("1..64:x2", (1, 2, 4, 8, 16, 32, 64)),
        ("1..50:x2", (1, 2, 4, 8, 16, 32)),
        ("0.5..4:x2", (0.5, 1, 2, 4)),
        ("1..10:x1.5", (1, 1.5, 2.25, 3.375, 5.0625, 7.59375)),
        ("3,1..4:x2", (1, 2, 3, 4)),
    ],
)
def test_levels_are_read_and_survive_the_round_trip(text, levels):
    assert units.parse_levels(text) == levels
    assert units.parse_levels(units.format_levels(levels)) == levels


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("0..3", "above 0"),
        ("3..1", "runs backwards"),
        ("1...2", "two dots"),
        ("1..", "open end"),
        ("..3", "open end"),
        ("", "not a range"),
        ("a", "not a range"),
        ("1..4:0", "above 0"),
        ("nan", "above 0"),
        ("inf", "at most"),
        ("1..99999", "at most"),
        ("-1", "above 0"),
        *((text, ".") for text in ("1..8:x1", "1..8:x0.5", "1..8:x", "1..1000:x1.0001", "8..1:x2")),
    ],
)
def test_levels_refused_with_the_reason(text, word):
    with pytest.raises(ValueError, match=word):
        units.parse_levels(text)


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (units.parse_bytes, "4GiB", 4 * 2**30),
        (units.parse_bytes, "4GB", 4 * 10**9),
        (units.parse_bytes, "4 apples", None),
        (units.parse_seconds, "1.5m", 90),
        (units.parse_seconds, "250ms", 0.25),
        (units.parse_seconds, "-3s", None),
        (units.parse_count, "100M", 100_000_000),
        (units.parse_count, "10_000", 10_000),
        (units.parse_count, "1.5", None),
        (units.parse_rate, "0.5", 0.5),
        (units.parse_rate, "1.5k", 1500.0),
        (units.parse_rate, "1/2", None),
        (units.parse_cpus, "4,0-2", (4, 0, 1, 2)),
        (units.parse_cpus, "3-1", None),
        (units.parse_cpus, "a", None),
    ],
)
def test_amounts_are_read_or_refused(read, text, value):
    if value is not None:
        assert read(text) == value
        return
    with pytest.raises(ValueError, match=r"."):
        read(text)


def test_texts_for_people():
    assert units.format_cpus((4, 0, 1, 2)) == "0-2,4"
    assert [units.format_rate(1_234_567), units.format_rate(None)] == ["1.23 M", "–"]
    assert " ".join((units.format_seconds(75), units.format_number(2.0))).split() == ["1", "min", "15", "s", "2"]
    assert [units.counted(n, "core") for n in (1.0, 1, 0.5, 2)] == ["1 core", "1 core", "0.5 cores", "2 cores"]
    assert [units.counted(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert [units.counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
    assert [units.percent_words(p) for p in (31.4, 9.96, 3.04, 0.52, 120.0)] == [
        f"{p} %" for p in (31, 10, 3, 0.52, 120)
    ]


def test_parts_of_a_number_of_things_and_changes_of_at_most_100_percent(wording):
    wording(*(units.part_of(*counts, "trial") for counts in ((0, 0), (0, 1), (1, 1), (0, 4), (1, 4), (4, 4))))
    wording(*map(units.moved_words, (-12.3, 9.0, 0.0, -181.0, 181.0, -240.0)))


@pytest.mark.parametrize(
    ("value", "low", "high", "words"),
    [
        (1.84, 1.51, 2.27, "1.84 (1.51 to 2.27)"),
        (479.2, 469.4, 489.1, "479 (469 to 489)"),
        (367.12, 366.9, 367.34, "367.1 (366.9 to 367.3)"),
        (0.0123, 0.0083, 0.0163, "0.0123 (0.0083 to 0.0163)"),
        (1.8, 0.2, 17.0, "1.8 (0.2 to 17.0)"),
        (0.0, 0.0, 0.0061, "0.000 (0.000 to 0.006)"),
        (14.6, 14.3, None, "14.6 (14.3 or more)"),
        (14.6, None, None, "14.6"),
        (5.0, 5.0, 5.0, "5"),
        (math.inf, 1.0, 2.0, "inf"),
        (-4.2, -6.13, -2.3, "-4.2 (-6.1 to -2.3)"),
    ],
)
def test_a_number_with_its_interval(value, low, high, words):
    assert units.with_interval(value, low, high) == words


def test_a_unit_is_behind_the_number_and_behind_its_interval():
    assert units.with_interval(335.0, 329.0, 341.0, " k") == "335 k (329 to 341 k)"
    assert units.change_words(0.958, 0.939, 0.977) == units.with_interval(-4.2, -6.1, -2.3, " %")
    assert (units.change_words(1.05, None, None), units.format_rate(999.6)) == ("+5.0 %", "1 k")
