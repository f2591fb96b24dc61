"""The report: right figures in the right places, nothing hidden, nothing unescaped. The runs are synthetic."""

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from scale_sweep.model.fitted import StoredRun
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Measurement, Verdict, VerdictKind
from scale_sweep.model.planned import Trial
from scale_sweep.report import article_table, console_table, html, markdown, reference_table, trial_table
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.report.curve import curve_svg_bytes
from scale_sweep.report.documents import documents
from scale_sweep.report.series import pick, runs_of
from scale_sweep.report.svg import SHAPES, ticks
from scale_sweep.report.table import ordinal, short
from tests.unit.factories import reading
from tests.unit.observing import fit_curve
from tests.unit.synthetic_run import mixed_run, on_shared_cpus, synthetic_run, synthetic_sweep
from tests.unit.test_ab import plan_of, run_of

REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"
VOID = {"meta", "link", "br", "wbr", "img", "hr"}
HOSTILE = (
    "<script>alert(1)</script> & \"quoted\" 'single' |pipe| `tick` *star* <img src=x> \x1b[31m \x9b2J \u202e \r end"
)
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")  # of a terminal


def reference(name: str = "tdengine-cpu.csv") -> list[dict[str, str]]:
    with (REFERENCE / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def one_trial_run(**measured) -> StoredRun:
    run = synthetic_run((1,), 1)
    result = replace(run.results[0], measurement=Measurement(**measured))
    return replace(run, results=(result,), timeseries={}, fit=fit_curve([result]))


class Balance(HTMLParser):
    """Every tag that opens closes in order, and nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href", "action")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def parsed(page: str) -> Balance:
    balance = Balance()
    balance.feed(page)
    assert (balance.faults, balance.open) == ([], [])
    return balance


def hostile_run() -> StoredRun:
    sweep = replace(synthetic_sweep(), name=HOSTILE, question=HOSTILE, version=HOSTILE, tags={HOSTILE: HOSTILE})
    run = mixed_run(sweep=sweep)
    results = tuple(
        replace(
            r,
            trial=replace(r.trial, trial_id=HOSTILE, knobs={HOSTILE: HOSTILE}),
            verdict=Verdict(kind=r.verdict.kind, reasons=(HOSTILE,)),
            effective={HOSTILE: HOSTILE},
        )
        for r in run.results
    )
    manifest = dict.fromkeys(("created_utc", "choice", "tool_version", "commit"), HOSTILE) | {
        "command": [HOSTILE],
        "host": {"hostname": HOSTILE, "cpu_model": HOSTILE},
        "server": {"version": HOSTILE, "image_digest": HOSTILE},
        "disks": [HOSTILE, {"device": HOSTILE}],
        "ceiling_rows_per_s": {HOSTILE: 1.0},
    }
    plan = replace(run.plan, notes=(HOSTILE,))
    return replace(run, path=f"/x/{HOSTILE}", results=results, manifest=manifest, plan=plan, fit=None)


def test_article_table_has_the_published_columns(wording):
    table = article_table(synthetic_run((1, 2), 2))
    assert [row[0] for row in table.rows] == ["1", "2"]
    assert (table.rows[0][1:3], table.rows[0][-1]) == (("4", "8"), "97")
    assert re.fullmatch(r"[\d.]+ k \([\d.]+ to [\d.]+ k\) quick", table.rows[0][3])
    knobs = {1.0: {"vgroups": "4", "connections": "4"}, 5.0: {"vgroups": "12", "connections": "12"}}
    of_vgroups = article_table(synthetic_run((1, 5), 1, knobs=knobs))
    assert [row[1:3] for row in of_vgroups.rows] == [("4", "4"), ("12", "12")]
    sweep = synthetic_sweep(axis="disks", levels=(1.0, 2.0))
    knobs = {1.0: {"commit_threads": "4"}, 2.0: {"commit_threads": "8"}}
    of_disks = article_table(synthetic_run((1, 2), 1, sweep=sweep, knobs=knobs))
    assert [row[1] for row in of_disks.rows] == ["4", "8"]
    wording(*(" | ".join(one.headers) for one in (table, of_vgroups, of_disks)))


def test_a_level_without_a_valid_trial_is_shown_and_marked_and_others_enter_no_mean():
    verdicts = {(2.0, 1): VerdictKind.UNSTEADY, (2.0, 2): VerdictKind.UNSTEADY}
    table = article_table(synthetic_run((1, 2, 3), 2, verdicts=verdicts))
    assert [row[0] for row in table.rows] == ["1", "2 †", "3"]
    assert table.rows[1][3] != "–"
    assert any("No trial of this level is VALID" in note for note in table.notes)
    run = synthetic_run((1,), 3, noise=0.0, gamma=1e6, verdicts={(1.0, 1): VerdictKind.UNSTEADY})
    assert article_table(run).rows[0][3] == "1 M quick"


def test_trial_table_keeps_every_trial_with_its_reasons():
    run = mixed_run()
    table = trial_table(run)
    assert len(table.rows) == len(run.results) == len(table.row_notes)
    at = [row[0] for row in table.rows].index("cores-3-r3")
    assert table.rows[at][1:3] == ("ABORTED", "–")
    (reason,) = next(r.verdict.reasons for r in run.results if r.trial.trial_id == "cores-3-r3")
    assert reason in table.row_notes[at]
    row = trial_table(one_trial_run()).rows[0]
    assert row[1:] == ("VALID", "– / 1", "– / – / – / –")  # the columns without any value are left out


def test_every_trial_that_is_left_out_has_something_to_change(wording):
    run = mixed_run()
    limit = Bottleneck(
        kind=BottleneckKind.GENERATOR_CPU, sentence="the load generator's CPUs were full", remedy="add a client core"
    )
    full = [replace(r, verdict=replace(r.verdict, bottleneck=limit)) for r in run.results]
    told = remedies(replace(run, results=tuple(full)))
    wording(*told)
    assert len(told) == len(remedies(run)) == 4
    for page in documents(run).pages.values():
        assert "--warmup or --window-max" in re.sub(r"</?code[^>]*>", "", page)


def test_reference_lays_speedup_against_speedup_from_the_first_level_in_common():
    def laid_beside(levels):
        table = reference_table(synthetic_run(levels, 1, noise=0.0, gamma=1e6), reference())
        assert table is not None
        return table, {row[0]: row for row in table.rows}

    table, by_level = laid_beside((1, 2, 4))
    assert by_level["2"][1:5] == ("880 k", "2 M", "2.32", "2.00")
    assert by_level["12"][1:5] == ("5.73 M", "–", "15.08", "–")
    assert any("vgroups moves" in note and "(4 → 12)" in note for note in table.notes)
    assert laid_beside((2, 4))[1]["2"][3:7] == ("1.00", "1.00", "100", "100")
    run = synthetic_run((1, 2, 3), 1, sweep=synthetic_sweep(axis="disks", levels=(1.0, 2.0, 3.0)), gamma=1000.0)
    table = reference_table(run, reference("tdengine-disk.csv"))
    assert table is not None
    assert [row[-2] for row in table.rows] == ["80.0–90.0", "150–190", "380–450"]  # the published range
    assert any("commit threads" in note and "(4 → 8)" in note for note in table.notes)


def test_a_reference_of_another_rate_or_axis_is_refused_and_nonsense_survived():
    disks = reference("tdengine-disk.csv")
    assert reference_table(synthetic_run((1, 2), 1), disks) is None
    assert "Published and ours" not in html(synthetic_run((1, 2), 1), disks)
    run = reading(synthetic_run((1, 2), 1))
    assert reference_table(run, reference()) is None
    table = reference_table(run, [{"cores": "1", "rows_per_s": "7", "requests_per_s": "500"}])
    assert table is not None and table.rows[0][1] == "500"
    assert table.headers[1:3] == ("Published requests/s", "Ours requests/s")
    rows = [{"cores": "one", "rows_per_s": "x"}, {"cores": "1"}, {}, {"cores": "2", "rows_per_s": "1,000"}]
    assert [row[0] for row in reference_table(synthetic_run((1, 2), 1), rows).rows] == ["1", "2"]


def test_table_for_the_console():
    table = console_table(mixed_run())
    assert table.headers[0] == "cores"
    assert [row[0] for row in table.rows] == ["1", "2", "3", "4"]
    assert table.rows[1][-1] == f"2 {VerdictKind.VALID}, 1 {VerdictKind.UNSTEADY}"
    assert sum("short window" in note for note in table.notes) == 1
    assert {len(row) for row in table.rows} == {len(table.headers)}


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(mixed_run(), id="mixed"),
        pytest.param(on_shared_cpus(synthetic_run((1, 2), 2)), id="two levels"),
        pytest.param(synthetic_run((1,), 1), id="one trial"),
        pytest.param(synthetic_run((0.5, 1, 1.5), 2), id="fractions"),
        pytest.param(synthetic_run((1,), 1, verdicts={(1.0, 1): VerdictKind.ABORTED}), id="aborted"),
        pytest.param(replace(synthetic_run((1, 2), 1), manifest={}, timeseries={}, fit=None), id="bare"),
        pytest.param(replace(synthetic_run((1, 2), 1), results=(), fit=None), id="empty"),
        pytest.param(one_trial_run(rows_per_s=float("nan")), id="nan"),
        pytest.param(one_trial_run(rows_per_s=0.0), id="zero"),
    ],
)
def test_every_run_gives_whole_documents(run):
    page = html(run, reference())
    found = parsed(page)
    assert all(a.startswith(("data:,", "data:text/csv;base64,", "#")) for a in found.addresses)
    assert {a[1:] for a in found.addresses if a.startswith("#")} <= set(re.findall(r' id="([^"]+)"', page))
    text = markdown(run, reference())
    for document in (page, text):
        assert "nan" not in re.sub(r"[A-Za-z]*nan[A-Za-z]+|[A-Za-z]+nan", "", document).lower()
        assert "None" not in document


def test_page_says_what_matters():
    run = mixed_run()
    page = html(run, reference())
    command = "scale sweep cpu --cores 1..4 --tag &#x27;note=two words&#x27;"
    told = (
        run.plan.sweep.name,
        "8 VALID (short window)",
        "1 ABORTED",
        "cores-3-r3 (ABORTED)",
        "Synthetic CPU",
        command,
    )
    told += (
        "partitions moves",
        "Before you believe it",
        "Published and ours",
        "smallest difference between levels",
        "ran 1st",
        "95 % band",
    )
    assert [words for words in told if words not in page] == []
    assert page.count('class="plot panel"') == 4 * 11
    text = markdown(run)
    assert "could not write" in text and "| GENERATOR_BOUND |" in text


def every_hostile_page() -> dict[str, str]:
    """The documents of a hostile run of one variant, of several, and of `scale ab`."""
    run = hostile_run()

    def varied(trial: Trial) -> Trial:
        variant = {"method": HOSTILE if trial.replicate % 2 else "other"}
        return replace(trial, subject=replace(trial.subject, variant=variant))

    trials = [varied(t) for t in run.plan.trials]
    results = [replace(r, trial=varied(r.trial)) for r in run.results]
    several = replace(run, plan=replace(run.plan, trials=tuple(trials)), results=tuple(results))
    ab = plan_of()
    about = {"A": HOSTILE, "B": f"{HOSTILE} again"}
    ab = replace(ab, sweep=replace(ab.sweep, name=HOSTILE, question=HOSTILE, variants_ab=about, tags={"x": HOSTILE}))
    sets = {"one": run, "several": several, "ab": run_of(ab)}
    return {f"{name}/{page}": text for name, one in sets.items() for page, text in documents(one).pages.items()}


def test_everything_from_outside_is_escaped():
    pages = every_hostile_page()
    kinds = [name.rpartition(".")[2] for name in pages]
    assert min(kinds.count("html"), kinds.count("md")) >= 7
    for name, text in pages.items():
        assert not COMMANDS.search(text), name
        if name.endswith(".html"):
            parsed(text)
            assert text.count("<script") == 1 and "<script>alert" not in text and "<img" not in text, name
            assert "&lt;script&gt;" in text and r"\x1b[31m" in text, name
            continue
        prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
        rendered = MarkdownIt("commonmark").enable("table").render(text)
        assert not [tag for tag in ("<img", "<script") if tag in prose or tag in rendered], name
        assert "&lt;img" in prose and not re.search(r"(?<!\\)\*star", prose), name
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| cores-")}
        assert len(widths) <= 1
    run = replace(synthetic_run((1,), 1), manifest={"command": ["a", "```", "<img src=x>"]})
    (shown,) = re.findall("(?m)^    .*$", markdown(run))
    assert shown.split() == ["a", "'```'", "'<img", "src=x>'"]  # a command is code whatever is in it
    assert "<img" not in MarkdownIt("commonmark").render(markdown(run))


def test_curve_as_a_file_has_its_style_and_its_text():
    svg = curve_svg_bytes(mixed_run()).decode()
    assert svg.startswith("<svg xmlns=") and "<style>" in svg and ">UNSTEADY (1)</text>" in svg
    assert curve_svg_bytes(synthetic_run((1,), 1, verdicts={(1.0, 1): VerdictKind.ABORTED})) == b""
    assert len(set(SHAPES.values())) == len(VerdictKind) and set(SHAPES) == set(VerdictKind)


def test_long_series_are_thinned_without_losing_the_extremes_and_gaps_break_the_line():
    series = [(float(t), {"x": 1000.0 if t == 1234 else float(t % 7)}) for t in range(5000)]
    kept = pick(series, "x")
    assert len(kept) <= 260
    assert max(v for _, v in kept) == 1000.0
    assert kept == sorted(kept)
    assert [len(run) for run in runs_of([(float(t), 1.0) for t in (0, 1, 2, 10, 11, 12)])] == [3, 3]
    assert pick([(0.0, {"x": None}), (1.0, {}), (2.0, {"x": float("nan")}), (3.0, {"x": 2.0})], "x") == [(3.0, 2.0)]


def test_numbers_are_short_and_ticks_round():
    for high, expected in ((10, [0, 2, 4, 6, 8, 10]), (0, [0]), (1.06, [0, 0.25, 0.5, 0.75, 1])):
        assert ticks(0, high, 5) == pytest.approx(expected)
    numbers = {0.01234: "0.0123", 1234567.0: "1,230,000", 0: "0", None: "–", 99.95: "100", 7.6854e-11: "7.69e-11"}
    assert {value: short(value) for value in numbers} == numbers
    said = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"]
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == said


def test_a_sweep_with_variants_is_still_one_page_that_needs_nothing_else():
    sweep = synthetic_sweep(vary={"method": ("copy", "insert")}, levels=(1.0, 2.0), replicates=1)
    run = synthetic_run(levels=(1, 2), replicates=1, sweep=sweep)

    def written(result, method, ending=""):
        subject = replace(result.trial.subject, method=method, variant={"method": method})
        trial, order = result.trial, result.trial.order + 10 * bool(ending)
        return replace(result, trial=replace(trial, trial_id=trial.trial_id + ending, order=order, subject=subject))

    copied = [written(r, "copy") for r in run.results]
    results = (*copied, *(written(r, "insert", "-insert") for r in run.results))
    both = replace(run, results=results, plan=replace(run.plan, trials=tuple(r.trial for r in results)), fit=None)
    made = documents(both)
    page = made.pages["report.html"]
    assert page.count('class="variant"') == page.count("<h2>Every trial and its verdict</h2>") == 2
    names = re.findall(r' id="([^"]+)"', page)
    assert len(set(names)) == len(names)
    assert 'href="report-' not in page
    assert all(name in names and f'href="#{name}"' in page for name in ("copy", "insert"))
    kinds = ("report", "report-copy", "report-insert")
    assert set(made.pages) == {f"{name}.{ending}" for name in kinds for ending in ("md", "html")}
