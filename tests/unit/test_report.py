"""The report: right figures in the right places, nothing hidden, nothing unescaped. The runs are synthetic."""

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from scale_sweep.model import Bottleneck, BottleneckKind, Measurement, StoredRun, Trial, Verdict, VerdictKind
from scale_sweep.report import article_table, console_table, html, markdown, reference_table, trial_table
from scale_sweep.report.bottlenecks import remedies
from scale_sweep.report.curve import curve_svg_bytes
from scale_sweep.report.documents import documents
from scale_sweep.report.series import pick, runs_of
from scale_sweep.report.shell import part
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
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def parsed(page: str) -> Balance:
    balance = Balance()
    balance.feed(page)
    assert balance.faults == []
    assert balance.open == []
    return balance


def hostile_run() -> StoredRun:
    run = mixed_run(
        sweep=replace(synthetic_sweep(), name=HOSTILE, question=HOSTILE, version=HOSTILE, tags={HOSTILE: HOSTILE})
    )
    results = tuple(
        replace(
            r,
            trial=replace(r.trial, trial_id=HOSTILE, knobs={HOSTILE: HOSTILE}),
            verdict=Verdict(kind=r.verdict.kind, reasons=(HOSTILE,)),
            effective={HOSTILE: HOSTILE},
        )
        for r in run.results
    )
    manifest = {
        "command": [HOSTILE],
        "created_utc": HOSTILE,
        "choice": HOSTILE,
        "host": {"hostname": HOSTILE, "cpu_model": HOSTILE},
        "server": {"version": HOSTILE, "image_digest": HOSTILE},
        "disks": [HOSTILE, {"device": HOSTILE}],
        "ceiling_rows_per_s": {HOSTILE: 1.0},
        "tool_version": HOSTILE,
        "commit": HOSTILE,
    }
    plan = replace(run.plan, notes=(HOSTILE,))
    return replace(run, path=f"/x/{HOSTILE}", results=results, manifest=manifest, plan=plan, fit=None)


# ---- tables ----


def test_article_table_has_the_published_columns():
    table = article_table(synthetic_run((1, 2), 2))
    assert table.headers == (
        "CPU cores",
        "Partitions",
        "Write threads",
        "Write speed (rows/s)",
        "Disk I/O (MB/s)",
        "Available memory (GB)",
        "CPU usage (%)",
    )
    assert [row[0] for row in table.rows] == ["1", "2"]
    assert table.rows[0][1:3] == ("4", "8")
    assert re.fullmatch(r"[\d,]+ \([\d,]+ to [\d,]+\) quick", table.rows[0][3]), "the rate has its interval"
    assert table.rows[0][-1] == "97"


def test_article_table_takes_vgroups_where_the_target_has_them():
    knobs = {1.0: {"vgroups": "4", "connections": "4"}, 5.0: {"vgroups": "12", "connections": "12"}}
    table = article_table(synthetic_run((1, 5), 1, knobs=knobs))
    assert table.headers[1] == "Vgroups"
    assert [row[1:3] for row in table.rows] == [("4", "4"), ("12", "12")]


def test_article_table_for_disks():
    sweep = synthetic_sweep(axis="disks", levels=(1.0, 2.0))
    knobs = {1.0: {"commit_threads": "4"}, 2.0: {"commit_threads": "8"}}
    table = article_table(synthetic_run((1, 2), 1, sweep=sweep, knobs=knobs))
    published = ("Commit threads", "Write speed (rows/s)", "CPU usage (%)", "Disk I/O (MB/s)")
    assert tuple(h for h in table.headers if h != "Durable (rows/s)") == ("Disks", *published)
    assert [row[1] for row in table.rows] == ["4", "8"]


def test_a_level_without_a_valid_trial_is_shown_and_marked():
    verdicts = {(2.0, 1): VerdictKind.UNSTEADY, (2.0, 2): VerdictKind.UNSTEADY}
    table = article_table(synthetic_run((1, 2, 3), 2, verdicts=verdicts))
    assert [row[0] for row in table.rows] == ["1", "2 †", "3"]
    assert table.rows[1][3] != "–"
    assert any("no VALID trial" in note for note in table.notes)


def test_only_valid_trials_enter_the_mean_of_a_level():
    run = synthetic_run((1,), 3, noise=0.0, gamma=1e6, verdicts={(1.0, 1): VerdictKind.UNSTEADY})
    assert article_table(run).rows[0][3] == "1,000,000 quick"


def test_trial_table_keeps_every_trial_with_its_reasons():
    run = mixed_run()
    table = trial_table(run)
    assert len(table.rows) == len(run.results) == len(table.row_notes)
    at = [row[0] for row in table.rows].index("cores-3-r3")
    assert table.rows[at][-1] == "ABORTED"
    assert "No space left" in table.row_notes[at]
    assert table.rows[at][1] == "–"


def test_unmeasured_is_a_dash_and_never_0():
    row = trial_table(one_trial_run()).rows[0]
    assert row[1:] == ("–", "– / 1", "– / – / – / –", "VALID")  # the columns without any value are left out


