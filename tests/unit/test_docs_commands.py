"""Every command line in the documents parses, and every link leads to a heading that is there. Nothing is started.

The README, `docs/` and CONTRIBUTING are read. A line of a shell block that starts with `scale` is given to the parser,
which must know each flag and each argument. Lines with a placeholder, `...` or `<x>`, are left out.
"""

import re
import shlex
from pathlib import Path

import pytest
import typer

from runner.cli.commands import COMMANDS, load_command

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(p for p in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if p.name != "CHANGELOG.md")
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")
INLINE = re.compile(r"`(?:\.venv/bin/)?(scale [^`]+)`")
SHELL = {"", "sh", "shell", "bash", "console", "text"}
UNFINISHED = {"MissingParameter", "BadOptionUsage"}
ENDS_AT = re.compile(r"\s#\s|[|>&]|;\s")  # a comment, a pipe, a redirection, the next command


def lines_of(page: str) -> list[str]:
    """Command lines of a page, without prompts and variables: of its shell blocks, continued lines joined, and inline."""
    found = []
    for kind, block in BLOCK.findall(page):
        if kind in SHELL:
            for line in re.sub(r"\\\n\s*", " ", block).splitlines():
                bare = re.sub(r"^\s*[$#]\s+", "", line).strip()
                bare = re.sub(r"^(?:sudo |[A-Z_]+=\S+ |\.venv/bin/)*", "", bare)
                if bare.startswith("scale ") and "..." not in bare and "<" not in bare:
                    found.append(ENDS_AT.split(bare, maxsplit=1)[0].strip())
    inline = [" ".join(line.split()) for line in INLINE.findall(BLOCK.sub("", page))]
    return found + [line for line in inline if not any(mark in line for mark in ("...", "<", "|"))]


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


# architecture.md shows a package of somebody else's: tests/integration/test_another_package.py installs it and runs that.
COMMAND_LINES = sorted(
    {
        (path.name, line)
        for path in PAGES
        if path.name != "architecture.md"
        for line in lines_of(path.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize(("page", "line"), COMMAND_LINES, ids=[f"{page}: {line[:60]}" for page, line in COMMAND_LINES])
def test_a_command_line_of_a_document_parses(page, line):
    try:
        parsed(shlex.split(line)[1:])
    except typer.Exit:
        pass  # --help
    except Exception as error:
        if type(error).__name__ in UNFINISHED and line in mentioned(page):
            return
        pytest.fail(f"{page}: {line}: {getattr(error, 'message', error)}", pytrace=False)


@pytest.mark.parametrize(
    "line", ["scale sweep cpu --no-such-flag", "scale compare one two three", "scale swep cpu", "scale disks mke"]
)
def test_a_wrong_command_line_is_refused(line):
    with pytest.raises(Exception, match=r".") as refused:
        parsed(shlex.split(line)[1:])
    assert not isinstance(refused.value, typer.Exit)


def test_there_are_command_lines():
    assert len(COMMAND_LINES) > 20


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_link_to_a_heading_leads_to_one(path):
    for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
        page = (path.parent / target) if target else path
        assert page.exists(), f"{path.name} links to {target}"
        if anchor and page.suffix == ".md":
            assert anchor in slugs(page.read_text(encoding="utf-8")), f"{path.name} links to {target}#{anchor}"
