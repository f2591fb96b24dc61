"""The kinds of sentences that are hard to read for an engineer who learned English later, and how to write instead.

Each rule is made precise enough to have no list of exceptions. A question may begin with "what" or "where", a person
may say and ask, and a formula may name its terms with "where".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tools.prose.sentences import NAME

MOST_WORDS = 35
SHORT_ITEM = 5  # words of an item that is no clause


@dataclass(frozen=True, kw_only=True)
class Rule:
    """offends: the words of a sentence that the rule refuses."""

    kind: str
    better: str
    offends: Callable[[str], list[str]]


_PERSON = (
    r"(?:you|we|i|who|whoever|nobody|somebody|someone|everybody|people|persons?|users?|readers?|vendors?|authors?)"
)
_HELPER = r"(?:(?:does|do|did|can|could|cannot|will|would|may|might|must|should|to)\s+)?(?:not\s+)?"
_ADVERB = r"(?:(?:also|then|thus|therefore|only|already|alone|itself)\s+)?"
_SPEAKS = re.compile(
    rf"\b(?P<person>{_PERSON}\s+)?{_ADVERB}{_HELPER}(?:says?|knows?|asks?|tells?|wants?)\b", re.IGNORECASE
)
_IMPERATIVE = re.compile(
    r"^(?:do not )?(?:say|ask|know|tell)\b|[,;:(]\s*(?:say|ask|tell)\b|\b(?:to|please)\s+(?:ask|know)\b", re.IGNORECASE
)
# After these verbs "what" begins an indirect question, as in "see what limited it".
_LEARNS = (
    r"(?:sees?|shows?|showed|shown|explains?|explained|decides?|defines?|describes?|states?|reports?|records?|learns?|"
    r"reads?|checks?|chooses?|finds? out|found out|determines?|measures?|understands?|knows?|exactly|compares?|lists?)"
)
_WHAT = re.compile(rf"(?<!\w)(?:(?P<verb>{_LEARNS})\s+)?what(?:ever)?\b", re.IGNORECASE)
# After these words "where" is a place, and no condition.
_PLACES = (
    r"(?:place|director(?:y|ies)|folders?|files?|pages?|levels?|lines?|points?|columns?|rows?|cells?|machines?|hosts?|"
    r"disks?|sections?|tables?|positions?|cpus?|devices?|trials?|environment|container|repositor(?:y|ies)|schema|"
    r"ports?|namespaces?|address|addresses|is|are|and|or|shows?|explains?|see|know|states?|find|found|from|exactly|"
    r"decides?|records?)"
)
_FORMULA = rf"(?:\s+{NAME}\s+is|\s+\S{{1,2}}\s+is)"
_WHERE = re.compile(
    rf"(?:(?P<place>\b{_PLACES}),?\s+)?\bwhere(?:ver)?\b(?P<formula>{_FORMULA})?",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\b(?:what|where)\b[^.;:]*\?", re.IGNORECASE)
_NOT = r"(?:not|no|never|nothing|nobody|neither|cannot|nowhere|\w+n't)"
_DENIED = rf"(?:{_NOT}|none|without|unless|un(?:known|likely|common|usual|equal|measured|named|checked|tested|used))"
_CLAUSE = re.compile(
    r"[,;:.()–·]|\b(?:that|which|who|because|and|but|or|nor|if|when|while|where|so|than|as|for)\b", re.IGNORECASE
)
_TWICE = re.compile(rf"\b{_NOT}\b.*\b{_DENIED}\b", re.IGNORECASE)
_EXPLAINED = r"(?: \([^()]*\)| \{[^{}]*\}| \[[^][]*\])?"
_QUOTED = re.compile(r'"[^"]*"')
_NAMES = re.compile(rf"{NAME}{_EXPLAINED}(?:(?:,| and| or|, and|, or) {NAME}{_EXPLAINED})+")


def _found(pattern: str) -> Callable[[str], list[str]]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda sentence: [found.group() for found in compiled.finditer(sentence)]


def _speaks(sentence: str) -> list[str]:
    if _IMPERATIVE.search(sentence):
        return []
    return [found.group() for found in _SPEAKS.finditer(sentence) if not found["person"]]


def _what(sentence: str) -> list[str]:
    text = _QUESTION.sub("", sentence)
    return [_around(text, found) for found in _WHAT.finditer(text) if not found["verb"]]


def _where(sentence: str) -> list[str]:
    text = _QUESTION.sub("", sentence)
    return [_around(text, found) for found in _WHERE.finditer(text) if not found["place"] and not found["formula"]]


def _around(text: str, found: re.Match[str]) -> str:
    return text[max(found.start() - 12, 0) : found.end() + 18]


def _twice(sentence: str) -> list[str]:
    return [part.strip() for part in _CLAUSE.split(sentence) if _TWICE.search(part)]


def _items(sentence: str) -> list[str]:
    """The parts of a sentence between semicolons. Names between backticks in a row, each with or without its
    explanation in parentheses, are one word, and so is a quotation."""
    return [part.strip(" .") for part in _NAMES.sub(NAME, _QUOTED.sub(NAME, sentence)).split(";")]


def _is_list(items: list[str]) -> bool:
    """Whether the items are an enumeration: "http: gzip; tcp: telnet", "gzip (http); telnet (tcp)"."""
    is_named = all(re.match(r"[\w.-]+(?: \w+)?: ", item) for item in items)
    return is_named or all(item.endswith(")") for item in items)


def _words(text: str) -> int:
    return len(re.findall(r"[\w`]\S*", text))


def _semicolons(sentence: str) -> list[str]:
    """A list of short items is no chain of clauses."""
    items = _items(sentence)
    is_chain = not _is_list(items) and sum(_words(item) > SHORT_ITEM for item in items) > 2
    return ["several semicolons"] if is_chain else []


def _long(sentence: str) -> list[str]:
    items = _items(sentence)
    words = max(map(_words, items)) if _is_list(items) else _words("; ".join(items))
    return [f"{words} words"] if words > MOST_WORDS else []


RULES = (
    Rule(kind="a thing that speaks", better="name the act: states, shows, requires, records", offends=_speaks),
    Rule(kind="what as a noun", better="write the noun: data, settings, the cause", offends=_what),
    Rule(
        kind="its own",
        better="leave own out, or write separate, another",
        offends=_found(r"\b(?:its|their|one's|your|an|of)\s+own\b"),
    ),
    Rule(
        kind="is of",
        better="belongs to, comes from, has",
        offends=_found(r"\b(?:is|are|was|were|be|been)(?:\s+(?:not|only|always|never))?\s+of\b"),
    ),
    Rule(
        kind="has none",
        better="has no ... with the noun",
        offends=_found(
            r"\b(?:has|have|had|is|are|was|were|needs?|gives?|gets?|sets?|makes?|with|or|and|if)\s+none\b(?!\s+of\b)"
        ),
    ),
    Rule(
        kind="as asked",
        better="as configured, as requested by --flag",
        offends=_found(r"\bas\s+(?:it\s+is\s+|it\s+was\s+)?(?:asked|told|wished|wanted|said|ordered|meant)\b"),
    ),
    Rule(kind="a condition with where", better="if, when", offends=_where),
    Rule(kind="a double negative", better="say what is, not what is not", offends=_twice),
    Rule(kind="a chain of semicolons", better="sentences, or a list", offends=_semicolons),
    Rule(kind="a long sentence", better=f"at most {MOST_WORDS} words: one idea a sentence", offends=_long),
)


def offences(sentence: str) -> Iterator[tuple[Rule, str]]:
    """Each rule that a sentence breaks, with the words."""
    for rule in RULES:
        for words in rule.offends(sentence):
            yield rule, words
