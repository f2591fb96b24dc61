"""Pages, the changelog of the next release, help texts and messages are plain English (tools/prose): nothing speaks that
is no person, no noun phrase begins with "what", a sentence has one idea and at most 35 words."""

import pytest

from tests.offenders import assert_none
from tools.prose.rules import offences
from tools.prose.sentences import sentences, split
from tools.prose.texts import texts, unreleased


def kinds(text: str) -> list[str]:
    """The kinds of offences in a text."""
    return [rule.kind for sentence in split(text) for rule, _ in offences(sentence)]


def test_pages_and_messages_are_plain_english():
    found = (
        f"{place}: {rule.kind} ({words!r}; {rule.better}): {sentence}"
        for place, sentence in texts()
        for rule, words in offences(sentence)
    )
    assert_none(found, "python -m tools.prose lists them")


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
    ],
)
def test_each_kind_is_found(kind, sentence):
    assert kind in kinds(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "What is the bottleneck?",
        "See what limited it.",
        "You say how many; users know the answer.",
        "Say how many shards to sweep, like 1..4.",
        "X(n) / X(n₀), where n₀ is the smallest level.",
        "This is the directory where the runs are.",
        "None of the trials failed.",
        "tcp: 1; http: 2; telnet: 3.",
        "Cores, disks; 40 of 55 trials; 12 s.",
        "`a`, `b` (its name), `c` and `d` are files.",
    ],
)
def test_honest_sentences_pass(sentence):
    assert kinds(sentence) == []


def test_a_page_is_read_sentence_by_sentence_without_its_code():
    page = "# A heading\nOne sentence\nover two lines. Another, e.g. this.\n\n```\nwhat\n```\n- an item\n\n| a | `what` |\n"
    assert list(sentences(page)) == [
        (1, "A heading"),
        (2, "One sentence over two lines."),
        (2, "Another, e.g. this."),
        (8, "an item"),
        (10, "a"),
        (10, "`x`"),
    ]


def test_only_the_next_release_of_a_changelog_is_read():
    assert unreleased("# Log\n## Unreleased\nnew\n## 0.1\nold\n") == "# Log\n## Unreleased\nnew\n"
