"""Names in the code say what a thing is, in one meaning; docstrings and comments in C begin with their verb or noun."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.offenders import assert_none

ROOT = Path(__file__).resolve().parents[2]


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
