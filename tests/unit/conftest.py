"""The sentences that the code writes stand in one file that a person reviews, `golden/words.json`.

`SCALE_WRITE_WORDS=1 pytest FILE` writes what its tests say anew. Read the difference before you commit it.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

WORDS = Path(__file__).parent / "golden" / "words.json"


@pytest.fixture
def wording(request) -> Callable[..., None]:
    """Called with sentences: they are those that the file has for this test, in this order."""
    said: list[str] = []

    def check(*sentences: str) -> None:
        said.extend(" ".join(sentence.split()) for sentence in sentences)

    yield check
    name = f"{request.path.stem}::{request.node.name}"
    known = json.loads(WORDS.read_text(encoding="utf-8"))
    if os.environ.get("SCALE_WRITE_WORDS"):
        text = json.dumps(known | {name: said}, indent=1, ensure_ascii=False, sort_keys=True)
        WORDS.write_text(f"{text}\n", encoding="utf-8")
    else:
        assert said == known.get(name), "the sentences of this test changed; SCALE_WRITE_WORDS=1 writes them anew"
