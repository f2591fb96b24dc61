"""The answer of `scale size` as one page: sentences, tables, and pictures of the rate for each unit and for money."""

from __future__ import annotations

from collections.abc import Sequence

from scale_sweep.analysis.fit.curve import model_rate
from scale_sweep.base.units import counted, format_number, format_rate
from scale_sweep.model.fitted import ModelFit, StoredRun
from scale_sweep.model.measured import VerdictKind
from scale_sweep.model.sizing import LevelChance, LevelNeed, Offer, Sizing
from scale_sweep.report.curve import drawn_model
from scale_sweep.report.figures import fit_of
from scale_sweep.report.forms import Section, figure_html, listed, sections_html, shell
from scale_sweep.report.markup import escape, table_html
from scale_sweep.report.sizing import (
    answer_words,
    levels_table,
    machines_table,
    miss_words,
    price_words,
    settled_words,
    wanted_words,
)
from scale_sweep.report.svg import Frame, clipped, drawing, legend, line, marker, rate_axes, swatch, text, upright
from scale_sweep.report.table import short

_STEPS = 80
_ROW = 26  # pixels of a machine
_NAMES, _VALUES = 190, 120  # pixels left and right of the bars


def sizing_html(sizing: Sizing, runs: Sequence[StoredRun]) -> str:
    title = f"The machine for {wanted_words(sizing)}"
    answers = "".join(f'<p class="answer">{escape(words)}</p>' for words in answer_words(sizing))
    parts = [_run_section(at, one, run) for at, (one, run) in enumerate(zip(sizing.needs, runs, strict=True), start=1)]
    machines = Section("machines", "Machines and their prices", _machines(sizing))
    return shell(title, f"<h1>{escape(title)}</h1>{answers}{sections_html([machines, *parts])}")


def _run_section(number: int, one: LevelNeed, run: StoredRun) -> Section:
    settled = settled_words(run, one)
    command = f"<pre>{escape(settled[1])}</pre>" if len(settled) > 1 else ""
    cautions = listed((*one.notes, *fit_of(run).cautions))
    caution = f'<div class="cautions"><b>Cautions</b>{cautions}</div>' if cautions else ""
    caption = (
        "The rate at each level divided by the level, with its 95 % interval. Filled marks were measured; hollow marks "
        f"come from the fit. A level above the dotted line, {format_rate(one.wanted)} {one.rate_words} divided by the "
        "level, holds the need."
    )
    figure = figure_html(f"per-{one.unit}-{number}", per_unit_svg(one, run), caption, per_unit_rows(one), width=760)
    return Section(
        f"run-{number}",
        f"{one.rate_words} per {one.unit}: {one.run}",
        f"{figure}{table_html(levels_table(one))}"
        + (f"<p>{escape(settled[0])}</p>{command}" if settled else "")
        + caution,
    )


def per_unit_svg(one: LevelNeed, run: StoredRun, width: int = 760, height: int = 340) -> str:
    """The rate for each unit of the axis over the levels."""
    seen = [c for c in one.chances if c.rate is not None]
    if not seen:
        return ""
    model = drawn_model(fit_of(run)) if one.by_model else None
    kinds = dict.fromkeys(_kind(c) for c in seen)
    names = {VerdictKind.VALID: "measured", VerdictKind.GENERATOR_BOUND: "by the fit"}
    items = [*((marker(8, 0, kind), names[kind]) for kind in kinds), (swatch("limit"), "needed")]
    keys, above = legend(items + [(swatch("fit"), "fit")] * (model is not None), width, 8, 14)
    top = max((c.high or c.rate or 0.0) / c.level for c in seen)
    most = 1.6 * max((c.rate or 0.0) / c.level for c in seen)
    frame = Frame.over_levels((width, height), above, seen[-1].level, 1.08 * min(top, most) or 1.0)
    label = f"{one.rate_words} per {one.unit}"
    inner = [
        keys,
        rate_axes(frame, [c.level for c in seen], one.axis, label),
        clipped(frame, _curve(frame, one, model) + "".join(_interval(frame, c) for c in seen)),
        *(_mark(frame, one, c) for c in seen),
        _answer_line(frame, one),
    ]
    return drawing(width, frame.height, f"{label} over {one.axis}", "".join(inner))


