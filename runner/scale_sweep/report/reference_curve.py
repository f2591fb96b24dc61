"""Our speedup beside a published one, as SVG. Refuses to draw rates of two machines together."""

from __future__ import annotations

from scale_sweep.base.units import format_number
from scale_sweep.model import StoredRun, VerdictKind
from scale_sweep.report.reference import ReferenceComparison
from scale_sweep.report.svg import Frame, axes, clipped, counted_lines, drawing, legend, line, marker, swatch, x_levels


def speedup_svg(run: StoredRun, both: ReferenceComparison, width: int = 520, height: int = 330) -> str:
    """Our speedup beside the published one; "" if we have none. Machines differ, so rates are not drawn together."""
    theirs, ours = both.speedups(ours=False), both.speedups(ours=True)
    everything = [*theirs.items(), *ours.items()]
    if not ours:
        return ""
    base = both.base_published or both.base_ours or 1.0
    drawn = [css for css, rates in (("published", theirs), ("ours", ours)) if rates]
    items = [*((swatch(css) + _dot(8, 0, css), css) for css in drawn), (swatch("ideal"), "ideal")]
    keys, above = legend(items, width, 8, 14)
    last = max(n for n, _ in everything)
    y_max = 1.06 * max(last / base, *(v for _, v in everything))
    frame = Frame.over_levels((width, height), above, last, y_max)
    parts = [
        keys,
        axes(
            frame,
            x_levels([n for n, _ in everything], width - 80),
            run.plan.sweep.axis,
            f"speedup, 1 at {format_number(base)}",
        ),
        clipped(frame, line(frame, [(0, 0), (frame.x_max, frame.x_max / base)], "ideal")),
    ]
    for css, side, levels in (("published", theirs, both.published), ("ours", ours, both.ours)):
        parts.append(counted_lines(frame, [((n, side.get(n, 0.0)), n in side) for n in sorted(levels)], css))
        parts += [_dot(frame.x(n), frame.y(v), css, f"{css}: {v:.2f} at {format_number(n)}") for n, v in side.items()]
    return drawing(width, frame.height, "Speedup, published and ours", "".join(parts), "small")


def _dot(x: float, y: float, css: str, title: str = "") -> str:
    shape = marker(x, y, VerdictKind.RESOURCE_NOT_SATURATED if css == "published" else VerdictKind.VALID, title, 3.8)
    return shape.replace('class="m invalid"', f'class="m {css}"').replace('class="m valid"', f'class="m {css}"')
