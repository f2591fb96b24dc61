"""Writes the table of the databases into docs/databases.md, from the facts of the targets and from tools/tried.toml.

    python tools/databases_table.py

A test of `make check` compares the page with the table. Refuses to say that something was tried: the list does.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "runner"))
from scale_sweep.model.resources import ServerSource  # noqa: E402
from scale_sweep.server.targets import Facts, all_facts  # noqa: E402

PAGE, TRIED = ROOT / "docs/databases.md", ROOT / "tools/tried.toml"
BEGIN, END = "<!-- tools/databases_table.py writes this table -->\n", "<!-- end of the table -->\n"
HEADS = ("target", "methods, the default first", "reads", "disks", "running", "image", "checked", "last tried")


def table() -> str:
    """The table as Markdown. Raises KeyError for a target that the list lacks."""
    tried = tomllib.loads(TRIED.read_text(encoding="utf-8"))
    shown = [facts for facts in all_facts() if facts.stores_rows and not (facts.by_command or facts.is_simulated)]
    rows = [HEADS, tuple("---" for _ in HEADS), *(_cells(facts, tried[facts.name]) for facts in shown)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _cells(facts: Facts, tried: Mapping[str, str]) -> tuple[str, ...]:
    return (
        f"[`{facts.name}`](#{facts.title.lower().replace(' ', '-')})",
        ", ".join(f"`{method}`" for method in facts.methods),
        "yes" if facts.queries else "no",
        ", ".join(facts.disk_placements) or "one",
        "yes" if ServerSource.ENDPOINT in facts.runs_from else "no",
        "own" if tried["container"] else "–",
        "sums" if facts.sums else "number",
        ", ".join(filter(None, (tried["version"], tried["date"]))),
    )


def written(page: str) -> str:
    """The page with the table between its marks. Raises ValueError for a page without them."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + "\n" + table() + "\n" + page[end:]


def main() -> None:
    """Writes the page if the table differs."""
    page = PAGE.read_text(encoding="utf-8")
    made = written(page)
    if made != page:
        PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
