"""The pages use one word for each thing (docs/glossary.md): a word that was replaced is refused, with its replacement.

Text between backticks and code blocks are left out: there stand names of files, keys and flags, some of which are old
names that are still read.
"""

import re
from pathlib import Path

from tests.offenders import assert_none

ROOT = Path(__file__).resolve().parents[2]
PAGES = {str(p.relative_to(ROOT)): p for p in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))}

# A pattern of whole words, and what to write instead.
REPLACED = {
    r"(?<!load )(?<!load-)generators?": "load generator",
    r"load cores?": "load generator",
    r"(?<!scale-)loadgens?": "load generator",
    r"loaders?": "load generator",
    r"both sides|two sides|each side|either side": "server and load generator; runs A and B",
    r"anchors?": "drift check",
    r"bridges?": "ablation trial",
    r"passed over|passes over|passed_over\w*": "discarded transient; of candidates: skipped",
    r"rooms?": "package; state directory",
    r"tells?|told|foretells?|foretold": "reports, shows, predicts; (is) not significantly different from",
    r"roofs?": "maximum throughput; of Amdahl's law: asymptote",
    r"near models?": "supported models",
    r"noise floors?": "spread; smallest difference",
    r"leave[- ]last[- ]out(?: error)?": "holdout error (last level)",
    r"speed-ups?": "speedup",
    r"held back|holds? back|kept it back|keeps? it back": "limited, throttled",
    r"hands? on|handed on": "passes, dispatches",
    r"honou?r(?:s|ed|ing)?": "supports",
    r"hearsay|cries|foreign words|insists?": "plain words: who does what",
    r"who was the limit": "the bottleneck",
    r"(?:that|which) (?:is|are) none": "does not exist, is not a ...",
    r"lacks? the abi": "has another ABI version",
    r"data come on": "how the data is placed on the disks",
    r"thrown away": "discarded",
}


def prose(text: str) -> str:
    """A page without code blocks, text between backticks, links' targets and names of pages; lines stay in place."""
    text = re.sub(
        r"^ *```.*?^ *```", lambda block: "\n" * block.group().count("\n"), text, flags=re.MULTILINE | re.DOTALL
    )
    text = re.sub(r"`[^`\n]*`", "``", text)
    return re.sub(r"(?:\[[\w./-]+\.md)?\]\([^)\s]*\)", "", text)


def found_in(text: str) -> list[str]:
    """Each word of `text` that was replaced: its line, the word, and the word to use."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        for pattern, better in REPLACED.items():
            for word in re.findall(rf"\b(?:{pattern})\b", line, re.IGNORECASE):
                found.append(f"line {number}: {word!r}: write {better}")
    return found


def test_pages_use_the_words_of_the_glossary():
    texts = {name: prose(path.read_text(encoding="utf-8")) for name, path in PAGES.items()}
    assert_none(f"{name}: {word}" for name, text in texts.items() for word in found_in(text))


def test_the_lines_of_pages_are_at_most_120_columns_wide():
    assert_none(f"{name}: {line}" for name, path in PAGES.items() for line in wide(path.read_text(encoding="utf-8")))


def wide(page: str) -> list[str]:
    """The lines that are too wide, except those of tables, pictures and code."""
    text = re.sub(r"^ *```.*?^ *```", "", page, flags=re.MULTILINE | re.DOTALL)
    return [line for line in text.splitlines() if len(line) > 120 and not line.startswith(("|", "![", "> |"))]


def test_a_replaced_word_is_found_and_a_longer_word_is_not():
    assert found_in("The Generator is told.") != []
    assert len(found_in("an anchor\nthe roof")) == 2
    assert found_in("The load generator of a mushroom; bridged networks; intellect; the storyteller.") == []
    assert found_in(prose("the key `passed_over_s`, see [loadgen.md](anchor.md)\n```\nroom\n```\n")) == []
