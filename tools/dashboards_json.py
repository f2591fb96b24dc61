"""Writes the dashboards of tools/boards as JSON to dashboards/. Run from the project's root.

python tools/dashboards_json.py
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tools.boards.curve import scaling  # noqa: E402
from tools.boards.live import live  # noqa: E402
from tools.boards.trial import one_trial  # noqa: E402

PAGES = {"live": live, "curve": scaling, "trial": one_trial}


def text(name: str) -> str:
    """The file's content: keys in the order of their declaration, two spaces, so that a difference is readable."""
    return json.dumps(PAGES[name](), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PAGES:
        (ROOT / "dashboards" / f"{name}.json").write_text(text(name), encoding="utf-8")