def test_every_trial_that_is_left_out_has_something_to_change():
    run = mixed_run()
    limit = Bottleneck(
        kind=BottleneckKind.GENERATOR_CPU, sentence="the load generator's CPUs were full", remedy="add a client core"
    )
    full = [replace(r, verdict=replace(r.verdict, bottleneck=limit)) for r in run.results]
    told = remedies(replace(run, results=tuple(full)))
    assert "1 × GENERATOR_BOUND, bottleneck: load generator's CPUs: add a client core" in told
    assert any(t.startswith("1 × UNSTEADY: a longer --warmup") for t in told), "a core more does not make it steady"
    assert any(t.startswith("1 × ABORTED: larger disks") for t in told)
    assert len(told) == len(remedies(run)) == 4
    for page in documents(run).pages.values():
        words = re.sub(r"</?code[^>]*>", "", page)
        assert "a longer --warmup or --window-max" in words


def test_reference_lays_speedup_against_speedup():
    table = reference_table(synthetic_run((1, 2, 4), 1, noise=0.0, gamma=1e6), reference())
    assert table is not None
    by_level = {row[0]: row for row in table.rows}
    assert by_level["2"][1:5] == ("880,000", "2,000,000", "2.32", "2.00")
    assert by_level["12"][1:5] == ("5,730,000", "–", "15.08", "–")
    assert any("vgroups moves along the axis (4 → 12)" in note for note in table.notes)


def test_reference_starts_at_the_first_level_in_common():
    table = reference_table(synthetic_run((2, 4), 1, noise=0.0, gamma=1e6), reference())
    assert table is not None
    by_level = {row[0]: row for row in table.rows}
    assert by_level["2"][3:7] == ("1.00", "1.00", "100", "100")


def test_reference_of_another_rate_is_refused():
    run = reading(synthetic_run((1, 2), 1))
    assert reference_table(run, reference()) is None, "published rows are beside no requests"
    published = [{"cores": "1", "rows_per_s": "7", "requests_per_s": "500"}]
    table = reference_table(run, published)
    assert table is not None and table.rows[0][1] == "500"
    assert table.headers[1:3] == ("Published requests/s", "Ours requests/s")


def test_reference_of_another_axis_is_refused():
    assert reference_table(synthetic_run((1, 2), 1), reference("tdengine-disk.csv")) is None
    assert "Published and ours" not in html(synthetic_run((1, 2), 1), reference("tdengine-disk.csv"))


def test_reference_for_disks_keeps_the_published_range():
    run = synthetic_run((1, 2, 3), 1, sweep=synthetic_sweep(axis="disks", levels=(1.0, 2.0, 3.0)), gamma=1000.0)
    table = reference_table(run, reference("tdengine-disk.csv"))
    assert table is not None
    assert [row[-2] for row in table.rows] == ["80.0–90.0", "150–190", "380–450"]
    assert any("commit threads moves along the axis (4 → 8)" in note for note in table.notes)


def test_reference_survives_nonsense():
    rows = [{"cores": "one", "rows_per_s": "x"}, {"cores": "1"}, {}, {"cores": "2", "rows_per_s": "1,000"}]
    table = reference_table(synthetic_run((1, 2), 1), rows)
    assert table is not None
    assert [row[0] for row in table.rows] == ["1", "2"]


def test_table_for_the_console():
    table = console_table(mixed_run())
    headers, rows = table.headers, table.rows
    assert headers[0] == "cores"
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert rows[1][-1] == "2 VALID, 1 UNSTEADY"
    assert "All VALID trials: short window." in table.notes
    assert all(len(row) == len(headers) for row in rows)


# ---- the page ----


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


def test_page_needs_nothing_from_elsewhere():
    page = html(mixed_run(), reference())
    found = set(re.findall(r"https?://[^\"'\s<)]+", page))
    assert found <= {"http://www.w3.org/2000/svg"}
    assert page.count("<script") == 1 and f"<script>{part('page.js')}</script>" in page
    assert "@import" not in page
    assert "url(" not in page


def test_page_says_what_matters():
    run = mixed_run()
    page = html(run, reference())
    assert run.fit is not None
    assert "cpu (synthetic)" in page
    assert "partitions moves along the axis, so this is not the cores&#x27; effect alone" in page
    for told in (
        "8 VALID (short window)",
        "1 ABORTED",
        "Before you believe it",
        "Published and ours",
        "cores-3-r3 (ABORTED)",
        "smallest difference between two levels that can be detected (80 % power)",
        "In parentheses: 95 % interval.",
        "Synthetic CPU",
        "scale sweep cpu --cores 1..4 --tag &#x27;note=two words&#x27;",
        "ran 1st",
        "95 % band",
    ):
        assert told in page, told
    assert page.count('class="plot panel"') == 4 * 11, "page faults are in no trial"


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


