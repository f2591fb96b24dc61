"""Files of load processes: the parts of long answers, and their requests as one Parquet file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from scale_sweep.base.errors import LoadError
from scale_sweep.loadgen.protocol import ContentPart, ReportedAnswer
from scale_sweep.model.questions import Cells

Content = str | Sequence[Cells]  # the text of the server, or rows with times in ns since 1970

MEMORY_MAX = 1 << 28  # bytes of one process's answers


class KeptContent(Sequence[str]):
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
    """Joins answers with the parts before them. More than MEMORY_MAX goes to a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(MEMORY_MAX)
        self._parts: dict[int, list[ContentPart]] = {}  # by worker

    def take(self, part: ContentPart) -> None:
        """The first part of a request replaces all that the worker sent before."""
        held = self._parts.setdefault(part.worker, [])
        if part.part == 0:
            held.clear()
        held.append(part)

    def whole(self, answer: ReportedAnswer) -> ReportedAnswer:
        held = self._parts.pop(answer.worker, []) if answer.parts else []
        expected = [(answer.request, number) for number in range(answer.parts)]
        if not answer.content or [(one.request, one.part) for one in held] != expected:
            held = []
            if not answer.content or answer.parts:
                return replace(answer, content=())
        parts = [*(one.content for one in held), *answer.content]
        return replace(answer, content=KeptContent(self._file, parts))


TRACE = "trace.parquet"
RECORD = np.dtype(  # loadgen/trace.h has the same
    [
        ("due_ns", "=u8"),
        ("sent_ns", "=u8"),
        ("answered_ns", "=u8"),
        ("rows", "=u4"),
        ("worker", "=u4"),
        ("request", "=u4"),
        ("operation", "=u2"),
        ("outcome", "=u2"),
    ]
)
_RECORDS, _NAMES = ".trace", ".operations"
OUTCOMES = ("ok", "failed", "unanswered")


def with_files(specs: Sequence[Mapping[str, str]], folder: str) -> list[dict[str, str]]:
    """Adds a file in the folder to each, and the names of its operations beside it; "": no requests are kept."""
    if not folder:
        return [dict(spec) for spec in specs]
    made = []
    for number, spec in enumerate(specs):
        names = [one.partition(":")[0] for one in spec.get("operations", "write").split(",")]
        (Path(folder) / f"{number}{_NAMES}").write_text(json.dumps(names), encoding="utf-8")
        made.append({**spec, "trace": str(Path(folder) / f"{number}{_RECORDS}")})
    return made


def left_out(lines: Sequence[str]) -> int:
    events = (json.loads(line) for line in lines if '"event":"trace"' in line[:40])
    return sum(int(one["left_out"]) for one in events)


def parquet_of(folder: str, start_ns: int, end_ns: int, about: Mapping[str, str]) -> bytes:
    """Ordered by the time of sending, relative to the window's start. about: for the file's metadata. Raises LoadError
    for a file that is not whole."""
    import pyarrow
    import pyarrow.parquet

    processes = range(len(list(Path(folder).glob(f"*{_NAMES}"))))
    parts = [_read(Path(folder) / f"{number}{_RECORDS}") for number in processes]
    names = [json.loads((Path(folder) / f"{number}{_NAMES}").read_text(encoding="utf-8")) for number in processes]
    known = tuple(dict.fromkeys(name for own in names for name in own))
    numbers = [
        np.array([known.index(name) for name in own])[part["operation"]] for part, own in zip(parts, names, strict=True)
    ]
    whole = np.concatenate(parts)
    order = np.argsort(whole["sent_ns"], kind="stable")
    process = np.repeat(np.arange(len(parts)), [len(part) for part in parts])[order]
    rows = whole[order]
    answered = rows["answered_ns"]
    cells: dict[str, Any] = {
        **{name: rows[name].astype(np.int64) - start_ns for name in ("due_ns", "sent_ns", "answered_ns")},
        "operation": _words(pyarrow, np.concatenate(numbers)[order], known),
        "load_process": process.astype(np.int32),
        **{name: rows[name].astype(np.int64) for name in ("worker", "request", "rows")},
        "outcome": _words(pyarrow, rows["outcome"], OUTCOMES),
        "in_window": (answered >= start_ns) & (answered <= end_ns),
    }
    table = pyarrow.table(cells).replace_schema_metadata(dict(about))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def _read(file: Path) -> np.ndarray[Any, Any]:
    if not file.exists():
        return np.empty(0, dtype=RECORD)
    content = file.read_bytes()
    if len(content) % RECORD.itemsize:
        raise LoadError(f"the load generator's trace has {len(content)} bytes, which is not a whole number of records")
    return np.frombuffer(content, dtype=RECORD)


def _words(pyarrow: Any, numbers: np.ndarray[Any, Any], words: Sequence[str]) -> Any:
    return pyarrow.DictionaryArray.from_arrays(numbers.astype(np.int32), list(words))
