"""The same seed makes the same rows in every version: digests that earlier versions made, recorded here."""

from __future__ import annotations

import hashlib

import pytest
from test_loadgen_rows import ALL_TYPES

DOUBLES = ",".join(f"m{i}:double" for i in range(10))
PART = {"columns": "a:int,b:float,c:double,d:int", "partial_from": 1, "partial_columns": 2}
MADE: list[tuple[str, dict[str, object]]] = [
    ("bde8c0c9464896c0c4c221df7394af64", {"rows": 60_000, "tables": 41}),
    ("341e0c6d4aeee392f6897042732b548c", {"rows": 3000, "tables": 3, "seed": 9}),
    ("fdc74b0ecdec43a1eb988725e023ddcd", {"rows": 20_000, "tables": 1500, "seed": 4}),
    ("cf65d0501146c1965ce43498c8a46bfa", {"rows": 9000, "tables": 17, "values": "random"}),
    ("e4187a1d70723c0254646812ac572fd1", {"rows": 9000, "tables": 10, "columns": DOUBLES}),
    ("979d4b7c206e0e9c6fb80271ee9cccf2", {"rows": 3000, "tables": 10, "columns": DOUBLES, "values": "random"}),
    ("666c8c5c125a6e4d284e1aef13e6b6ff", {"rows": 6000, "tables": 5, "columns": ALL_TYPES}),
    (
        "efbce361833cfd1fb69d3f4f5bd6c9d9",
        {"rows": 3000, "tables": 5, "columns": ALL_TYPES, "values": "random", "text": "random"},
    ),
    ("ce807c01ffe24a7737e5c69f1854259d", {"rows": 500, "tables": 3, "columns": ALL_TYPES, "values": "constant"}),
    ("b36ca077f50c673cf98d36a4aa2d29d4", {"rows": 9000, "tables": 12, "null_ratio": 0.1, "disorder_ratio": 10}),
    ("46b9bf9864a357542d06e43273cfaa94", {"rows": 5000, "tables": 7, **PART}),
    ("6d87f23ed6dfc3aabc3bb3644c8e4a1b", {"rows": 5000, "tables": 7, "precision": "us", "step_ms": 0.25}),
]
SENT: list[dict[str, object]] = [
    {"rows_per_request": 700},
    {"rows_per_request": 70, "requests_per_table": 3},
    {"rows_per_request": 1000, "interlace_rows": 1},
    {"rows_per_request": 120, "interlace_rows": 3},
    {"rows_per_request": 1000, "interlace_rows": 1, "threads": 2, "partitions": 3},
    {"rows_per_request": 1, "order": "progressive"},
]


@pytest.mark.parametrize("sent", SENT, ids=str)
@pytest.mark.parametrize(("digest", "made"), MADE, ids=lambda value: str(value)[:60])
def test_a_seed_makes_the_rows_that_it_always_made(rows_of, digest, made, sent):
    rows = rows_of(**made, **sent)
    assert hashlib.sha256("\n".join(rows).encode()).hexdigest()[:32] == digest
