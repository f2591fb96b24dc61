"""Writes docs/settings.md from the settings table, so that the page cannot fall behind. Run from the project's root.

    python tools/settings_page.py > docs/settings.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from runner.setting import Setting
from runner.sweep.settings import SETTINGS

HEAD = """# Settings

Made by `tools/settings_page.py` from `runner/sweep/settings.py`. Each setting has a flag and a key in a sweep file;
**default < file < flag**, and `scale plan` shows the value and where it came from. In a sweep file the part before the
dot is the section: `load.duration` is `duration` in `[load]`; any other key in `[knobs]` is a setting of the server,
like `--knob`; `[tags]` holds what `--tag` gives. `name` and `question` stand at the top of the file.

| flag | key | default | meaning |
|---|---|---|---|
"""


def page() -> str:
    """The page as Markdown."""
    return HEAD + "\n".join(map(_row, SETTINGS)) + "\n"


def _row(s: Setting) -> str:
    default = f"`{s.default}`" if s.default else ""
    return f"| `{s.flag if s.switch else f'{s.flag} {s.metavar}'}` | `{s.key}` | {default} | {s.help} |"


if __name__ == "__main__":
    sys.stdout.write(page())
