"""Joins the parts of a long answer's content, and reads it. Refuses an answer of which a part is missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from scale_sweep.loadgen.protocol import ContentPart, ReportedAnswer
from scale_sweep.model import Cells

Content = str | Sequence[Cells]  # the text of the server, or rows with times in ns since 1970


def content_of(answer: ReportedAnswer) -> Content:
    """The content of an answer that has one."""
    parts = [json.loads(part) for part in answer.content]
    if isinstance(parts[0], str):
        return "".join(parts)
    return [tuple(row) for part in parts for row in part]


class ContentParts:
    """Joins the answers of one process with the parts of their content that came before them."""

    def __init__(self) -> None:
        self._parts: dict[int, list[ContentPart]] = {}  # by worker

    def take(self, part: ContentPart) -> None:
        """Keeps a part; the first one of a request, asked again perhaps, replaces all that the worker sent before."""
        held = self._parts.setdefault(part.worker, [])
        if part.part == 0:
            held.clear()
        held.append(part)

    def whole(self, answer: ReportedAnswer) -> ReportedAnswer:
        """The answer with all parts of its content; without any, if one is missing."""
        held = self._parts.pop(answer.worker, []) if answer.parts else []
        expected = [(answer.request, number) for number in range(answer.parts)]
        if not answer.content or [(one.request, one.part) for one in held] != expected:
            return answer if answer.content and not answer.parts else replace(answer, content=())
        return replace(answer, content=(*(one.content for one in held), *answer.content))
