"""Joins the parts of a long answer's content, keeps it in a file, and reads it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from typing import IO, Any

from scale_sweep.loadgen.protocol import ContentPart, ReportedAnswer
from scale_sweep.model import Cells

Content = str | Sequence[Cells]  # the text of the server, or rows with times in ns since 1970

MEMORY_MAX = 1 << 28  # bytes of one process's answers


class KeptContent(Sequence[str]):
    """The parts of a content in a file, as JSON."""

    def __init__(self, file: IO[bytes], parts: Sequence[str]) -> None:
        self._file, self._places = file, []
        for part in parts:
            data = part.encode()
            self._places.append((file.seek(0, os.SEEK_END), len(data)))
            file.write(data)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: Any) -> Any:
        offset, size = self._places[number]
        self._file.seek(offset)
        return self._file.read(size).decode()


def content_of(answer: ReportedAnswer) -> Content:
    parts = [json.loads(part) for part in answer.content]
    if isinstance(parts[0], str):
        return "".join(parts)
    return [tuple(row) for part in parts for row in part]


class ContentParts:
    """Joins the answers of one process with the parts of their content that came before them. What is more than
    MEMORY_MAX goes to a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(MEMORY_MAX)
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
            held = []
            if not answer.content or answer.parts:
                return replace(answer, content=())
        parts = [*(one.content for one in held), *answer.content]
        return replace(answer, content=KeptContent(self._file, parts))
