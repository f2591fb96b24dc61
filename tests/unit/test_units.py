"""Ranges, amounts and CPU lists as people write them."""

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
    ],
)
def test_levels(text, levels):
    assert units.parse_levels(text) == levels


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
        ("inf", "above 0"),
        ("1..99999", "at most"),
        ("-1", "above 0"),
    ],
)
def test_levels_refused_with_the_reason(text, word):
    with pytest.raises(ValueError, match=word):
        units.parse_levels(text)


@pytest.mark.parametrize("text", ["1..12", "1,2", "1,2,4,8", "0.5,1,1.5", "3"])
def test_levels_survive_the_round_trip(text):
    assert units.parse_levels(units.format_levels(units.parse_levels(text))) == units.parse_levels(text)


def test_amounts():
    assert units.parse_bytes("4GiB") == 4 * 2**30
    assert units.parse_bytes("4GB") == 4 * 10**9
    assert units.parse_seconds("1.5m") == 90
    assert units.parse_seconds("250ms") == 0.25
    assert units.parse_count("100M") == 100_000_000
    assert units.parse_count("10_000") == 10_000


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_bytes, "4 apples"),
        (units.parse_seconds, "-3s"),
        (units.parse_count, "1.5"),
        (units.parse_cpus, "3-1"),
        (units.parse_cpus, "a"),
    ],
)
def test_amounts_refused(parse, text):
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_cpu_lists_keep_the_order_given():
    assert units.parse_cpus("4,0-2") == (4, 0, 1, 2)
    assert units.format_cpus((4, 0, 1, 2)) == "0-2,4"


def test_texts_for_people():
    assert units.format_rate(1_234_567) == "1.23 M"
    assert units.format_rate(None) == "–"
    assert units.format_seconds(75) == "1 min 15 s"
    assert units.format_number(2.0) == "2"


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("1..64:x2", (1, 2, 4, 8, 16, 32, 64)),
        ("1..50:x2", (1, 2, 4, 8, 16, 32)),
        ("0.5..4:x2", (0.5, 1, 2, 4)),
        ("1..10:x1.5", (1, 1.5, 2.25, 3.375, 5.0625, 7.59375)),
        ("3,1..4:x2", (1, 2, 3, 4)),
    ],
)
def test_geometric_levels(text, levels):
    assert units.parse_levels(text) == levels


@pytest.mark.parametrize("text", ["1..8:x1", "1..8:x0.5", "1..8:x", "1..1000:x1.0001", "8..1:x2"])
def test_geometric_levels_refused(text):
    with pytest.raises(ValueError, match=r"."):
        units.parse_levels(text)


def test_a_number_with_its_unit():
    assert [units.counted(n, "core") for n in (1.0, 1, 0.5, 2)] == ["1 core", "1 core", "0.5 cores", "2 cores"]
