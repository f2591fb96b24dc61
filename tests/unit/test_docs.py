"""The documents say what the program does: every command, setting, verdict, column and exit code is in them."""

import re
from pathlib import Path

from scale_sweep.base import errors
from scale_sweep.base.errors import ScaleError
from scale_sweep.model import VerdictKind
from scale_sweep.results.store.texts import COLUMNS_AFTER_KNOBS, COLUMNS_BEFORE_KNOBS
from scale_sweep.server.targets import all_facts, columns_of
from tests.offenders import assert_none
from tools import commands_page, databases_table, reads_page
from tools.settings_page import page

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {p.name: p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md")}


def test_the_commands_page_is_the_commands():
    assert DOCS["commands.md"] == commands_page.page(), "run: python tools/commands_page.py > docs/commands.md"


def test_the_table_of_the_databases_is_that_of_the_facts():
    assert DOCS["databases.md"] == databases_table.written(DOCS["databases.md"]), "run: python tools/databases_table.py"


def test_the_readme_names_each_database():
    names = (facts.title.split()[0] for facts in all_facts() if facts.name != "null")
    assert_none(name for name in names if name not in README)


def test_the_settings_page_is_the_settings_table():
    assert DOCS["settings.md"] == page(), "run: python tools/settings_page.py > docs/settings.md"


def test_the_page_of_reads_is_that_of_the_operations_and_targets():
    assert DOCS["reads.md"] == reads_page.page(), "run: python tools/reads_page.py > docs/reads.md"


def test_the_readme_and_the_index_lead_on():
    assert "docs/commands.md" in README and "docs/index.md" in README


def test_every_verdict_is_explained():
    assert_none(kind.value for kind in VerdictKind if f"\n## {kind.value}\n" not in DOCS["verdicts.md"])


def test_every_column_is_explained():
    page_text = DOCS["results.md"]
    families = {"response_ms_", "service_ms_", "late_ms_"}
    knobs = [knob.column for knob in columns_of(all_facts()) if knob.column]
    for column in (*COLUMNS_BEFORE_KNOBS, *knobs, *COLUMNS_AFTER_KNOBS):
        known = f"`{column}`" in page_text or any(column.startswith(f) and f"`{f}*`" in page_text for f in families)
        assert known, column


def test_every_exit_code_is_on_the_page_of_commands():
    codes = [kind.exit_code for kind in ScaleError.__subclasses__()]
    codes += [value for name, value in vars(errors).items() if name.startswith("EXIT_") and isinstance(value, int)]
    assert len(codes) > 10
    for code in codes:
        assert re.search(rf"^\| {code} \|", DOCS["commands.md"], re.MULTILINE), code


def test_links_between_documents_lead_somewhere():
    for name, text in {**DOCS, "../README.md": README}.items():
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            base = ROOT if name.startswith("..") else ROOT / "docs"
            assert (base / link).exists(), f"{name} links to {link}"


def test_every_file_that_a_document_names_is_there():
    packages = "scale_sweep|runner|loadgen|tools|playbooks|dashboards|images|bench|tests|sweeps|docs"
    for name, text in {**DOCS, "README.md": README}.items():
        for path in re.findall(rf"`((?:{packages})/[^`\s]*)`", text):
            assert "NAME" in path or list(ROOT.glob(path)) or list((ROOT / "runner").glob(path)), f"{name} names {path}"
