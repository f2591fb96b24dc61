"""`scale size` as its user types it, on stored runs: the answer, the page, JSON, and each refusal in one line."""

import json
from dataclasses import replace

import pytest

from scale_sweep.base.errors import EXIT_NOT_SHOWN
from scale_sweep.model import VerdictKind
from tests.unit import whole_commands
from tests.unit.stored import store
from tests.unit.stored_runs import unpacked
from tests.unit.synthetic_run import synthetic_run

PRICES = "prices-example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("size")
    results = path / "results"
    cheap = '[[machine]]\nname = "c-64"\ncores = 64\nmemory = "9GiB"\ndisks = 1\nprice_per_hour = 1\n'
    (path / "cheap.toml").write_text(cheap, encoding="utf-8")
    results.mkdir()
    for name in ("cpu", "varied", "aborted"):
        unpacked(name, results)
    run = synthetic_run(levels=range(1, 9), replicates=3, gamma=4e5, alpha=0.05)
    store(run, results, "20260102T030406Z-law-1a2b3c")
    disks = synthetic_run(levels=(1, 2, 3, 4), replicates=3, gamma=9e5, alpha=0.05)
    sweep = replace(disks.plan.sweep, axis="disks")
    store(replace(disks, plan=replace(disks.plan, sweep=sweep), fit=None), results, "20260102T030408Z-of-disks-1a2b3c")
    lost = {(n, r): VerdictKind.UNSTEADY for n in (1, 2) for r in (1, 2)}
    store(synthetic_run(levels=(1, 2), replicates=2, verdicts=lost), results, "20260102T030407Z-lost-1a2b3c")
    return path


def size(folder, *words):
    return whole_commands.run("size", *words, cwd=folder)


def test_the_answer_in_one_sentence_with_its_tables(folder):
    ended = size(folder, "--run", "law", "--need", "1.5M", "--headroom", "30%", "--prices", PRICES)
    assert ended.code == 0, ended.stderr
    first = ended.stdout.partition("\n")[0]
    assert "cores (" in first and "95 %) for 1.95 M rows/s (1.5 M and 30 % headroom); m-8 at 0.40 EUR/h; with " in first
    assert "chance to miss" in first
    for heading in ("Levels of", "Machines", "M rows per EUR", "rows/s per core"):
        assert heading in ended.stdout
    assert "← cheapest" in ended.stdout


def test_json_has_every_figure(folder):
    ended = size(folder, "--run", "law", "--need", "1.5M", "--headroom", "30%", "--prices", PRICES, "--json")
    document = json.loads(ended.stdout)
    (one,) = document["needs"]
    assert document["wanted"] == pytest.approx(1.95e6) and document["is_answered"]
    assert document["cheapest"]["machine"]["name"] == "m-8"
    assert one["low"] <= one["level"] <= one["high"]
    assert {c["level"] for c in one["chances"]} >= {1.0, 8.0, 16.0}
    assert all(c["miss"] is None or 0 <= c["miss"] <= 1 for c in one["chances"])
    assert document["offers"][0]["per_money"] > 0


def test_a_run_of_cores_and_one_of_disks_share_a_machine(folder):
    words = ("--run", "law", "--run", "of-disks", "--need", "1.5M", "--headroom", "30%", "--prices", PRICES)
    ended = size(folder, *words, "--out", "both.html")
    assert ended.code == 0, ended.stderr
    cores, disks, decides, machine = ended.stdout.splitlines()[:4]
    assert "cores (" in cores and "3 disks" in disks
    assert "durable rows/s per disk" in ended.stdout, "of disks it counts to the end of the flush"
    assert "of-disks-1a2b3c has the larger need: 3 disks" in decides
    assert machine == "d-8 at 0.70 EUR/h"
    assert (folder / "both.html").read_text(encoding="utf-8").count("<svg") >= 3
    assert "no machine of the price list has enough" in size(folder, *words[:-1], "cheap.toml").stdout


def test_two_runs_and_no_price_list(folder):
    ended = size(folder, "--run", "law", "--run", "cpu", "--need", "40k")
    assert ended.code == 0, ended.stderr
    assert "has the larger need" in ended.stdout
    assert "Machines" not in ended.stdout


