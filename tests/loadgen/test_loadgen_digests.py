"""The same seed makes the same rows in every version: digests that earlier versions made, recorded here."""

from __future__ import annotations

import hashlib

import pytest
from test_loadgen_rows import ALL_TYPES

DOUBLES = ",".join(f"m{i}:double" for i in range(10))
MADE: dict[str, dict[str, object]] = {
    "meters": {"rows": 60_000, "tables": 41},
    "meters of three tables": {"rows": 3000, "tables": 3, "seed": 9},
    "meters of many tables": {"rows": 20_000, "tables": 1500, "seed": 4},
    "meters, random": {"rows": 9000, "tables": 17, "values": "random"},
    "doubles": {"rows": 9000, "tables": 10, "columns": DOUBLES},
    "doubles, random": {"rows": 3000, "tables": 10, "columns": DOUBLES, "values": "random"},
    "all types": {"rows": 6000, "tables": 5, "columns": ALL_TYPES},
    "all types, random": {"rows": 3000, "tables": 5, "columns": ALL_TYPES, "values": "random", "text": "random"},
    "all types, constant": {"rows": 500, "tables": 3, "columns": ALL_TYPES, "values": "constant"},
    "with NULLs and late rows": {"rows": 9000, "tables": 12, "null_ratio": 0.1, "disorder_ratio": 10},
    "part of the columns": {
        "rows": 5000,
        "tables": 7,
        "columns": "a:int,b:float,c:double,d:int",
        "partial_from": 1,
        "partial_columns": 2,
    },
    "microseconds": {"rows": 5000, "tables": 7, "precision": "us", "step_ms": 0.25},
}
SENT: dict[str, dict[str, object]] = {
    "a table a request": {"rows_per_request": 700},
    "several requests a table": {"rows_per_request": 70, "requests_per_table": 3},
    "rows in turn": {"rows_per_request": 1000, "interlace_rows": 1},
    "a few rows in turn": {"rows_per_request": 120, "interlace_rows": 3},
    "rows in turn, two workers": {"rows_per_request": 1000, "interlace_rows": 1, "threads": 2, "partitions": 3},
    "a row a request": {"rows_per_request": 1, "order": "progressive"},
}
DIGESTS: dict[str, str] = {
    "meters": "bde8c0c9464896c0c4c221df7394af64",
    "meters of three tables": "341e0c6d4aeee392f6897042732b548c",
    "meters of many tables": "fdc74b0ecdec43a1eb988725e023ddcd",
    "meters, random": "cf65d0501146c1965ce43498c8a46bfa",
    "doubles": "e4187a1d70723c0254646812ac572fd1",
    "doubles, random": "979d4b7c206e0e9c6fb80271ee9cccf2",
    "all types": "666c8c5c125a6e4d284e1aef13e6b6ff",
    "all types, random": "efbce361833cfd1fb69d3f4f5bd6c9d9",
    "all types, constant": "ce807c01ffe24a7737e5c69f1854259d",
    "with NULLs and late rows": "b36ca077f50c673cf98d36a4aa2d29d4",
    "part of the columns": "46b9bf9864a357542d06e43273cfaa94",
    "microseconds": "6d87f23ed6dfc3aabc3bb3644c8e4a1b",
}


def digest(rows: list[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:32]


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize("made", MADE)
def test_a_seed_makes_the_rows_that_it_always_made(rows_of, made, sent):
    assert digest(rows_of(**MADE[made], **SENT[sent])) == DIGESTS[made]
