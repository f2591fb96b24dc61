"""Joining the parts of a long answer's content."""

import json

from scale_sweep.loadgen import kept_files
from scale_sweep.loadgen.kept_files import ContentParts, content_of
from scale_sweep.loadgen.protocol import ContentPart, ReportedAnswer, parse_line


def parsed(event, content, kind, **more):
    line = {"event": event, "worker": 1, **more, "content": content}
    found = parse_line(json.dumps(line, separators=(",", ":")))
    assert isinstance(found, kind)
    return found


def asked(parts, content):
    more = {"operation": "range", "request": 7, "devices": [0], "rows": 3, "in_window": True, "parts": parts}
    return parsed("asked", content, ReportedAnswer, **more)


def part(number, content, request=7):
    line = {"event": "content", "worker": 1, "request": request, "part": number, "content": content}
    parsed = parse_line(json.dumps(line, separators=(",", ":")))
    assert isinstance(parsed, ContentPart)
    return parsed


def joined(parts, answer):
    held = ContentParts()
    for one in parts:
        held.take(one)
    return held.whole(answer)


def test_rows_and_texts_are_joined_in_their_order():
    rows = joined([part(0, [[1, 2.5]]), part(1, [[2, None]])], asked(2, [[3, "x"]]))
    assert content_of(rows) == [(1, 2.5), (2, None), (3, "x")]
    assert content_of(joined([part(0, '{"a":"é')], asked(1, '"}'))) == '{"a":"é"}'
    assert content_of(joined([], asked(0, [[1]]))) == [(1,)]
    again = [part(0, [[1]]), part(1, [[2]]), part(0, [[8]])]
    assert content_of(joined(again, asked(1, [[9]]))) == [(8,), (9,)], "a request that was asked again"


def test_contents_that_are_more_than_the_memory_takes_are_kept_in_a_file(monkeypatch):
    monkeypatch.setattr(kept_files, "MEMORY_MAX", 4)
    held = ContentParts()
    answers = [held.whole(asked(0, [[number, "é"]])) for number in range(3)]
    assert [content_of(answer) for answer in answers[::-1]] == [[(2, "é")], [(1, "é")], [(0, "é")]]


def test_an_answer_without_one_of_its_parts_has_no_content():
    first, last = part(0, [[1]]), asked(1, [[3]])
    pairs = [
        (first, asked(2, [[3]])),
        (part(1, [[1]]), last),
        (part(0, [[1]], request=6), last),
        (first, asked(1, None)),
    ]
    assert [joined([one], answer).content for one, answer in pairs] == [()] * 4
