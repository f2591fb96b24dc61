"""Every value of every row arrives in PostgreSQL as it was made, however the rows are laid out and sent."""

from __future__ import annotations

import struct
import subprocess

import pytest

from tests.needs import need

TYPES = {
    "a": ("bool", "bool"),
    "b": ("tinyint", "int2"),
    "c": ("smallint", "int2"),
    "d": ("int", "int4"),
    "e": ("bigint", "int8"),
    "f": ("utinyint", "int2"),
    "g": ("usmallint", "int4"),
    "h": ("uint", "int8"),
    "i": ("ubigint", "int8"),
    "j": ("float", "real"),
    "k": ("double", "double precision"),
    "l": ("timestamp", "timestamptz"),
    "x": ("binary(9)", "text"),
}
FIXED = [name for name in TYPES if name != "x"]
ROWS = 9001


def single(text: str) -> float:
    return struct.unpack("f", struct.pack("f", float(text)))[0]


def as_made(name: str, text: str) -> object:
    if text == "NULL":
        return None
    return {"a": lambda t: t == "1", "x": str, "j": single, "k": float}.get(name, int)(text)


def as_arrived(name: str, text: str | None) -> object:
    if text is None or text == "":
        return None
    return {"a": lambda t: t == "t", "x": str, "j": single, "k": float}.get(name, int)(text)


@pytest.mark.parametrize("precision", ["ms", "us", "ns"])
@pytest.mark.parametrize(
    "more",
    [
        {"rows_per_request": 3000},
        {"rows_per_request": 3001, "interlace_rows": 1},
        {"rows_per_request": 7},
        {"rows_per_request": 3000, "interlace_rows": 50, "disorder_ratio": 20},
        {"rows_per_request": 3000, "null_ratio": 0.2},
        {"rows_per_request": 3000, "text": "random"},
    ],
    ids=["a table a request", "rows in turn", "small requests", "slices", "NULLs", "text"],
)
def test_every_value_arrives_as_it_was_made(run, rows_of, postgres, more, precision):
    names = list(TYPES) if "text" in more else FIXED
    columns = ",".join(f"{name}:{TYPES[name][0]}" for name in names)
    postgres.query("DROP TABLE IF EXISTS measurement")
    postgres.query(
        "CREATE TABLE measurement (time timestamptz, device_id int4, "
        + ", ".join(f"{name} {TYPES[name][1]}" for name in names)
        + ")"
    )
    spec = {"tables": 5, "rows": ROWS, "columns": columns, "precision": precision, "step_ms": 2, "seed": 8} | more
    outcome = run({**postgres.spec(), **spec})
    assert outcome.code == 0, outcome.stderr
    per_us = {"ms": 0.001, "us": 1, "ns": 1000}[precision]

    def us(text: str) -> int:
        return round(int(text) / per_us) if per_us < 1 else int(text) // int(per_us)

    made = []
    for row in rows_of(**spec):
        table, _, time, *values = row.split(",")
        read = [us(v) if n == "l" and v != "NULL" else as_made(n, v) for n, v in zip(names, values, strict=True)]
        made.append((us(time), int(table) + 1, *read))
    selected = ", ".join("(extract(epoch FROM l) * 1000000)::bigint" if name == "l" else name for name in names)
    arrived = [
        (int(time), int(device), *(as_arrived(n, v) for n, v in zip(names, values, strict=True)))
        for time, device, *values in postgres.query(
            f"SELECT (extract(epoch FROM time) * 1000000)::bigint, device_id, {selected} FROM measurement"
        )
    ]
    assert len(made) == ROWS
    assert sorted(arrived, key=lambda r: r[:2]) == sorted(made, key=lambda r: r[:2])


UNDER_TLS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int PQsslInUse(void *c) { return c != 0 && getenv("SAYS_TLS") != 0; }

int PQputCopyData(void *c, const char *bytes, int count)
{
    int (*real)(void *, const char *, int) = (int (*)(void *, const char *, int))dlsym(RTLD_NEXT, "PQputCopyData");
    FILE *file = fopen(getenv("PUT_BYTES"), "a");
    fprintf(file, "%d\\n", count);
    fclose(file);
    return real(c, bytes, count);
}
"""


@pytest.fixture(scope="module")
def library_under_tls(postgres, tmp_path_factory):
    """The real libpq, which says that its connections are encrypted when SAYS_TLS is set (the wheel's cannot be), and
    adds the bytes that it is handed to the file PUT_BYTES."""
    compiler = need("cc")
    folder = tmp_path_factory.mktemp("libpq")
    source, library = folder / "tls.c", folder / "libpq_tls.so"
    source.write_text(UNDER_TLS)
    real = postgres.library
    subprocess.run(
        [
            compiler,
            "-shared",
            "-fPIC",
            source,
            "-o",
            library,
            "-Wl,--no-as-needed",
            real,
            f"-Wl,-rpath,{real.parent}",
            "-ldl",
        ],
        check=True,
    )
    return library


@pytest.mark.parametrize("is_under_tls", [True, False])
@pytest.mark.parametrize("timeout_s", [0, 30])
def test_rows_arrive_by_libpq_under_tls_and_else_by_us(
    run, postgres, library_under_tls, tmp_path, is_under_tls, timeout_s
):
    postgres.query("DROP TABLE IF EXISTS measurement")
    postgres.query("CREATE TABLE measurement (time timestamptz, device_id int4, a double precision)")
    spec = {
        **postgres.spec(),
        "tables": 4,
        "rows": 40_000,
        "rows_per_request": 9000,
        "columns": "a:double",
        "request_timeout_s": timeout_s,
    }
    put = tmp_path / "put"
    put.touch()
    tls = {"SAYS_TLS": "1"} if is_under_tls else {}
    outcome = run(spec | {"library": library_under_tls}, env={"PUT_BYTES": str(put), **tls})
    assert outcome.code == 0, outcome.stderr
    handed_to_libpq = sum(map(int, put.read_text().split()))
    row_bytes = 2 + (4 + 8) + (4 + 4) + (4 + 8)  # fields, and each with its length before it
    assert (handed_to_libpq >= 40_000 * row_bytes) is is_under_tls
    assert is_under_tls or handed_to_libpq < 40_000
    ((rows, devices, least, most),) = postgres.query(
        "SELECT count(*), count(DISTINCT device_id), min(a) >= 0, max(a) <= 1000 FROM measurement"
    )
    assert (rows, devices, least, most) == ("40000", "4", "t", "t")
