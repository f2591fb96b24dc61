"""Pages, help texts and messages are plain English, and use one word for each thing (docs/glossary.md). So do names in
the code; docstrings, and comments in C, begin with their verb or noun.

A replaced word is refused with its replacement, except between backticks and in code blocks: there stand names of files,
keys and flags. A number in a message gets the plural of its noun from `counted`: "1 cores" is refused. Nothing speaks that
is no person, no noun phrase begins with "what", a sentence has one idea and at most 35 words (tools/prose).
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scale_sweep.sweep.settings import SETTINGS
from tests.offenders import assert_none
from tools.prose.messages import PACKAGE, messages, sources
from tools.prose.rules import offences
from tools.prose.sentences import sentences, split
from tools.prose.texts import texts, unreleased

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"))
}
NOUNS = "cores|trials|levels|replicates|blocks|disks|points|variants|sessions|samples|degrees|connections"
PLURAL = re.compile(rf" (?:{NOUNS})\b")
LEFT_OUT = ("taosbenchmark/", "iotbenchmark/")  # the output of other programs, as it is there
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"--[\w-]+|\b\w+(?:\.\w+)+\b")  # a flag, or a name of a package

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
    text = CODE_BLOCK.sub(lambda block: "\n" * block.group().count("\n"), text)
    text = re.sub(r"`[^`\n]*`", "``", text)
    return re.sub(r"(?:\[[\w./-]+\.md)?\]\([^)\s]*\)", "", text)


def found_in(text: str) -> list[str]:
    """Each word of `text` that was replaced: its line, the word, and the word to use."""
    return [
        f"line {number}: {word!r}: write {better}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern, better in REPLACED.items()
        for word in re.findall(rf"\b(?:{pattern})\b", line, re.IGNORECASE)
    ]


def replaced(text: str) -> list[str]:
    """The words of a message that were replaced."""
    return found_in(NAME.sub("", prose(text)).replace("\n", " "))


def wide(page: str) -> list[str]:
    """The lines that are too wide, except those of tables, pictures and code."""
    lines = CODE_BLOCK.sub("", page).splitlines()
    return [line for line in lines if len(line) > 120 and not line.startswith(("|", "![", "> |"))]


def plain_numbers(source: str) -> Iterator[str]:
    """Each value of an f-string that a plural follows, unless it has decimals ("0.95 cores") or is a constant of the
    module."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, text in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(text, ast.Constant):
                continue
            has_decimals = value.format_spec is not None and "f" in ast.unparse(value.format_spec)[2:]
            words = ast.unparse(value.value)
            is_number = not isinstance(value.value, ast.IfExp) and ".join(" not in words and not words.isupper()
            if PLURAL.match(str(text.value)) and not has_decimals and is_number:
                yield f"line {node.lineno}: {words}{text.value[:16]!r}: use counted()"


def test_pages_use_the_words_of_the_glossary_in_lines_of_120_columns():
    assert_none(f"{name}: {words}" for name, page in PAGES.items() for words in (*found_in(prose(page)), *wide(page)))


def test_messages_and_help_texts_use_them_and_the_plural_of_a_noun():
    said = [(f"{path.relative_to(PACKAGE)}, line {line}", text) for path in sources() for line, text in messages(path)]
    said += [(setting.flag, setting.help) for setting in SETTINGS]
    assert_none(f"{place}: {text!r}: {words}" for place, text in said if (words := replaced(text)))
    own = {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in sources()}
    assert_none(
        f"{name}, {words}"
        for name, source in own.items()
        for words in plain_numbers(source)
        if not name.startswith(LEFT_OUT)
    )


def test_pages_and_messages_are_plain_english():
    found = (
        f"{place}: {rule.kind} ({words!r}; {rule.better}): {sentence}"
        for place, sentence in texts()
        for rule, words in offences(sentence)
    )
    assert_none(found, "python -m tools.prose lists them")


def test_a_replaced_word_is_found_and_no_other():
    number = 'f"{n} cores"', 'f"{a} of {b:,} trials are"'
    for find, text, count in (
        (found_in, "The Generator is told.", 2),
        (found_in, "an anchor\nthe roof", 2),
        (found_in, "The load generator of a mushroom; bridged networks; intellect; the storyteller.", 0),
        (found_in, prose("the key `passed_over_s`, see [loadgen.md](anchor.md)\n```\nroom\n```\n"), 0),
        (replaced, "the anchor of the run", 1),
        (replaced, "give --generator-cpus", 0),
        *((plain_numbers, text, 1) for text in number),
        (plain_numbers, 'f"{n:.2f} cores, {MOST} trials, {counted(n, 1)} and {n} cored"', 0),
    ):
        assert len(list(find(text))) == count, text


