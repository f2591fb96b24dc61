"""Blocks of snappy, read back by pyarrow, and a machine without the library; and the doubles that floats become, beside their text."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from loadgen_program import float32
from protobuf import unpacked

from tests.needs import needs

BLOCK = 1 << 16


@pytest.fixture(scope="module")
def packed(build: Callable[..., Path]) -> Callable[[list[bytes]], list[bytes]]:
    """Compresses all texts, by one packer."""
    probe = build("snappy_probe.c", "drivers/packing.c", "drivers/library.c", "drivers/fault.c")

    def packed(texts: list[bytes]) -> list[bytes]:
        given = b"".join(struct.pack("<I", len(text)) + text for text in texts)
        answer = subprocess.run([probe], input=given, capture_output=True, check=True, timeout=60).stdout
        found = []
        while answer:
            (length,) = struct.unpack_from("<I", answer)
            found.append(answer[4 : 4 + length])
            answer = answer[4 + length :]
        return found

    return packed


def texts() -> list[bytes]:
    """Nothing, noise and repetition in all lengths near those where the format changes, and mixtures of them."""
    draw = random.Random(7)
    lengths = [*range(40), *range(58, 72), 255, 256, 257, 1000, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK + 17, 3 * BLOCK + 5]
    made = []
    for n in lengths:
        noise = draw.randbytes(n)
        made += [noise, bytes(n), b"abcd" * (n // 4), bytes(draw.choices(b"ab", k=n))]
    for _ in range(300):
        parts = [draw.randbytes(draw.randrange(1, 300)) for _ in range(6)]
        made.append(b"".join(draw.choice(parts)[: draw.randrange(1, 300)] for _ in range(draw.randrange(1, 400))))
    return made


@needs("libsnappy.so.1")
def test_every_block_is_read_back(packed):
    given = texts()
    found = packed(given)
    assert len(found) == len(given)
    for text, block in zip(given, found, strict=True):
        assert unpacked(block) == text
        assert len(block) <= 32 + len(text) + len(text) // 6


NO_SNAPPY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void *dlopen(const char *name, int flags)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name && strstr(name, "libsnappy") ? "/no/library/here" : name, flags);
}
"""


@needs("libsnappy.so.1")
def test_a_machine_without_the_library_is_told_which_package_has_it(run, shared):
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    hidden = {"LD_PRELOAD": str(shared(NO_SNAPPY)), "ASAN_OPTIONS": asan}
    spec = {"driver": "samples", "method": "remote-write", "sending": "stubbed", "rows": 10}
    assert run(spec).code == 0
    assert run(spec | {"method": "import"}, env=hidden).code == 0
    outcome = run(spec, env=hidden)
    assert outcome.code == 3
    assert "cannot find the client library libsnappy.so.1; apt-get install libsnappy1v5" in outcome.stderr


def test_a_float_is_the_double_of_its_decimal(build):
    """Forms of text and forms of doubles store the same number."""
    probe = build("doubles_probe.c", "drivers/doubles.c", "drivers/numbers.c")
    draw = random.Random(3)
    values = [0.0, 10.1, -10.1, 0.0005, -0.0005, 7999.999, 8000.001, -8000.001, 999999.9, 1e6, 1e9, 1e-4, 1.5e38, 1e-44]
    values += [round(draw.uniform(-9000, 9000), 3) for _ in range(5000)]
    values += [draw.uniform(-1, 1) * 10 ** draw.randint(-12, 12) for _ in range(5000)]
    given = b"".join(struct.pack("<f", value) for value in values)
    said = subprocess.run([probe], input=given, capture_output=True, check=True, timeout=60).stdout.decode()
    doubles = []
    for line, (value,) in zip(said.splitlines(), struct.iter_unpack("<f", given), strict=True):
        double, text = line.split()
        assert float.fromhex(double) == float(text), value
        assert float32(float(text)) == value
        doubles.append(float(text))
    assert doubles[1:3] == [10.1, -10.1]
