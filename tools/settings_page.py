"""Writes docs/settings.md from the settings table, so that the page is always up to date. Run it in the root directory.

python tools/settings_page.py > docs/settings.md
"""

import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runner"))
from scale_sweep.experiment.setting import Setting
from scale_sweep.sweep.settings import BY_KEY, SETTINGS, parameter_name

HEAD = """# Settings

<!-- tools/settings_page.py writes this page -->

The headings are the sections of a sweep file. A key is the flag without `--`, with `_` for `-`, unless another key is
in parentheses: `--window-max=90s` is `window_max = "90s"` in `[load]`. A word in capitals stands for a value; others
are defaults. A flag overrides the file. `scale plan` shows each value with its origin.
"""
TITLES = {"": "Top of the file, beside `name` and `question`", "tags": "[tags]"}
AUTO = BY_KEY["target.name"].help.partition("in turn. ")[2]
# In place of texts that another page explains.
SHORTER = {
    "axis.cores": "Cores of the server, like 1..12, 1..12:2, 1..64:x2, 0.5,1,1.5 or 1..all.",
    "target.name": f"One of the [databases](databases.md), or several: a,b. {AUTO}",
    "workload.name": "write, or a named [workload of reads](reads.md).",
    "operation": "A [parameter of an operation](reads.md#parameters), like range.span=1h. Repeatable.",
    "target.settings": "defaults: those of the vendor, except the settings that `scale plan` lists; loading: "
    "[faster loading](databases.md#durability).",
    "method.cache": "The rows of --preload [in memory](reads.md#the-data): as-is, warm or cold.",
    "method.equal_durability": "Answer when the rows are [fsynced](databases.md#durability), if the target can.",
    "method.connections_check": "Measure a level with idle resources with twice the connections, to find a "
    "[SOFTWARE_BOTTLENECK](verdicts.md#software_bottleneck).",
    "method.confirm": "Confirm a [capacity](capacity.md) by longer windows.",
    "disks.placement": "[Distribution](disks.md) of the data: tiers, spread, dirs, stripe, or auto.",
    "disks.wal": "Place of the write-ahead log: data (with it), off-axis (in --data-dir) or first (on disk d1).",
    "load.method": "How rows are written: a method of the [database](databases.md).",
    "load.slo": "Find the highest offered rate that holds these limits, like 'p99 < 20ms' ([capacity](capacity.md)).",
    "load.duration": "Length of the window after the warm-up; under 40 s it is marked quick.",
    "load.generator": "scale, or [taosbenchmark](taosbenchmark.md).",
}
ALIAS = "The same as "


def page() -> str:
    """The page as Markdown."""
    sections: dict[str, list[Setting]] = {}
    for setting in SETTINGS:
        sections.setdefault(_section(setting), []).append(setting)
    return HEAD + "".join(f"\n## {_title(name)}\n{_items(settings)}" for name, settings in sections.items())


def _section(setting: Setting) -> str:
    return "tags" if setting.key == "tags" else setting.key.rpartition(".")[0]


def _title(section: str) -> str:
    return TITLES.get(section, f"[{section}]")


def _items(settings: list[Setting]) -> str:
    items = [_item(s) for s in settings if not s.help.startswith(ALIAS)]
    if aliases := [_alias(s) for s in settings if s.help.startswith(ALIAS)]:
        items.append(f"- By their names in the database: {', '.join(aliases)}.")
    return "".join(f"{_wrapped(item)}\n" for item in items)


def _item(s: Setting) -> str:
    flag = s.flag if s.switch else f"{s.flag}={s.default or s.metavar}"
    key = s.key.rpartition(".")[2]
    has_other_key = key != parameter_name(s.flag) and s.key not in ("knobs.other", "tags")
    return f"- `{flag}`{f' (`{key}`)' * has_other_key}: {_text(s)}"


def _alias(s: Setting) -> str:
    return f"`{s.flag}` ({s.help.rpartition(', for ')[2].rstrip('.')})"


def _text(s: Setting) -> str:
    """The help. A knob that the databases name otherwise has the part before their names."""
    meaning, colon, _ = s.help.partition(": ")
    return SHORTER.get(s.key) or (f"{meaning}." if s.key.startswith("knobs.") and colon else s.help)


def _wrapped(item: str) -> str:
    return textwrap.fill(item, width=120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    sys.stdout.write(page())
