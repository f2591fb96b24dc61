"""HBase's protocol against a server of a few bytes: what is sent, and every way in which an answer can be wrong."""

import re
import socket
import struct
import threading
from contextlib import contextmanager

import pytest

from scale_sweep.base.errors import TargetError
from scale_sweep.server.targets.opentsdb import hbase
from scale_sweep.server.targets.opentsdb.hbase import HBase, RefusedByHBaseError, fields, region_name

HELLO = b"HBas\0\x50"
HEADER = b"\x02\x08\x01"  # 2 bytes: call 1
EXISTS = "org.apache.hadoop.hbase.TableExistsException"


def message(*parts):
    """Fields with a length, of (number, bytes)."""
    return b"".join(bytes((number << 3 | 2, len(raw))) + raw for number, raw in parts)


def counted(raw):
    return struct.pack(">I", len(raw)) + raw


def answer(body=b""):
    return counted(HEADER + bytes((len(body),)) + body)


def refusal(name, trace):
    told = message((1, name.encode()), (2, trace.encode()))
    header = b"\x08\x01\x12" + bytes((len(told),)) + told
    length = (len(header) & 0x7F | 0x80, len(header) >> 7) if len(header) > 127 else (len(header),)
    return counted(bytes(length) + header)


@contextmanager
def server(*answers, hold=False):
    """Answers each connection with the next bytes. Yields its client and what it was sent."""
    heard, done = [], threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            for raw in answers:
                line, _ = listening.accept()
                with line:
                    line.settimeout(50)
                    got = b""
                    while len(got) < 10 or len(got) < wanted(got):
                        got += line.recv(4096)
                    heard.append(got)
                    line.sendall(raw)
                    if hold:
                        done.wait(50)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield HBase(host="127.0.0.1", port=listening.getsockname()[1], service=hbase.MASTER), heard
        done.set()
        thread.join(50)


def wanted(got):
    """How long preamble, greeting and request are."""
    at = len(HELLO) + 4 + struct.unpack(">I", got[6:10])[0]
    return at + 4 + struct.unpack(">I", got[at : at + 4])[0] if len(got) >= at + 4 else at + 4


def test_a_call_is_a_greeting_and_a_request_and_who_refuses_or_is_silent_is_said():
    with server(answer(b"\x08\x96\x01")) as (client, heard):
        assert client.call("IsMasterRunning", b"\x0a\x01x", 5) == {1: [150]}
    (said,) = heard
    assert said.startswith(HELLO)
    size = struct.unpack(">I", said[6:10])[0]
    assert fields(said[10 : 10 + size]) == {1: [b"\x0a\x05scale"], 2: [b"MasterService"]}
    request = said[14 + size :]
    assert fields(request[1 : 1 + request[0]]) == {1: [1], 3: [b"IsMasterRunning"], 4: [1]}
    assert request[1 + request[0] :] == b"\x03\x0a\x01x"
    name = "org.x.PleaseHoldException"
    with server(refusal(name, f"{name}: Master is initializing\n\tat org.x")) as (client, _):
        with pytest.raises(RefusedByHBaseError, match="Master is initializing$") as told:
            client.call("CreateTable", b"", 5)
    assert told.value.name == name
    with server(b"\0", hold=True) as (client, _), pytest.raises(TargetError, match="IsMasterRunning: timed out"):
        client.call("IsMasterRunning", b"", 0.2)
    with pytest.raises(TargetError, match="Connection refused"):
        HBase(host="127.0.0.1", port=1, service=hbase.MASTER).call("IsMasterRunning", b"", 5)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "closed the connection"),
        (b"\0\0", "closed the connection"),
        (struct.pack(">I", 20) + HEADER, "closed the connection"),
        (struct.pack(">I", 1 << 30), "announces an answer of 1073741824 bytes"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "announces an answer"),
        (counted(b"\x7f\x08"), "ends within a message"),
        (counted(b"\xff"), "ends within a number"),
        (counted(HEADER + b"\x05\x08"), "ends within a message"),
        (answer(b"\x0b"), "unknown kind 3"),
        (answer(b"\x08\xff"), "ends within a number"),
    ],
)
def test_an_answer_that_is_none_is_said(raw, words):
    with server(raw) as (client, _), pytest.raises(TargetError, match=words):
        client.call("IsMasterRunning", b"", 5)


def test_a_table_is_made_once_and_regions_are_flushed_by_their_names():
    answers = (answer(b"\x08\x0b"), refusal(EXISTS, f"{EXISTS}: tsdb"), answer(b"\x08\x01"), answer(b"\x08\x02"))
    with server(*answers) as (client, heard):
        assert hbase.make_table(client, "tsdb", {"t": {"VERSIONS": "1"}}, 5) == 11
        assert hbase.make_table(client, "tsdb", {"t": {"VERSIONS": "1"}}, 5) == 0
        assert [hbase.is_finished(client, 11, 5) for _ in range(2)] == [False, True]
    table = message((1, b"default"), (2, b"tsdb"))
    family = message((1, b"t"), (2, message((1, b"VERSIONS"), (2, b"1"))))
    assert heard[0].endswith(message((1, message((1, table), (3, family)))))
    failed = b"\x08\x02" + message((5, b"no room for it"))
    with server(answer(failed)) as (client, _), pytest.raises(TargetError, match="no room for it"):
        hbase.is_finished(client, 11, 5)
    table = message((1, b"hbase"), (2, b"meta"))
    region = b"\x08\x01" + message((2, table))
    with server(answer(message((1, region))), answer()) as (client, heard):
        hbase.flush_regions(client, 5)
    assert heard[1].endswith(message((1, b"\x08\x01" + message((2, b"hbase:meta,,1")))))
    for name in (  # as HBase 2.4.18 named the folders of these regions
        b"default:tsdb-uid,,1795354314017.7f7ac003a1173aa8267a496859765c25.",
        b"default:tsdb,,1795354314117.b44cf3c4fa6fc84225b90d2ebe972732.",
        b"hbase:namespace,,1795354237844.a131a31880f643c24169eba687d9d3a5.",
        b"hbase:meta,,1",
    ):
        space, table, number = re.match(rb"(.+):(.+),,(\d+)", name).groups()
        told = {1: [int(number)], 2: [message((1, space), (2, table))], 3: [b""]}
        assert region_name(told) == name.removeprefix(b"default:")
