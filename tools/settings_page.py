"""Writes docs/settings.md from the settings table, so that the page is always up to date. Run it in the root directory.

python tools/settings_page.py > docs/settings.md
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.experiment.setting import Setting
from scale_sweep.sweep.settings import SETTINGS

HEAD = """# Settings

`tools/settings_page.py` generates this page from `scale_sweep/sweep/settings.py`. Each setting has a flag and a key in
a sweep file. A flag overrides the file, and the file overrides the default. `scale plan` shows each value and its
origin.

In a sweep file, the part of a key before the dot is the section: `load.duration` is `duration` in `[load]`. Any other
key in `[knobs]` is a setting of the server, like `--knob`. `[tags]` holds the notes of `--tag`. `name` and `question`
are at the top of the file.

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
