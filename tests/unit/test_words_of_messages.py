"""Messages, help texts and the words of reports use one word for each thing, as the pages do (test_words.py)."""

import re

from scale_sweep.sweep.settings import SETTINGS
from tests.offenders import assert_none
from tests.unit.messages import PACKAGE, messages, sources
from tests.unit.test_words import found_in, prose

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
