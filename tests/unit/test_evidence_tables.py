"""The tables of docs/evidence.md: each file of bench/evidence has its command, rows of one length, and a place on a page."""

import csv
import re
from pathlib import Path

from tests.offenders import assert_none

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted((ROOT / "bench" / "evidence").glob("*.csv"))
PAGES = "".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("evidence.md", "performance.md"))


def faults(table: Path) -> list[str]:
    """A sentence for each rule that a table breaks."""
    first, *lines = table.read_text(encoding="utf-8").splitlines()
    header, *rows = csv.reader(lines)
    scripts = re.findall(r"\b(?:bench|runner|tests)/[\w/]+\.py", first)
    found = [f"there is no {script}" for script in scripts if not (ROOT / script).exists()]
    found += [f"{len(row)} cells beside {len(header)}: {row[0]}" for row in rows if len(row) != len(header)]
    if not first.startswith("# command: "):
        found.append("the first line is not `# command: ...`")
    if f"`{table.stem}`" not in PAGES and f"`{table.name}`" not in PAGES:
        found.append("no page names it")
    return found


def test_tables_have_their_command_and_a_place_on_a_page():
    assert len(TABLES) > 30
    assert_none(f"{table.name}: {fault}" for table in TABLES for fault in faults(table))
