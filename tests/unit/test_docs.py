"""The documents say what the program does: every command, setting, verdict, column and exit code is in them.

Every command line in the README, `docs/` and CONTRIBUTING parses, and every link leads to a heading that is there: nothing
is started. A line of a shell block that starts with `scale` is given to the parser, which must know each flag and each
argument. Lines with a placeholder, `...` or `<x>`, are left out. The section of docs/databases.md on many databases is made
from a run."""

import csv
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from scale_sweep.cli.commands import COMMANDS, load_command
from scale_sweep.model.measured import VerdictKind
from scale_sweep.results.store.texts import COLUMNS_AFTER_KNOBS, COLUMNS_BEFORE_KNOBS
from scale_sweep.server.targets import all_facts, columns_of
from tests.offenders import assert_none
from tests.unit.test_several_databases import measured, several
from tools import commands_page, databases_table, metrics_page, reads_page, settings_page
from tools import comparison_section as module
from tools.walkthrough.pages import BLOCK, INLINE, command_lines

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(p for p in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if p.name != "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")
UNFINISHED = {"MissingParameter", "BadOptionUsage"}
DOCS = {p.name: p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md")}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("commands", commands_page.page),
        ("databases", lambda: databases_table.written(DOCS["databases.md"])),
        ("metrics", metrics_page.page),
        ("reads", reads_page.page),
        ("settings", settings_page.page),
    ],
)
def test_a_page_is_what_its_tool_makes(name, made):
    assert DOCS[f"{name}.md"] == made(), f"run the tool of {name} in tools/"


def test_the_readme_names_each_database_and_leads_on():
    names = [facts.title.split()[0] for facts in all_facts() if facts.name != "null"]
    assert_none(name for name in (*names, "docs/commands.md", "docs/index.md") if name not in README)


def test_every_verdict_is_explained():
    assert_none(kind.value for kind in VerdictKind if f"\n## {kind.value}\n" not in DOCS["verdicts.md"])


def test_every_column_is_explained():
    text = DOCS["results.md"]
    families = ("response_ms_", "service_ms_", "late_ms_")
    knobs = [knob.column for knob in columns_of(all_facts()) if knob.column]
    columns = (*COLUMNS_BEFORE_KNOBS, *knobs, *COLUMNS_AFTER_KNOBS)
    known = {column for column in columns for f in families if column.startswith(f) and f"`{f}*`" in text}
    assert_none(column for column in columns if f"`{column}`" not in text and column not in known)


def test_every_file_that_a_document_names_is_there():
    packages = "scale_sweep|runner|loadgen|tools|playbooks|dashboards|images|bench|tests|sweeps|docs"
    for name, text in {**DOCS, "README.md": README}.items():
        for path in re.findall(rf"`((?:{packages})/[^`\s]*)`", text):
            assert "NAME" in path or list(ROOT.glob(path)) or list((ROOT / "runner").glob(path)), f"{name} names {path}"


def faults(table: Path) -> list[str]:
    """A sentence for each rule that a table of evidence breaks."""
    first, *lines = table.read_text(encoding="utf-8").splitlines()
    header, *rows = csv.reader(lines)
    scripts = re.findall(r"\b(?:bench|runner|tests)/[\w/]+\.py", first)
    found = [f"there is no {script}" for script in scripts if not (ROOT / script).exists()]
    found += [f"{len(row)} cells beside {len(header)}: {row[0]}" for row in rows if len(row) != len(header)]
    if not first.startswith("# command: "):
        found.append("the first line is not `# command: ...`")
    if not any(
        f"`{name}`" in DOCS[page] for name in (table.stem, table.name) for page in ("evidence.md", "performance.md")
    ):
        found.append("no page names it")
    return found


def test_tables_of_evidence_have_their_command_and_a_place_on_a_page():
    tables = sorted((ROOT / "bench" / "evidence").glob("*.csv"))
    assert len(tables) > 30
    assert_none(f"{table.name}: {fault}" for table in tables for fault in faults(table))


