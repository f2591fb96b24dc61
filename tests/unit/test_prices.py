"""Price lists: each mistake in one line that names its key and its line; the bundled list; files that are no list."""

import re

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.sweep.prices import BYTES_MAX, bundled_prices, read_prices

GOOD = """currency = "EUR"

[[machine]]
name = "m-8"
cores = 8
memory = "32GiB"
disks = 2
price_per_hour = 0.40

[[machine]]
name = "l-16"
cores = 16
memory = "64GiB"
disks = 0
price_per_hour = 1
"""


@pytest.fixture
def listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text):
        path = tmp_path / "prices.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    return write


def refusal(path):
    with pytest.raises(UsageError) as refused:
        read_prices(path)
    assert "\n" not in refused.value.message
    return refused.value.message


def test_a_list_is_read_with_its_units_and_a_local_file_counts_before_a_bundled_list(listed, tmp_path):
    prices = read_prices(listed(GOOD))
    first, second = prices.machines
    assert (first.name, first.price_per_hour, prices.currency) == ("m-8", 0.40, "EUR")
    assert first.amounts == {"cores": 8.0, "memory": 32 * 2.0**30, "disks": 2.0}
    assert second.amounts["disks"] == 0  # disks of the network alone
    assert read_prices(listed(GOOD.replace('currency = "EUR"', ""))).currency == ""
    for name, path in bundled_prices().items():
        assert len(read_prices(name).machines) > 4
        assert "invented" in path.read_text(encoding="utf-8")
    (tmp_path / "prices.toml").rename(tmp_path / "prices-example")
    assert [m.name for m in read_prices("prices-example").machines] == ["m-8", "l-16"]


@pytest.mark.parametrize(
    ("old", "new", "line", "key", "said"),
    [
        ("price_per_hour = 0.40\n", "", 3, "price_per_hour", "is missing"),
        ("price_per_hour = 0.40", "price_per_hour = -0.4", 8, "price_per_hour", "is -0.4"),
        ("price_per_hour = 1", "price_per_hour = 0", 15, "price_per_hour", "is 0"),
        ("price_per_hour = 1", "price_per_hour = nan", 15, "price_per_hour", "a number"),
        ("price_per_hour = 1", "price_per_hour = inf", 15, "price_per_hour", "is above"),
        ("price_per_hour = 1", "price_per_hour = '1'", 15, "price_per_hour", "a number"),
        ("cores = 8", "cores = true", 5, "cores", "a number"),
        ("cores = 8", "cores = -8", 5, "cores", "is -8"),
        ("cores = 8\n", "", 3, "cores", "is missing"),
        ("disks = 2", "disks = 1.5", 7, "disks", "is 1.5"),
        ("disks = 2", "disks = -1", 7, "disks", "is -1"),
        ('"32GiB"', "32", 6, "memory", "an amount"),
        ('"32GiB"', '"0GiB"', 6, "memory", "is 0GiB"),
        ('"32GiB"', '"lots"', 6, "memory", "'lots' is"),
        ("cores = 16", "core = 16", 12, "core", "mean cores?"),
        ('"l-16"', '"m-8"', 11, "name", "'m-8'"),
        ('"l-16"', '""', 11, "name", "is empty"),
        ('"l-16"', '"\\u001b[31m"', 11, "name", ""),
        ('"l-16"', "16", 11, "name", "a text"),
        ('currency = "EUR"', "currency = 5", None, "currency", "a text"),
        ('currency = "EUR"', "monies = 5", None, "monies", "unknown key"),
        ("[[machine]]", "[[machines]]", None, "machines", "mean machine?"),
        ("price_per_hour", "price", 8, "price", "(and 3 more)"),
        ("cores = 16", "\n".join(f"a{n} = 1" for n in range(60_000)), 12, "a0", "(and many more)"),
    ],
)
def test_a_mistake_is_named_with_its_line(listed, old, new, line, key, said):
    told = refusal(listed(GOOD.replace(old, new)))
    machine = rf"line {line}, machine {1 if line and line < 11 else 2}\b.*" if line else ""
    assert re.search(rf"{machine}\b{key}: .*{re.escape(said)}", told), told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "table [[machine]]"),
        ("machine = 5", "table [[machine]]"),
        ("machine = [1, 2]", "table [[machine]]"),
        ("[[machine]", "valid TOML"),
        ("a = " + "9" * 6000, "valid TOML"),
        ("a = " + "[" * 5000, "too deeply"),
        (b"\xff\xfe", "not UTF-8"),
        (b"#" * (BYTES_MAX + 1), "1,048,576 bytes"),
        (GOOD.partition("[[machine]]")[0] + "[[machine]]\n" * 1001, "1,001 machines"),
        ("machine = [{name = 'a', cores = 1, disks = 1}]", ": machine 1 (a), memory: "),
    ],
    ids=range(10),
)
def test_what_is_no_list_is_refused(listed, text, said):
    assert said in refusal(listed(text))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/dev/zero", "a device"),
        ("/tmp", "a directory"),
        ("prices-exampel", "mean prices-example?"),
        ("no.toml", "No such file"),
    ],
)
def test_what_is_no_file_is_refused(name, said):
    assert said in refusal(name)