def test_messages_are_literals_f_strings_and_help_texts(tmp_path):
    module = tmp_path / "cli" / "module.py"
    module.parent.mkdir()
    module.write_text(
        '"""Not for a user."""\ndef f(x):\n    """Help of f."""\n    return f"a {x} b", "key", "two words"\n'
    )
    assert {text for _, text in messages(module)} == {"Not for a user.", "Help of f.", "a {} b", "two words"}


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("a thing that speaks", "The plan says how long the sweep takes."),
        ("a thing that speaks", "This is all that the output can tell."),
        ("a thing that speaks", "The fit does not know the machine."),
        ("what as a noun", "What the server left idle is shown."),
        ("what as a noun", "It stores what the sampler read."),
        ("its own", "Each operation has connections of its own."),
        ("is of", "journal.jsonl is not of the run."),
        ("has none", "The curve has a peak, or it has none."),
        ("as asked", "The target is postgres, as asked."),
        ("a condition with where", "Where the kernel has no counters, the rule is silent."),
        ("a condition with where", "The interval is wide where few levels are."),
        ("a double negative", "No rate is shown without an interval."),
        (
            "a chain of semicolons",
            "The server begins to write its rows; the sampler reads all of its files; the load generator waits until it is done.",
        ),
        ("a long sentence", f"It {'really ' * 35}works."),
        ("", "What is the bottleneck?"),
        ("", "See what limited it."),
        ("", "You say how many; users know the answer."),
        ("", "Say how many shards to sweep, like 1..4."),
        ("", "X(n) / X(n₀), where n₀ is the smallest level."),
        ("", "This is the directory where the runs are."),
        ("", "None of the trials failed."),
        ("", "tcp: 1; http: 2; telnet: 3."),
        ("", "Cores, disks; 40 of 55 trials; 12 s."),
        ("", "`a`, `b` (its name), `c` and `d` are files."),
    ],
)
def test_each_kind_of_offence_is_found_and_honest_sentences_pass(kind, sentence):
    kinds = [rule.kind for part in split(sentence) for rule, _ in offences(part)]
    assert kind in kinds if kind else kinds == []


def test_a_page_is_read_sentence_by_sentence_without_code_and_of_a_changelog_the_next_release():
    page = "# A heading\nOne sentence\nover two lines. Another, e.g. this.\n\n```\nwhat\n```\n- an item\n\n| a | `what` |\n"
    lines = [(1, "A heading"), (2, "One sentence over two lines."), (2, "Another, e.g. this.")]
    assert list(sentences(page)) == [*lines, (8, "an item"), (10, "a"), (10, "`x`")]
    assert unreleased("# Log\n## Unreleased\nnew\n## 0.1\nold\n") == "# Log\n## Unreleased\nnew\n"


FILES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for folder in ("runner/scale_sweep", "loadgen")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".c", ".h")
}


# They say only that somebody did something: `message`, `request`, `rows`, `options` say what it is.
EMPTY_NAMES = {"told", "said", "asked", "found", "given"}
# The reader waits for the subject of a docstring that begins with one of these.
EMPTY_STARTS = {"what", "whose", "of"}


def name_made(node: ast.AST) -> str:
    """The name that a node of the syntax tree gives to something."""
    if isinstance(node, ast.Name | ast.Attribute) and not isinstance(node.ctx, ast.Store):
        return ""
    fields = ("name", "arg", "id", "attr") if not isinstance(node, ast.alias | ast.keyword) else ("asname",)
    return next((name for field in fields if isinstance(name := getattr(node, field, None), str)), "")


COMMENT = re.compile(r'/\*(.*?)\*/|//([^\n]*)|"(?:\\.|[^"\\\n])*"', re.DOTALL)  # a text between quotes holds none


def begins_empty(text: str) -> bool:
    words = re.findall(r"[\w']+", text)
    return bool(words) and words[0].lower() in EMPTY_STARTS


def empty_words(source: str) -> Iterator[str]:
    """A sentence for each name and each docstring of a Python source that the rule refuses."""
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 1)
        if name_made(node).strip("_") in EMPTY_NAMES:
            yield f"line {line}: the name {name_made(node)!r} does not say what it is"
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node) or ""
            if begins_empty(text):
                yield f"line {line}: begin with the verb or the noun: {text.splitlines()[0]!r}"


def test_names_docstrings_and_comments_say_what_a_thing_is():
    checks = ((name, text, empty_words if name.endswith(".py") else empty_comments) for name, text in FILES.items())
    assert_none(f"{name}, {words}" for name, text, check in checks for words in check(text))


def empty_comments(source: str) -> Iterator[str]:
    """A sentence for each comment of a C source that the rule refuses. Lines of `//` that follow each other are one."""
    end = -1
    for match in COMMENT.finditer(source):
        text = match[1] if match[1] is not None else match[2]
        if text is None:
            continue
        is_continued = match[2] is not None and not source[end : match.start()].strip() and end >= 0
        end = match.end() if match[2] is not None else -1
        if not is_continued and begins_empty(text):
            line = source.count("\n", 0, match.start()) + 1
            yield f"line {line}: begin with the verb or the noun: {text.strip()[:60]!r}"


def test_a_class_name_has_one_meaning():
    sources = [text for name, text in FILES.items() if name.endswith(".py")]
    names = Counter(name for text in sources for name in re.findall(r"^class (\w+)", text, re.MULTILINE))
    assert_none(f"{count} classes {name}" for name, count in names.items() if count > 1)


def test_empty_names_docstrings_and_comments_are_seen():
    function = "def told(said, *asked):\n    for found in said:\n        self.given = found\n    return [found for found in asked]"
    for source, count in (
        (function, 6),
        ("import a as told\ntry: pass\nexcept E as said: pass", 2),
        ("founds = is_found = given_names = 1\nprint(match.found, found=1)", 0),
        ('"""What a plan says."""', 1),
        ('"""Whatever it is. Of it."""', 0),
    ):
        assert len(list(empty_words(source))) == count, source
    comments = '/* Of a row */ x; // the rows\n// of a table\ny; // Of all\nprintf("// Of text");'
    assert [words.split(":")[0] for words in empty_comments(comments)] == ["line 1", "line 3"]