def test_two_levels_of_a_stored_run_are_answered_from_what_was_measured(folder):
    ended = size(folder, "--run", "cpu", "--need", "30k", "--headroom", "30%", "--prices", PRICES)
    assert ended.code == 0, ended.stderr
    assert ended.stdout.startswith("0.5 cores (of the measured levels) for 39 k rows/s")
    assert "s-1 at 0.05 EUR/h" in ended.stdout
    assert "fewer may hold it too" in ended.stdout


def test_a_question_beyond_the_fit_ends_with_the_sweep_that_settles_it(folder):
    ended = size(folder, "--run", "law", "--need", "4M", "--prices", PRICES)
    assert ended.code == EXIT_NOT_SHOWN
    assert "beyond the extrapolation limit" in ended.stdout
    assert "it takes about" in ended.stdout and "scale sweep cpu" in ended.stdout
    document = json.loads(size(folder, "--run", "law", "--need", "4M", "--prices", PRICES, "--json").stdout)
    assert document["cheapest"] is None and document["needs"][0]["settled_by"]["seconds"] > 0


def test_the_page_loads_nothing_and_has_both_pictures(folder):
    ended = size(folder, "--run", "law", "--need", "1.5M", "--prices", PRICES, "--out", "answer.html")
    assert ended.code == 0 and "page: answer.html" in ended.stdout
    page = (folder / "answer.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 2
    assert 'data-name="per-money"' in page and 'data-name="per-core-1"' in page
    assert "src=" not in page and 'href="http' not in page


def test_the_name_of_a_machine_is_text_on_the_page(folder):
    text = '[[machine]]\nname = "<script>x</script>"\ncores = 64\nmemory = "1GiB"\ndisks = 1\nprice_per_hour = 1\n'
    (folder / "evil.toml").write_text(text, encoding="utf-8")
    ended = size(folder, "--run", "law", "--need", "1.5M", "--prices", "evil.toml", "--out", "evil.html")
    assert ended.code == 0, ended.stderr
    assert "<script>x" not in (folder / "evil.html").read_text(encoding="utf-8")


def test_one_variant_of_several(folder):
    words = ("--run", "varied", "--need", "9k", "--prices", PRICES, "--variant")
    for name in ("500", "100"):
        ended = size(folder, *words, name)
        assert ended.code == 0, ended.stderr
        assert ended.stdout.startswith("1 core (of the measured levels) for 9 k rows/s; s-1 at 0.05 EUR/h")


GOOD = {"--run": "law", "--need": "1M", "--headroom": "30%", "--prices": PRICES}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"--need": "lots"}, "--need: 'lots' is not a number"),
        ({"--need": "-5"}, "--need: '-5' is not a number"),
        ({"--need": "0"}, "--need: "),
        ({"--need": "nan"}, "--need: 'nan' is not a number"),
        ({"--need": "1M,2M"}, "--need: '1M,2M' names 2 rates; give one"),
        ({"--headroom": "30"}, "--headroom: '30' is not a percentage of 0 or more"),
        ({"--headroom": "-5%"}, "--headroom: '-5%' is not a percentage"),
        ({"--headroom": "1000000%"}, "--headroom: '1000000%' is above 10000 %"),
        ({"--prices": "prices-exampel"}, "did you mean prices-example?"),
        ({"--prices": "none.toml"}, "none.toml: No such file"),
        ({"--run": "nowhere"}, "nowhere"),
        ({"--run": "varied"}, "has 2 variants (500, 100); a size needs one"),
        ({"--run": "varied", "--variant": "rows"}, "--variant: 'rows' is not one of"),
        ({"--run": "lost"}, "no rate is fitted (UNSTEADY: the rate drifted by -14 % over the window)"),
        ({"--out": "a.png"}, "--out a.png: is a page, and its name must end in .html"),
        ({"--out": "no/folder/a.html"}, "no/folder cannot be written"),
    ],
)
def test_bad_input_is_one_line(folder, changes, said):
    flags = {**GOOD, **changes}
    ended = size(folder, *(part for pair in flags.items() for part in (f"{pair[0]}={pair[1]}",)))
    assert said in ended.stderr
    assert ended.code in (2, 6) and not ended.stdout
    assert "Traceback" not in ended.stderr


def test_a_run_twice_and_no_run_at_all(folder):
    assert "named twice" in size(folder, "--run", "law", "--run", "law", "--need", "1M").stderr
    assert size(folder, "--need", "1M").code == 2
