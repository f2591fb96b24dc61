"""Messages, help texts and the words of reports use one word for each thing, as the pages do (test_words.py), and a number
in them gets the plural of its noun from `counted`: "1 cores" and "1 of 1 trials" are refused."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scale_sweep.sweep.settings import SETTINGS
from tests.offenders import assert_none
from tests.unit.test_words import found_in, prose
from tools.prose.messages import PACKAGE, messages, sources

NOUNS = "cores|trials|levels|replicates|blocks|disks|points|variants|sessions|samples|degrees|connections"
PLURAL = re.compile(rf" (?:{NOUNS})\b")
LEFT_OUT = ("taosbenchmark/", "iotbenchmark/")  # the output of other programs, as it is there
FLAG = re.compile(r"--[\w-]+")
DOTTED = re.compile(r"\b\w+(?:\.\w+)+\b")  # names of packages of other programs


def replaced(text: str) -> list[str]:
    """The words of a text that were replaced. Names of flags and dotted names are left out."""
    return found_in(DOTTED.sub("", FLAG.sub("", prose(text))).replace("\n", " "))


def test_messages_and_help_texts_use_the_words_of_the_glossary():
    texts = ((path.relative_to(PACKAGE), line, text) for path in sources() for line, text in messages(path))
    assert_none(f"{path}, line {line}: {text!r}: {words}" for path, line, text in texts if (words := replaced(text)))


def test_the_help_of_settings_uses_them():
    assert_none(f"{setting.flag}: {words}" for setting in SETTINGS if (words := replaced(setting.help)))


def test_replaced_words_are_found_in_messages_and_not_in_flags():
    assert replaced("the anchor of the run")
    assert not replaced("give --generator-cpus")


def test_messages_are_literals_f_strings_and_help_texts(tmp_path):
    module = tmp_path / "cli" / "module.py"
    module.parent.mkdir()
    module.write_text(
        '"""Not for a user."""\ndef f(x):\n    """Help of f."""\n    return f"a {x} b", "key", "two words"\n'
    )
    texts = [text for _, text in messages(module)]
    assert set(texts) == {"Not for a user.", "Help of f.", "a {} b", "two words"}


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


def is_own(path: Path) -> bool:
    """Whether the messages of a module are those of this project."""
    return not str(path.relative_to(PACKAGE)).startswith(LEFT_OUT)


def test_a_number_in_a_message_has_the_plural_of_its_noun():
    found = ((path, words) for path in sources() if is_own(path) for words in plain_numbers(path.read_text("utf-8")))
    assert_none(f"{path.relative_to(PACKAGE)}, {words}" for path, words in found)


def test_numbers_without_a_plural_of_their_own_are_found():
    assert list(plain_numbers('f"{n} cores"')) and list(plain_numbers('f"{a} of {b:,} trials are"'))
    assert not list(plain_numbers('f"{n:.2f} cores, {MOST} trials, {counted(n, 1)} and {n} cored"'))
