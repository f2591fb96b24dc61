"""TOML of users: keys of very many parts are refused before they cost time; ordinary ones are read."""

import pytest

from scale_sweep.base.errors import UsageError
from scale_sweep.base.input_file import PARTS_MAX, toml_document

MANY = 200_000  # for these, the parser of Python needs longer than a test may take


@pytest.mark.parametrize(
    "text",
    [
        "a." * MANY + "x=1",
        "\n\n[" + "a." * MANY + "b]",
        "x = {" + "a . " * MANY + "b = 1}",
        '"a b".' * MANY + "x=1",
        "'é:'." * MANY + "x=1",
    ],
    ids=["key", "heading", "inline", "quoted", "literal"],
)
def test_a_key_of_very_many_parts_is_refused_at_once(text):
    with pytest.raises(UsageError, match=rf"^file f: line \d has a key of more than {PARTS_MAX} parts"):
        toml_document(text, "file f")


def test_dotted_keys_numbers_and_other_long_texts_are_read_and_what_is_no_toml_is_refused():
    text = "a.b.c = 1.5\n[d.'e f'.\"g\"]\nh = [" + ", ".join(["1.25"] * 500) + "]\n"
    document = toml_document(text, "file f")
    assert document["a"]["b"]["c"] == 1.5 and document["d"]["e f"]["g"]["h"][499] == 1.25
    for text in ("a" * 10**6 + "=1", f"x = '{'é' * 10**6}'", f"x = [{'0.1, ' * 10**5}]", "#" + '"' * 10**6):
        toml_document(text, "file f")
    for text, message in (
        ("a =", "not valid"),
        ("a = " + "[" * 5000, "too deeply"),
        ("a = " + "9" * 6000, "not valid"),
    ):
        with pytest.raises(UsageError, match=message):
            toml_document(text, "file f")
