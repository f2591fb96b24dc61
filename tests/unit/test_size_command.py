"""`scale size` as its user types it, on stored runs: the answer, the page, JSON, and each refusal in one line."""

import json
from dataclasses import replace

import pytest

from scale_sweep.base.errors import EXIT_NOT_SHOWN
from scale_sweep.model.measured import VerdictKind
from tests.unit import whole_commands
from tests.unit.stored import store
from tests.unit.stored_runs import unpacked
from tests.unit.synthetic_run import synthetic_run

PRICES = "prices-example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("size")
    results = path / "results"
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


def answer(folder, *words):
    """The lines of a size that is answered."""
    ended = size(folder, *words)
    assert ended.code == 0, ended.stderr
    return ended.stdout.splitlines()


def test_the_answer_in_one_sentence_with_its_tables_its_page_and_every_figure_in_json(folder, wording):
    words = ("--run", "law", "--need", "1.5M", "--headroom", "30%", "--prices", PRICES)
    lines = answer(folder, *words, "--out", "answer.html")
    headings = [line for line in lines if line.startswith(("Levels of", "Machines"))]
    wording(lines[0], *headings, lines[-1])
    assert sum("← cheapest" in line for line in lines) == 1
    page = (folder / "answer.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 2
    assert 'data-name="per-money"' in page and 'data-name="per-core-1"' in page
    assert "src=" not in page and 'href="http' not in page
    document = json.loads("\n".join(answer(folder, *words, "--json")))
    (one,) = document["needs"]
    assert document["wanted"] == pytest.approx(1.95e6) and document["is_answered"]
    assert document["cheapest"]["machine"]["name"] == "m-8"
    assert one["low"] <= one["level"] <= one["high"]
    assert {c["level"] for c in one["chances"]} >= {1.0, 8.0, 16.0}
    assert all(c["miss"] is None or 0 <= c["miss"] <= 1 for c in one["chances"])
    assert document["offers"][0]["per_money"] > 0


def test_a_run_of_cores_and_one_of_disks_share_a_machine(folder, wording):
    both = ("--run", "law", "--run", "of-disks", "--need", "1.5M", "--headroom", "30%")
    lines = answer(folder, *both, "--prices", PRICES, "--out", "both.html")
    wording(*lines[:4])
    assert any("durable rows/s per disk" in line for line in lines), "of disks it counts to the end of the flush"
    assert (folder / "both.html").read_text(encoding="utf-8").count("<svg") >= 3
    cheap = '[[machine]]\nname = "<script>x"\ncores = 64\nmemory = "9GiB"\ndisks = 1\nprice_per_hour = 1\n'
    (folder / "cheap.toml").write_text(cheap, encoding="utf-8")
    ended = size(folder, *both, "--prices", "cheap.toml", "--out", "none.html")
    assert ended.code == EXIT_NOT_SHOWN and "EUR/h" not in ended.stdout
    assert "<script>x" not in (folder / "none.html").read_text(encoding="utf-8")
    unpriced = answer(folder, "--run", "law", "--run", "cpu", "--need", "40k")
    assert any("has the larger need" in line for line in unpriced)
    assert "Machines" not in unpriced


@pytest.mark.parametrize(
    ("run", "need", "variant", "level", "machine"),
    [
        ("cpu", "39k", (), "0.5 cores", "s-1"),
        *(("varied", "9k", ("--variant", v), "1 core", "s-1") for v in ("100", "500")),
    ],
)
def test_two_levels_of_a_stored_run_or_a_variant_are_answered_from_what_was_measured(
    folder, run, need, variant, level, machine
):
    first, *_ = answer(folder, "--run", run, "--need", need, "--prices", PRICES, *variant)
    assert first.startswith(f"{level} (of")
    assert f"{machine} at" in first


def test_a_question_beyond_the_fit_ends_with_the_sweep_that_settles_it(folder):
    words = ("--run", "law", "--need", "4M", "--prices", PRICES)
    ended = size(folder, *words)
    assert ended.code == EXIT_NOT_SHOWN
    assert "it takes about" in ended.stdout and "scale sweep cpu" in ended.stdout
    document = json.loads(size(folder, *words, "--json").stdout)
    assert document["cheapest"] is None and document["needs"][0]["settled_by"]["seconds"] > 0


GOOD = {"--run": "law", "--need": "1M", "--headroom": "30%", "--prices": PRICES}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"--need": "lots"}, "--need: 'lots' is not a rate"),
        ({"--need": "-5"}, "--need: '-5' is not a rate"),
        ({"--need": "0"}, "--need: "),
        ({"--need": "nan"}, "--need: 'nan' is not a rate"),
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
    ended = size(folder, *(f"{flag}={value}" for flag, value in {**GOOD, **changes}.items()))
    assert said in ended.stderr
    assert ended.code in (2, 6) and not ended.stdout
    assert "Traceback" not in ended.stderr


def test_a_run_twice_and_no_run_at_all(folder):
    for words in (("--run", "law", "--run", "law"), ()):
        assert size(folder, *words, "--need", "1M").code == 2
