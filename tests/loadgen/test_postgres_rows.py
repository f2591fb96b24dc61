"""Every value of every row arrives in PostgreSQL as it was made, however the rows are laid out and sent."""

from __future__ import annotations

import shutil
import struct
import subprocess

import pytest

TYPES = {
    "a": ("bool", "bool"), "b": ("tinyint", "int2"), "c": ("smallint", "int2"), "d": ("int", "int4"),
    "e": ("bigint", "int8"), "f": ("utinyint", "int2"), "g": ("usmallint", "int4"), "h": ("uint", "int8"),
    "i": ("ubigint", "int8"), "j": ("float", "real"), "k": ("double", "double precision"),
    "l": ("timestamp", "timestamptz"), "x": ("binary(9)", "text"),
}  # fmt: skip
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
    [{"rows_per_request": 3000}, {"rows_per_request": 3001, "interlace_rows": 1}, {"rows_per_request": 7},
     {"rows_per_request": 3000, "interlace_rows": 50, "disorder_ratio": 20},
     {"rows_per_request": 3000, "null_ratio": 0.2}, {"rows_per_request": 3000, "text": "random"}],
    ids=["a table a request", "rows in turn", "small requests", "slices", "NULLs", "text"],
)  # fmt: skip
def test_every_value_arrives_as_it_was_made(run, rows_of, postgres, more, precision):
    names = list(TYPES) if "text" in more else FIXED
    columns = ",".join(f"{name}:{TYPES[name][0]}" for name in names)
    postgres.query("DROP TABLE IF EXISTS measurement")
    postgres.query("CREATE TABLE measurement (time timestamptz, device_id int4, "
                   + ", ".join(f"{name} {TYPES[name][1]}" for name in names) + ")")  # fmt: skip
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


@pytest.fixture(scope="module")
def library_under_tls(postgres, tmp_path_factory):
    """The real libpq, which says that its connections are encrypted: the wheel's cannot be."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("libpq")
    source, library = folder / "tls.c", folder / "libpq_tls.so"
    source.write_text("int PQsslInUse(void *c) { return c != 0; }\n")
    real = postgres.library
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-Wl,--no-as-needed", real,
                    f"-Wl,-rpath,{real.parent}"], check=True)  # fmt: skip
    return library


@pytest.mark.parametrize("is_under_tls", [True, False])
@pytest.mark.parametrize("timeout_s", [0, 30])
def test_rows_arrive_whether_libpq_or_we_write_to_the_socket(run, postgres, library_under_tls, is_under_tls, timeout_s):
    postgres.query("DROP TABLE IF EXISTS measurement")
    postgres.query("CREATE TABLE measurement (time timestamptz, device_id int4, a double precision)")
    spec = {**postgres.spec(), "tables": 4, "rows": 40_000, "rows_per_request": 9000, "columns": "a:double",
            "request_timeout_s": timeout_s}  # fmt: skip
    if is_under_tls:
        spec["library"] = library_under_tls
    outcome = run(spec)
    assert outcome.code == 0, outcome.stderr
    ((rows, devices, least, most),) = postgres.query(
        "SELECT count(*), count(DISTINCT device_id), min(a) >= 0, max(a) <= 1000 FROM measurement"
    )
    assert (rows, devices, least, most) == ("40000", "4", "t", "t")
