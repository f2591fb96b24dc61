"""Flame graphs of profiled trials, and what grew between two of them, as our own SVG."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from scale_sweep.model.fitted import StoredRun
from scale_sweep.report.markup import escape, table_html
from scale_sweep.report.table import Table

WIDTH, ROW, LEAST = 1000.0, 16.0, 0.5
_NOTE = (
    "Stacks of the server in one more trial of each level, sampled by the CPU clock. A frame is as wide as the share "
    "of the samples in which it was on the stack. These trials are not fitted."
)
_LETTER = 6.3  # of the page's small text, in pixels
_GREW = 0.05  # of all samples: a change with the full colour
_SAME = 0.0005  # of all samples: a change that rounds to 0.0 %


@dataclass
class StackFrame:
    share: float = 0.0  # of the samples, with everything that it called
    calls: dict[str, StackFrame] = field(default_factory=dict)


def tree(folded: str) -> StackFrame:
    """From the outermost frame on. Its own share is 1, or 0 without samples."""
    counted = _stacks(folded)
    total = sum(count for _, count in counted)
    root = StackFrame(share=1.0 if total else 0.0)
    for names, number in counted:
        at = root
        for name in names:
            at = at.calls.setdefault(name, StackFrame())
            at.share += number / total
    return root


def _stacks(folded: str) -> list[tuple[list[str], int]]:
    lines = (line.rpartition(" ") for line in folded.splitlines())
    return [(stack.split(";"), int(count)) for stack, _, count in lines if stack and count.isdigit()]


def profile_html(run: StoredRun) -> str:
    """The lowest level, the highest, and what grew; "" without profiles."""
    shown = [r.trial for r in run.results if run.profiles.get(r.trial.trial_id)]
    if not shown:
        return ""
    shown.sort(key=lambda t: t.level)
    parts = [f'<p class="note">{_NOTE}</p>']
    for trial in shown:
        parts.append(f"<h3>{escape(trial.trial_id)}</h3>{flame_svg(run.profiles[trial.trial_id])}")
    if len(shown) > 1:
        first, last = run.profiles[shown[0].trial_id], run.profiles[shown[-1].trial_id]
        parts.append(
            f"<h3>Growth from {escape(shown[0].trial_id)} to {escape(shown[-1].trial_id)}</h3>"
            '<p class="note">The second graph again: red is a larger share than at the first level, blue a smaller, '
            f"grey the same.</p>{flame_svg(last, first)}{_grown_html(first, last)}"
        )
    return "".join(parts) + "\n"


def _grown_html(first: str, last: str) -> str:
    rows = tuple((name, f"{100 * a:.1f} %", f"{100 * b:.1f} %") for name, a, b in grown(first, last))
    headers = ("Function, itself", "Share before", "Share after")
    return table_html(Table(title="", headers=headers, rows=rows, words=(0,))) if rows else ""


def flame_svg(folded: str, before: str = "") -> str:
    """before: another profile; a frame is then red if its share grew, blue if it shrank."""
    root, other = tree(folded), tree(before) if before else None
    drawn: list[tuple[int, str]] = []
    _draw(root, other, 0.0, 0, drawn)
    height = ROW * (1 + max((depth for depth, _ in drawn), default=0))
    shapes = "".join(shape for _, shape in drawn)
    return (
        f'<svg class="flame" viewBox="0 0 {WIDTH:.0f} {height:.0f}" width="100%" role="img" '
        f'font-family="monospace" font-size="10">{shapes}</svg>'
    )


def _draw(frame: StackFrame, other: StackFrame | None, left: float, depth: int, drawn: list[tuple[int, str]]) -> None:
    for name, call in sorted(frame.calls.items()):
        width = call.share * WIDTH
        there = other.calls.get(name) if other else None
        if width >= LEAST:
            change = call.share - (there.share if there else 0.0) if other else None
            drawn.append((depth, _rectangle(name, call.share, change, left, depth)))
            _draw(call, there or (StackFrame() if other else None), left, depth + 1, drawn)
        left += width


def _rectangle(name: str, share: float, change: float | None, left: float, depth: int) -> str:
    width, top = share * WIDTH, depth * ROW
    title = f"{name}: {100 * share:.1f} %" + (f" ({100 * change:+.1f})" if change is not None else "")
    letters = int((width - 4) / _LETTER)
    label = name if len(name) <= letters else name[: letters - 1] + "…" if letters > 3 else ""
    words = f'<text x="{left + 2:.1f}" y="{top + 11:.1f}" fill="#111">{escape(label)}</text>' if label else ""
    return (
        f'<g><title>{escape(title)}</title><rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{ROW - 1:.0f}" fill="{_colour(name, change)}"/>{words}</g>'
    )


def _colour(name: str, change: float | None) -> str:
    if change is None:
        return f"hsl({zlib.crc32(name.encode()) % 40 + 20},75%,68%)"
    if abs(change) < _SAME:
        return "hsl(0,0%,92%)"
    strength = min(1.0, abs(change) / _GREW)
    return f"hsl({0 if change > 0 else 215},80%,{94 - 34 * strength:.0f}%)"


def grown(before: str, after: str, count: int = 10) -> tuple[tuple[str, float, float], ...]:
    """Functions by the growth of their own share: name and both shares."""
    first, last = _own(before), _own(after)
    moved = sorted(last, key=lambda name: first.get(name, 0.0) - last[name])
    return tuple((n, first.get(n, 0.0), last[n]) for n in moved[:count] if last[n] > first.get(n, 0.0))


def _own(folded: str) -> Mapping[str, float]:
    counts = Counter[str]()
    for names, count in _stacks(folded):
        counts[names[-1]] += count
    return {name: n / counts.total() for name, n in counts.items()}
