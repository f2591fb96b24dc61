"""The keys of a super table that name files: rows from `sample_file`, tags from `tags_file`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scale_sweep.base.errors import UsageError
from scale_sweep.taosbenchmark.job import SampleRows, TableColumn
from scale_sweep.taosbenchmark.keys import ObjectReader
from scale_sweep.taosbenchmark.samples import read_sample, read_tags

ReadBytes = Callable[[str], bytes]


@dataclass(frozen=True, kw_only=True)
class FromFiles:
    """The content of the files."""

    sample: SampleRows | None  # None if rows are made
    tag_lines: bytes  # empty if tags are
    notes: tuple[str, ...]  # sentences


def read_files(
    keys: ObjectReader,
    columns: Sequence[TableColumn],
    tags: Sequence[TableColumn],
    precision: str,
    prepared: int,
    read: ReadBytes,
) -> FromFiles:
    """tags: of the tables that this load makes. Mistakes go into keys.refusals."""
    sample = _sample(keys, columns, precision, prepared, read)
    notes = []
    if sample is not None and sample.lines > sample.rows:
        named = keys.name("sample_file")
        notes.append(f"{named}: the first {sample.rows:,} of {sample.lines:,} rows repeat (prepared_rand)")
    return FromFiles(sample=sample, tag_lines=_tag_lines(keys, tags, precision, read), notes=tuple(notes))


def _sample(
    keys: ObjectReader, columns: Sequence[TableColumn], precision: str, prepared: int, read: ReadBytes
) -> SampleRows | None:
    if keys.choice("data_source", "rand", ("rand", "sample")) == "rand":
        keys.unused("sample_file", "data_source is rand")
        if keys.is_yes("use_sample_ts", "no"):
            keys.unused("use_sample_ts", "data_source is rand")
        return None
    has_times = keys.is_yes("use_sample_ts", "no")
    path = keys.text("sample_file", "")
    if not path:
        keys.refuse("sample_file", "is needed: data_source is sample")
        return None
    try:
        return read_sample(read(path), columns, precision, prepared, has_times=has_times) if columns else None
    except UsageError as error:
        keys.refuse("sample_file", error.message)
    except ValueError as error:
        keys.refuse("sample_file", f"{path}: {error}")
    return None


def _tag_lines(keys: ObjectReader, tags: Sequence[TableColumn], precision: str, read: ReadBytes) -> bytes:
    path = keys.text("tags_file", "")
    if path and not tags:
        keys.unused("tags_file", "no table with tags is made")
    if not path or not tags:
        return b""
    try:
        return read_tags(read(path), tags, precision)
    except UsageError as error:
        keys.refuse("tags_file", error.message)
    except ValueError as error:
        keys.refuse("tags_file", f"{path}: {error}")
    return b""
