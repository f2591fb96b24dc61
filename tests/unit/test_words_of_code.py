"""Names in the code say what a thing is, in one meaning; docstrings and comments in C begin with their verb or noun.

`told`, `said`, `asked`, `found` and `given` say only that somebody did something: `message`, `request`, `rows`, `options`
say what it is. A docstring that begins with What, Whose or Of makes the reader wait for its subject.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.offenders import assert_none

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("runner/scale_sweep", "loadgen")
EMPTY_NAMES = {"told", "said", "asked", "found", "given"}
EMPTY_STARTS = {"what", "whose", "of"}
COMMENT = re.compile(r'/\*(.*?)\*/|//([^\n]*)|"(?:\\.|[^"\\\n])*"', re.DOTALL)  # a text between quotes holds none


def files_of(folders: tuple[str, ...], *endings: str) -> list[Path]:
    paths = (ROOT / folder for folder in folders)
    files = {file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])}
    return sorted(file for file in files if file.suffix in endings)


def names_made(node: ast.AST) -> Iterator[str]:
    """The names that a node of the syntax tree gives to something."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        yield node.name or ""
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield node.asname or ""
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
        yield node.name or ""


def begins_empty(text: str) -> bool:
    words = re.findall(r"[\w']+", text)
    return bool(words) and words[0].lower() in EMPTY_STARTS


def empty_words(source: str) -> Iterator[str]:
    """A sentence for each name and each docstring of a Python source that the rule refuses."""
    for node in ast.walk(ast.parse(source)):
        for name in names_made(node):
            if name.strip("_") in EMPTY_NAMES:
                yield f"line {getattr(node, 'lineno', 1)}: the name {name!r} does not say what it is"
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node) or ""
            if begins_empty(text):
                yield f"line {getattr(node, 'lineno', 1)}: begin with the verb or the noun: {text.splitlines()[0]!r}"


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


def test_names_and_docstrings_say_what_a_thing_is():
    texts = ((path, path.read_text(encoding="utf-8")) for path in files_of(FOLDERS, ".py"))
    assert_none(f"{path.relative_to(ROOT)}, {words}" for path, text in texts for words in empty_words(text))


def test_comments_in_c_begin_with_a_verb_or_a_noun():
    texts = ((path, path.read_text(encoding="utf-8")) for path in files_of(FOLDERS, ".c", ".h"))
    assert_none(f"{path.relative_to(ROOT)}, {words}" for path, text in texts for words in empty_comments(text))


def test_a_class_name_has_one_meaning():
    places: dict[str, list[str]] = {}
    for path in files_of(FOLDERS, ".py"):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert_none(f"{name}: {', '.join(paths)}" for name, paths in places.items() if len(paths) > 1)


def test_empty_names_are_seen_wherever_a_name_is_made():
    source = """
def told(said, *asked):
    for found in said:
        self.given = found
    return [found for found in asked]
"""
    assert len(list(empty_words(source))) == 6
    assert not list(empty_words("founds = is_found = given_names = 1\nprint(match.found)"))


def test_docstrings_and_comments_are_seen_by_their_first_word():
    assert list(empty_words('"""What a plan says."""'))
    assert not list(empty_words('"""Whatever it is. Of it."""'))
    comments = '/* Of a row */ x; // the rows\n// of a table\ny; // Of all\nprintf("// Of text");'
    assert [words.split(":")[0] for words in empty_comments(comments)] == ["line 1", "line 3"]
