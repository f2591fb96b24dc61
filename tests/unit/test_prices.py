"""Price lists: each mistake in one line that names its key and its line; the bundled list; files that are no list."""

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


def test_a_list_is_read_with_its_units(listed):
    prices = read_prices(listed(GOOD))
    first, second = prices.machines
    assert (first.name, first.price_per_hour, prices.currency) == ("m-8", 0.40, "EUR")
    assert first.amounts == {"cores": 8.0, "memory": 32 * 2.0**30, "disks": 2.0}
    assert second.amounts["disks"] == 0, "disks of the network alone"
    assert read_prices(listed(GOOD.replace('currency = "EUR"', ""))).currency == ""


@pytest.mark.parametrize("name", bundled_prices())
def test_every_bundled_list_is_one_and_says_that_it_is_invented(name):
    prices = read_prices(name)
    assert len(prices.machines) > 4
    assert "invented" in bundled_prices()[name].read_text(encoding="utf-8")


def test_a_local_file_counts_before_a_bundled_list(listed, tmp_path):
    listed(GOOD)
    (tmp_path / "prices.toml").rename(tmp_path / "prices-example")
    assert [m.name for m in read_prices("prices-example").machines] == ["m-8", "l-16"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("price_per_hour = 0.40\n", "", "line 3, machine 1 (m-8), price_per_hour: is missing"),
        ("price_per_hour = 0.40", "price_per_hour = -0.4", "line 8, machine 1 (m-8), price_per_hour: is -0.4; it must be above 0"),
        ("price_per_hour = 1", "price_per_hour = 0", "line 15, machine 2 (l-16), price_per_hour: is 0"),
        ("price_per_hour = 1", "price_per_hour = nan", "line 15, machine 2 (l-16), price_per_hour: a number is expected"),
        ("price_per_hour = 1", "price_per_hour = inf", "line 15, machine 2 (l-16), price_per_hour: is above"),
        ("price_per_hour = 1", "price_per_hour = '1'", "line 15, machine 2 (l-16), price_per_hour: a number is expected"),
        ("cores = 8", "cores = true", "line 5, machine 1 (m-8), cores: a number is expected"),
        ("cores = 8", "cores = -8", "line 5, machine 1 (m-8), cores: is -8"),
        ("cores = 8\n", "", "line 3, machine 1 (m-8), cores: is missing"),
        ("disks = 2", "disks = 1.5", "line 7, machine 1 (m-8), disks: is 1.5; it must be a whole number"),
        ("disks = 2", "disks = -1", "line 7, machine 1 (m-8), disks: is -1; it must be 0 or more"),
        ('"32GiB"', "32", "line 6, machine 1 (m-8), memory: an amount of memory is expected"),
        ('"32GiB"', '"0GiB"', "line 6, machine 1 (m-8), memory: is 0GiB; it must be above 0"),
        ('"32GiB"', '"lots"', "line 6, machine 1 (m-8), memory: 'lots' is not an amount of memory"),
        ("cores = 16", "core = 16", "line 12, machine 2 (l-16), core: unknown key; did you mean cores?"),
        ('"l-16"', '"m-8"', "line 11, machine 2, name: 'm-8' is named twice"),
        ('"l-16"', '""', "line 11, machine 2 (), name: the value is empty"),
        ('"l-16"', '"\\u001b[31m"', "line 11, machine 2, name: "),
        ('"l-16"', "16", "line 11, machine 2, name: a text is expected"),
        ('currency = "EUR"', "currency = 5", "currency: a text is expected"),
        ('currency = "EUR"', "monies = 5", "monies: unknown key"),
        ("[[machine]]", "[[machines]]", "machines: unknown key; did you mean machine?"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(listed, old, new, said):
    assert said in refusal(listed(GOOD.replace(old, new)))


def test_a_list_that_is_written_in_another_way_is_refused_without_a_line(listed):
    text = "machine = [{name = 'a', cores = 1, memory = '1GiB', disks = 1, price_per_hour = -1}]"
    assert ": machine 1 (a), price_per_hour: is -1" in refusal(listed(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one table [[machine]]"),
        ("machine = 5", "at least one table [[machine]]"),
        ("machine = [1, 2]", "at least one table [[machine]]"),
        ("[[machine]", "is not valid TOML"),
        ("a = " + "9" * 6000, "is not valid TOML"),
        ("a = " + "[" * 5000, "nested too deeply"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"#" * (BYTES_MAX + 1), "has more than 1,048,576 bytes"),
        (GOOD.partition("[[machine]]")[0] + "[[machine]]\n" * 1001, "1,001 machines; 1,000 at most"),
    ],
    ids=range(9),
)
def test_what_is_no_list_is_refused(listed, text, said):
    assert said in refusal(listed(text))


@pytest.mark.parametrize(
    ("what", "said"),
    [("/dev/zero", "is a device"), ("/tmp", "is a directory"), ("prices-exampel", "did you mean prices-example?"), ("no.toml", "No such file")],
)  # fmt: skip
def test_what_is_no_file_is_refused(listed, what, said):
    assert said in refusal(what)


def test_very_many_mistakes_are_refused_at_once(listed):
    text = GOOD + "".join(f"a{n} = 1\n" for n in range(60_000))
    assert "line 16, machine 2 (l-16), a0: unknown key (and many more)" in refusal(listed(text))


def test_many_mistakes_are_one_line_with_their_number(listed):
    said = refusal(listed(GOOD.replace("price_per_hour", "price")))
    assert "(and 3 more)" in said
