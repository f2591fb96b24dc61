"""Every command line in the documents parses, and every link leads to a heading that is there. Nothing is started.

The README, `docs/` and CONTRIBUTING are read. A line of a shell block that starts with `scale` is given to the parser,
which must know each flag and each argument. Lines with a placeholder, `...` or `<x>`, are left out.
"""

import re
import shlex
from pathlib import Path

import pytest
import typer

from scale_sweep.cli.commands import COMMANDS, load_command
from tests.offenders import assert_none
from tools.walkthrough.pages import BLOCK, INLINE, command_lines

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(p for p in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if p.name != "CHANGELOG.md")
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")
UNFINISHED = {"MissingParameter", "BadOptionUsage"}


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


@pytest.mark.parametrize(
    "line", ["scale sweep cpu --no-such-flag", "scale compare one --no-such-flag", "scale swep cpu", "scale disks mke"]
)
def test_a_wrong_command_line_is_refused(line):
    with pytest.raises(Exception, match=r".") as refused:
        parsed(shlex.split(line)[1:])
    assert not isinstance(refused.value, typer.Exit)


def test_links_lead_to_pages_and_headings():
    links = [(path, *link) for path in PAGES for link in LINK.findall(path.read_text(encoding="utf-8"))]
    assert_none(f"{link[0].name} links to {link[1]}#{link[2]}" for link in links if leads_nowhere(*link))


def leads_nowhere(path: Path, target: str, anchor: str) -> bool:
    page = (path.parent / target) if target else path
    has_headings = anchor and page.suffix == ".md"
    return not page.exists() or (has_headings and anchor not in slugs(page.read_text(encoding="utf-8")))