def mentioned(page: str) -> set[str]:
    """The lines that a page has inside a sentence; there a command may be named without its arguments."""
    text = next(p for p in PAGES if p.name == page).read_text(encoding="utf-8")
    return {" ".join(line.split()) for line in INLINE.findall(BLOCK.sub("", text))}


def parsed(words: list[str]) -> None:
    """Raises what the parser raises for a command line that it refuses."""
    name, *rest = words
    if name.startswith("-"):
        return
    assert name in COMMANDS, f"there is no command {name}"
    command = load_command(name)
    while rest and getattr(command, "commands", None):
        name, *rest = rest
        assert name in command.commands, f"there is no {name}"
        command = command.commands[name]
    command.make_context(name, rest)


def slugs(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ +(.*?)\s*$", BLOCK.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


COMMAND_LINES = {
    (path.name, line)
    for path in PAGES
    if path.name != "architecture.md"  # tests/integration/test_another_package.py runs the package that it shows
    for line in command_lines(path.read_text(encoding="utf-8"))
}


def test_command_lines_of_documents_parse():
    assert len(COMMAND_LINES) > 20
    for wrong in ("sweep cpu --no-such-flag", "compare one --no-such-flag", "swep cpu", "disks mke"):
        assert refusal("README.md", f"scale {wrong}")
    assert_none(f"{page}: {line}: {wrong}" for page, line in sorted(COMMAND_LINES) if (wrong := refusal(page, line)))


def refusal(page: str, line: str) -> str:
    """Why a command line of a page is refused; empty for a good one."""
    try:
        parsed(shlex.split(line)[1:])
    except typer.Exit:
        pass  # --help
    except Exception as error:
        if not (type(error).__name__ in UNFINISHED and line in mentioned(page)):
            return str(getattr(error, "message", error)) or type(error).__name__
    return ""


def test_links_lead_to_pages_and_headings():
    links = [(path, *link) for path in PAGES for link in LINK.findall(path.read_text(encoding="utf-8"))]
    assert_none(f"{link[0].name} links to {link[1]}#{link[2]}" for link in links if leads_nowhere(*link))


def leads_nowhere(path: Path, target: str, anchor: str) -> bool:
    page = (path.parent / target) if target else path
    has_headings = anchor and page.suffix == ".md"
    return not page.exists() or (has_headings and anchor not in slugs(page.read_text(encoding="utf-8")))


def test_a_page_of_the_site_links_only_to_pages_of_the_site():
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    left_out = set(re.findall(r"^  /(\S+)$", site, re.MULTILINE))
    assert left_out <= set(DOCS) and left_out
    links = ((name, target) for name in set(DOCS) - left_out for target, _ in LINK.findall(DOCS[name]))
    assert_none(f"{name} links to {target}" for name, target in links if target in left_out)


COMMAND = "scale sweep cpu --results /elsewhere -y --target questdb,victoriametrics,postgres --cores 1..2".split()


def run_of_three():
    host = {"cpus": [0, 1], "cpu_model": "a CPU"}
    manifest = {"command": COMMAND, "created_utc": "2026-11-26T10:40:43+00:00", "host": host}
    return replace(measured(several()), manifest=manifest)


def test_it_has_the_command_the_valid_trials_and_the_files(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 3)
    page = module.written(f"before\n{module.BEGIN}old\n{module.END}after\n", run_of_three())
    assert page.startswith(f"before\n{module.BEGIN}") and page.endswith(f"{module.END}after\n") and "old" not in page
    parts = ["\nscale sweep cpu --target questdb,victoriametrics,postgres --cores 1..2\n", "VALID"]
    parts += ["2026-11-26 10:40 UTC on 2 × a CPU", "(examples/many-databases.html)", "images/many-databases.svg"]
    assert [part for part in parts if part not in page] == []


def test_a_run_of_fewer_databases_or_with_missing_trials_is_refused(monkeypatch):
    run = run_of_three()
    for least, count, why in ((module.LEAST, None, "has 3 databases"), (3, 5, "5 of")):
        monkeypatch.setattr(module, "LEAST", least)
        with pytest.raises(ValueError, match=why):
            module.section(replace(run, results=run.results[:count]))