def test_everything_from_outside_is_escaped_in_html():
    pages = {name: page for name, page in every_hostile_page().items() if name.endswith(".html")}
    assert len(pages) >= 7
    for name, page in pages.items():
        parsed(page)
        assert page.count("<script") == 1 and "<script>alert" not in page and "<img" not in page, name
        assert "&lt;script&gt;" in page and r"\x1b[31m" in page, name
        assert not COMMANDS.search(page), name


def test_everything_from_outside_is_escaped_in_markdown():
    pages = {name: page for name, page in every_hostile_page().items() if name.endswith(".md")}
    assert len(pages) >= 7
    for name, text in pages.items():
        prose = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
        assert "<img" not in prose and "<script" not in prose and "&lt;img src=x&gt;" in prose, name
        assert not re.search(r"(?<!\\)\*star", prose), name
        assert not COMMANDS.search(text), name
        rendered = MarkdownIt("commonmark").enable("table").render(text)
        assert "<img" not in rendered and "<script" not in rendered, name
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line.startswith("| cores-")}
        assert len(widths) <= 1


def test_a_command_is_code_whatever_is_in_it():
    run = replace(synthetic_run((1,), 1), manifest={"command": ["a", "```", "<img src=x>"]})
    (shown,) = re.findall("(?m)^    .*$", markdown(run))
    assert shown == "    a '```' '<img src=x>'"
    assert "<img" not in MarkdownIt("commonmark").render(markdown(run))


def test_same_run_same_page():
    assert html(mixed_run()) == html(mixed_run())


def test_reasons_stand_in_markdown_too():
    text = markdown(mixed_run())
    assert "could not write to file" in text
    assert "| GENERATOR_BOUND |" in text


def test_curve_as_a_file_has_its_style_and_its_text():
    svg = curve_svg_bytes(mixed_run()).decode()
    assert svg.startswith("<svg xmlns=")
    assert "<style>" in svg
    assert ">UNSTEADY (1)</text>" in svg
    assert curve_svg_bytes(synthetic_run((1,), 1, verdicts={(1.0, 1): VerdictKind.ABORTED})) == b""


def test_every_verdict_has_a_shape_of_its_own():
    assert set(SHAPES) == set(VerdictKind)
    assert len(set(SHAPES.values())) == len(VerdictKind)


# ---- small parts ----


def test_long_series_are_thinned_without_losing_the_extremes():
    series = [(float(t), {"x": 1000.0 if t == 1234 else float(t % 7)}) for t in range(5000)]
    kept = pick(series, "x")
    assert len(kept) <= 260
    assert max(v for _, v in kept) == 1000.0
    assert kept == sorted(kept)


def test_a_gap_breaks_the_line():
    points = [(float(t), 1.0) for t in (0, 1, 2, 10, 11, 12)]
    assert [len(run) for run in runs_of(points)] == [3, 3]


def test_unmeasured_values_are_no_points():
    assert pick([(0.0, {"x": None}), (1.0, {}), (2.0, {"x": float("nan")}), (3.0, {"x": 2.0})], "x") == [(3.0, 2.0)]


@pytest.mark.parametrize(("high", "expected"), [(10, [0, 2, 4, 6, 8, 10]), (0, [0]), (1.06, [0, 0.25, 0.5, 0.75, 1])])
def test_ticks_are_round(high, expected):
    assert ticks(0, high, 5) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.01234, "0.0123"), (1234567.0, "1,230,000"), (0, "0"), (None, "–"), (99.95, "100"), (7.6854e-11, "7.69e-11")],
)
def test_short_numbers(value, said):
    assert short(value) == said


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "102nd",
        "111th",
    ]


def test_a_sweep_with_variants_is_still_one_page_that_needs_nothing_else():
    sweep = synthetic_sweep(vary={"method": ("copy", "insert")}, levels=(1.0, 2.0), replicates=1)
    run = synthetic_run(levels=(1, 2), replicates=1, sweep=sweep)

    def written(result, method, ending=""):
        subject = replace(result.trial.subject, method=method, variant={"method": method})
        trial, order = result.trial, result.trial.order + 10 * bool(ending)
        return replace(result, trial=replace(trial, trial_id=trial.trial_id + ending, order=order, subject=subject))

    copied = [written(r, "copy") for r in run.results]
    inserted = [written(r, "insert", "-insert") for r in run.results]
    results = (*copied, *inserted)
    both = replace(run, results=results, plan=replace(run.plan, trials=tuple(r.trial for r in results)), fit=None)
    made = documents(both)
    page = made.pages["report.html"]
    assert page.count('class="variant"') == 2
    assert page.count("<h2>Every trial and its verdict</h2>") == 2
    assert len(set(re.findall(r' id="([^"]+)"', page))) == len(re.findall(r' id="([^"]+)"', page)), "names are unique"
    assert 'href="report-' not in page
    assert all(f'id="{name}"' in page and f'href="#{name}"' in page for name in ("copy", "insert"))
    assert set(made.pages) == {
        "report.md",
        "report.html",
        "report-copy.md",
        "report-copy.html",
        "report-insert.md",
        "report-insert.html",
    }