def _curve(frame: Frame, one: LevelNeed, model: ModelFit | None) -> str:
    first = one.chances[0].level
    steps = [first + (frame.x_max - first) * i / _STEPS for i in range(_STEPS + 1)]
    needed = line(frame, [(n, one.wanted / n) for n in steps], "limit")
    return needed + (line(frame, [(n, model_rate(model, n) / n) for n in steps], "fit") if model is not None else "")


def _interval(frame: Frame, c: LevelChance) -> str:
    if c.low is None or c.high is None:
        return ""
    return line(frame, [(c.level, c.low / c.level), (c.level, c.high / c.level)], "mean")


def _mark(frame: Frame, one: LevelNeed, c: LevelChance) -> str:
    rate = c.rate or 0.0
    title = (
        f"{counted(c.level, one.unit, one.axis)}: {format_rate(rate, c.low, c.high)} {one.rate_words}\n"
        f"{format_rate(rate / c.level)} per {one.unit}\nchance to miss: {miss_words(c.miss)}"
    )
    return marker(frame.x(c.level), frame.y(rate / c.level), _kind(c), title)


def _kind(c: LevelChance) -> VerdictKind:
    return VerdictKind.VALID if c.is_measured else VerdictKind.GENERATOR_BOUND


def _answer_line(frame: Frame, one: LevelNeed) -> str:
    if one.level is None:
        return ""
    x, bottom = frame.x(one.level), frame.height - frame.bottom
    drawn = upright(frame, one.level, "given")
    anchor, shift = ("end", -5) if x > frame.width / 2 else ("start", 5)
    return drawn + text(x + shift, bottom - 8, f"the smallest: {format_number(one.level)}", "dim", anchor)


def per_unit_rows(one: LevelNeed) -> list[tuple[object, ...]]:
    headers = (one.axis, one.rate_words, "low", "high", f"per_{one.unit}", "chance_to_miss", "is_measured")
    rows = [(c.level, c.rate, c.low, c.high, (c.rate or 0.0) / c.level, c.miss, c.is_measured) for c in one.chances]
    return [headers, *rows]


def _machines(sizing: Sizing) -> str:
    if sizing.prices is None:
        return ""
    drawn = per_money_svg(sizing)
    caption = (
        f"How many {_things(sizing)} one {sizing.prices.money} pays for, if all that the machine can do is used. "
        "Outlined machines have too little for the need; machines beyond the fit are not drawn."
    )
    figure = figure_html("per-money", drawn, caption, per_money_rows(sizing), width=760) if drawn else ""
    return figure + table_html(machines_table(sizing))


def _things(sizing: Sizing) -> str:
    return sizing.needs[0].rate_words.partition("/")[0]


def per_money_svg(sizing: Sizing, width: int = 760) -> str:
    """Rows or requests for one unit of money."""
    offers = [o for o in sizing.offers if o.per_money is not None]
    if not offers or sizing.prices is None:
        return ""
    most = max(o.per_money or 0.0 for o in offers)
    height = _ROW * len(offers) + 30
    parts = [text(6, 16, f"M {_things(sizing)} per {sizing.prices.money}", "dim")]
    parts += [_bar(sizing, o, 28 + _ROW * at, (width - _NAMES - _VALUES) / most) for at, o in enumerate(offers)]
    return drawing(width, height, f"{_things(sizing)} per {sizing.prices.money} for each machine", "".join(parts))


def _bar(sizing: Sizing, offer: Offer, y: float, scale: float) -> str:
    assert sizing.prices is not None
    value, css = offer.per_money or 0.0, "invalid" if offer.lacks else "bar"
    chosen = "  ← cheapest" if offer == sizing.cheapest else ""
    name = f"{offer.machine.name}, {price_words(offer, sizing.prices)}"
    return (
        text(_NAMES - 8, y + 12, name, "", "end")
        + f'<rect x="{_NAMES}" y="{y:.1f}" width="{max(value * scale, 1):.1f}" height="{_ROW - 9}" class="{css}"/>'
        + text(_NAMES + value * scale + 6, y + 12, f"{short(value / 1e6)}{chosen}", "dim")
    )


def per_money_rows(sizing: Sizing) -> list[tuple[object, ...]]:
    headers = ("machine", "price_per_hour", "rate_per_s", "per_unit", "per_money", "has_enough")
    rows = [
        (o.machine.name, o.machine.price_per_hour, o.rate, o.per_unit, o.per_money, not o.lacks) for o in sizing.offers
    ]
    return [headers, *rows]
