"""Writes docs/commands.md from the commands and the exit codes of the code, so that the page is always up to date.

python tools/commands_page.py > docs/commands.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.base.errors import EXIT_CODES
from scale_sweep.cli.commands import GROUPS, load_command

HEAD = """# Commands

`tools/commands_page.py` generates this page from the commands. After a command, `--help` shows its flags. With
`scale sweep cpu`, `scale plan disk` and `scale ab`, these are the usual flags of that axis; `--help load` shows all
flags of a section, `--help-all` all flags. Commands whose output a script may read have `--json`. `RUN` is a run's
name, a part of it, its path, or `last`.

`scale --install-completion` makes your shell complete commands, flags, runs, databases and sweep files.
"""
EXITS = """
## Exit codes

| code | meaning |
|---|---|
"""


def page() -> str:
    """The page as Markdown."""
    groups = "".join(f"\n## {title}\n\n{_table(names)}" for title, names in GROUPS.items())
    return HEAD + groups + EXITS + "".join(f"| {code} | {meaning} |\n" for code, meaning in EXIT_CODES.items())


def _table(names: dict[str, tuple[str, str]]) -> str:
    rows = "".join(_rows(name, line) for name, (_, line) in names.items())
    return f"| command | effect | example |\n|---|---|---|\n{rows}"


def _rows(name: str, line: str) -> str:
    command = load_command(name)
    below = getattr(command, "commands", {})
    if not below:
        return _row(name, line, command.epilog)
    return "".join(_row(f"{name} {word}", _first(one.help), one.epilog) for word, one in below.items())


def _row(name: str, line: str, epilog: str | None) -> str:
    example = (epilog or "").partition("Example: ")[2].partition("\n")[0].strip()
    shown = f"`{example}`" if example else ""
    return f"| `scale {name}` | {_cell(line)} | {_cell(shown)} |\n"


def _first(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
