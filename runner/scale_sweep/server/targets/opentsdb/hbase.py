"""As much of HBase's protocol as a trial needs: tables are made, regions flushed."""

from __future__ import annotations

import hashlib
import socket
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scale_sweep.base.errors import TargetError

MASTER, REGIONS = "MasterService", "AdminService"
_PREAMBLE = b"HBas\0\x50"  # version 0, authentication SIMPLE
_EXISTS = "org.apache.hadoop.hbase.TableExistsException"
_FINISHED = 2  # of a procedure's state
_REGION_NAME = 1  # of a RegionSpecifier's type
_ANSWER_MAX = 1 << 26

Fields = dict[int, list["int | bytes"]]


class RefusedByHBaseError(TargetError):
    """name: the class of its exception."""

    def __init__(self, method: str, name: str, trace: str) -> None:
        first = trace.strip().partition("\n")[0] or name
        super().__init__(f"HBase refused {method}: {first[:300]}")
        self.name = name


@dataclass(frozen=True, kw_only=True)
class HBase:
    host: str
    port: int  # of the service
    service: str

    def call(self, method: str, parameter: bytes, within_s: float) -> Fields:
        """Raises TargetError with the server's message, or after within_s."""
        try:
            with socket.create_connection((self.host, self.port), timeout=within_s) as line:
                hello = _text(1, _text(1, "scale")) + _text(2, self.service)
                header = _whole(1, 1) + _text(3, method) + _whole(4, 1)
                request = _delimited(header) + _delimited(parameter)
                line.sendall(_PREAMBLE + _counted(hello) + _counted(request))
                answer = _exactly(line, _length(line))
        except OSError as error:
            raise TargetError(f"HBase did not answer {method}: {error or type(error).__name__}") from None
        head, at = _take_delimited(answer, 0)
        for exception in fields(head).get(2, ()):
            exception_fields = fields(_bytes(exception))
            raise RefusedByHBaseError(method, _string(exception_fields, 1), _string(exception_fields, 2))
        return fields(_take_delimited(answer, at)[0]) if at < len(answer) else {}


def make_table(master: HBase, name: str, families: Mapping[str, Mapping[str, str]], within_s: float) -> int:
    """families: attributes of each. Returns the procedure that makes it, 0 if it exists."""
    described = b"".join(
        _text(3, _text(1, family) + b"".join(_text(2, _text(1, k) + _text(2, v)) for k, v in attributes.items()))
        for family, attributes in families.items()
    )
    schema = _text(1, _text(1, "default") + _text(2, name)) + described
    try:
        answer = master.call("CreateTable", _text(1, schema), within_s)
    except RefusedByHBaseError as error:
        if error.name == _EXISTS:
            return 0
        raise
    return int(answer.get(1, [0])[0])


def is_finished(master: HBase, procedure: int, within_s: float) -> bool:
    """Raises TargetError if it failed."""
    answer = master.call("getProcedureResult", _whole(1, procedure), within_s)
    for exception in answer.get(5, ()):
        raise TargetError(f"HBase failed to make a table: {_bytes(exception)[:300].decode(errors='replace')}")
    return answer.get(1, [0])[0] == _FINISHED


def flush_regions(server: HBase, within_s: float) -> None:
    """Memstores of all regions, of its own tables too, become files."""
    for region in server.call("GetOnlineRegion", b"", within_s).get(1, ()):
        specifier = _whole(1, _REGION_NAME) + _text(2, region_name(fields(_bytes(region))))
        server.call("FlushRegion", _text(1, specifier), within_s)


def region_name(region: Fields) -> bytes:
    """As HBase makes it: table, first key, number, and but for hbase:meta their digest."""
    table = fields(_bytes(region[2][0]))
    space, name = _string(table, 1), _string(table, 2)
    first = _bytes(region[3][0]) if 3 in region else b""
    spelled = name if space == "default" else f"{space}:{name}"
    full = b",".join((spelled.encode(), first, str(region[1][0]).encode()))
    if (space, name) == ("hbase", "meta"):
        return full
    return full + b"." + hashlib.md5(full, usedforsecurity=False).hexdigest().encode() + b"."


def fields(message: bytes) -> Fields:
    """By number: whole numbers, or bytes. Raises TargetError for what is no message."""
    values: Fields = {}
    at = 0
    while at < len(message):
        key, at = _take_whole(message, at)
        kind = key & 7
        value: int | bytes
        if kind == 0:
            value, at = _take_whole(message, at)
        elif kind == 2:
            value, at = _take_delimited(message, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = message[at : at + size], at + size
        else:
            raise TargetError(f"HBase answered with a field of the unknown kind {kind}")
        values.setdefault(key >> 3, []).append(value)
    return values


def _string(message: Mapping[int, Iterable[int | bytes]], number: int) -> str:
    return "".join(_bytes(value).decode(errors="replace") for value in message.get(number, ()))


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise TargetError("HBase answered with a number instead of a message")
    return value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def _whole(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _text(number: int, value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _delimited(raw)


def _delimited(raw: bytes) -> bytes:
    return _varint(len(raw)) + raw


def _counted(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


def _take_whole(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at
    raise TargetError("HBase's answer ends within a number")


def _take_delimited(message: bytes, at: int) -> tuple[bytes, int]:
    length, at = _take_whole(message, at)
    if at + length > len(message):
        raise TargetError("HBase's answer ends within a message")
    return message[at : at + length], at + length


def _length(line: socket.socket) -> int:
    (length,) = struct.unpack(">I", _exactly(line, 4))
    if length > _ANSWER_MAX:
        raise TargetError(f"HBase announces an answer of {length} bytes")
    return int(length)


def _exactly(line: socket.socket, count: int) -> bytes:
    got = bytearray()
    while len(got) < count:
        more = line.recv(count - len(got))
        if not more:
            raise TargetError("HBase closed the connection before its answer was complete")
        got += more
    return bytes(got)
