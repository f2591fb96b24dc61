"""Prometheus' WriteRequest read back, without the code under test: snappy by Google's library, protobuf by hand."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tests.needs import module

pyarrow = module("pyarrow")

_VARINT, _EIGHT_BYTES, _BYTES = 0, 1, 2


@dataclass(frozen=True, kw_only=True)
class Series:
    """One TimeSeries: labels in their order, samples as (time in ms, value)."""

    labels: tuple[tuple[str, str], ...]
    samples: tuple[tuple[int, float], ...]


def unpacked(packed: bytes) -> bytes:
    """A block of snappy. pyarrow refuses a wrong length and every copy that does not fit."""
    length, _ = _varint(packed, 0)
    return pyarrow.decompress(packed, decompressed_size=length, codec="snappy", asbytes=True)


def series_of(body: bytes) -> list[Series]:
    """All series of a compressed WriteRequest. Refuses fields and ways of writing that the message does not have."""
    return [_series(value) for _, value in _fields(unpacked(body), {1: _BYTES})]


def _series(message: bytes) -> Series:
    labels, samples = [], []
    for number, value in _fields(message, {1: _BYTES, 2: _BYTES}):
        if number == 1:
            label = dict(_fields(value, {1: _BYTES, 2: _BYTES}))
            labels.append((label[1].decode(), label[2].decode()))
        else:
            sample = dict(_fields(value, {1: _EIGHT_BYTES, 2: _VARINT}))
            at = sample[2] - (1 << 64 if sample[2] >> 63 else 0)
            samples.append((at, struct.unpack("<d", sample[1])[0]))
    return Series(labels=tuple(labels), samples=tuple(samples))


def _fields(message: bytes, kinds: dict[int, int]) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        assert kinds[number] == kind, f"field {number} is written as {kind}"
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        length, at = (8, at) if kind == _EIGHT_BYTES else _varint(message, at)
        assert at + length <= len(message), "a field is longer than its message"
        yield number, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number, and where the next byte is. Refuses one that could be shorter."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            assert byte or shift == 7, "a varint with a zero at its end"
            return value, at
