"""The parts of the missing rate: a sentence, a bar for each level, the parts and figures for each row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace

from scale_sweep.analysis.account.words import percent_words, words_of
from scale_sweep.base.units import counted, format_number, with_interval
from scale_sweep.model.account import Account, LevelAccount, LossPart
from scale_sweep.model.fitted import StoredRun
from scale_sweep.report.figures import axis_facts, fit_of
from scale_sweep.report.forms import Form, figure_html
from scale_sweep.report.markup import escape
from scale_sweep.report.svg import Frame, drawing, legend, text, ticks, upright
from scale_sweep.report.table import ABSENT, Table, short

_SHOWN_MIN, _WAIT_MIN = 0.05, 0.5  # percent; a smaller part is not shown, and a smaller wait of a database
_MOST = 1e6  # percent that are drawn; a stored file may hold any number
_ROW, _BAR, _LETTER = 74, 18, 7.2  # heights of a level and of its bars; width of a digit
_ABOUT = (
    "In parentheses: 95 % intervals of differences within blocks; ? holds 0. The main parts add up to the whole. "
    "Joined parts are known only as their sum. The parts of waiting are shares of the connections' time: an estimate."
)
_DEPTH_MAX = 2
_COLUMNS_MAX, _DRAWN_MAX = 14, 13  # of a table; levels of the picture


def account_part(run: StoredRun, form: Form) -> str:
    account = fit_of(run).account
    if account is None or len({t.level for t in run.plan.trials}) < 2:
        return ""
    if not account.levels:
        return form.words(f"This run has no account: {account.reason}.", note=True)
    return form.joined(
        form.words(account.sentence),
        form.on_page(lambda: _figure(run, account)),
        form.table(parts_table(run, account)),
        form.under(f"For each {_unit(run)}", form.table(unit_table(run, account))),
    )


def _unit(run: StoredRun) -> str:
    return "request" if run.plan.sweep.work.counts_requests else "row"


def _at(run: StoredRun, level: float) -> str:
    return axis_facts(run).count(format_number(level))


def parts_table(run: StoredRun, account: Account) -> Table:
    """The parts of a part follow it."""
    unit = _unit(run)
    rows = [("missing", *(percent_words(one.missing) for one in account.levels), "measured")]
    for depth, shown in _ordered(account):
        key = shown.of, shown.names
        alike = [next((p for p in one.parts if (p.of, p.names) == key), None) for one in account.levels]
        cells = [f"{percent_words(p)}{' ?' if p.may_be_none else ''}" if p is not None else ABSENT for p in alike]
        rows.append((f"{'… ' * depth}{words_of(shown.names, unit)}", *cells, shown.origin))
    first = _at(run, account.first or 0)
    notes = [f"In percent of the rate at an efficiency of 100 %, against {first}, by the trials that count. {_ABOUT}"]
    if account.not_measured:
        notes.append(f"Not measured: {words_of(account.not_measured, unit, '; ')}.")
    headers = ("Part", *(f"% at {_at(run, one.level)}" for one in account.levels), "Origin")
    words = (0, len(headers) - 1)
    return _readable(
        Table(title="Parts of the loss", headers=headers, rows=tuple(rows), notes=tuple(notes), words=words)
    )


def _readable(table: Table) -> Table:
    """With a row for each level, if columns would be too many."""
    if len(table.headers) <= _COLUMNS_MAX:
        return table
    first, *rows = zip(table.headers, *table.rows, strict=True)
    return replace(table, headers=("Level", *first[1:]), rows=tuple(rows), words=(0,))


def _ordered(account: Account, of: str = "", depth: int = 0) -> Iterator[tuple[int, LossPart]]:
    """Those that some level shows, each before its own parts, with how deep it is."""
    inside = [part for one in account.levels for part in one.parts if part.of == of and _is_shown(part)]
    for part in {part.names: part for part in inside}.values():
        yield depth, part
        for within in (part.key, f"{part.key} by counters") if depth < _DEPTH_MAX else ():
            yield from _ordered(account, within, depth + 1)


def _is_shown(part: LossPart) -> bool:
    if part.of == "waiting":
        return abs(part.percent) >= _WAIT_MIN
    return not part.of or max(map(abs, (part.percent, part.low or 0.0, part.high or 0.0))) >= _SHOWN_MIN


def unit_table(run: StoredRun, account: Account) -> Table:
    names = dict.fromkeys(name for one in account.levels for name in one.per_unit)
    rows = tuple((words_of([name], ""), *(_cell(one, name) for one in account.levels)) for name in names)
    headers = ("Figure", *(_at(run, one.level) for one in account.levels))
    note = f"×: the ratio to {_at(run, account.first or 0)}, with its 95 % interval."
    table = Table(title="Figures for each row", headers=headers, rows=rows, notes=(note,) if rows else (), words=(0,))
    return _readable(table)


def _cell(one: LevelAccount, name: str) -> str:
    if name not in one.per_unit or name not in one.ratios:
        return ABSENT
    return f"{short(one.per_unit[name])}, × {with_interval(*astuple(one.ratios[name]))}"


def _figure(run: StoredRun, account: Account) -> str:
    step = math.ceil(len(account.levels) / _DRAWN_MAX)
    some = replace(account, levels=account.levels[::-1][::step][::-1])
    wide, narrow = (account_svg(run, some, width) for width in (940, 400))
    caption = (
        ""
        if step == 1
        else f"{len(some.levels)} of {counted(len(account.levels), 'level')}; the table has all of them. "
    )
    caption += "Upper bars: the main parts. Lower bars: their parts. Left of 0: gains. Grey: the interval holds 0."
    rows: list[tuple[object, ...]] = [(run.plan.sweep.axis, "of", "part", "percent", "low", "high", "origin")]
    rows += [
        (one.level, part.of, part.key, part.percent, part.low, part.high, part.origin)
        for one in account.levels
        for part in one.parts
    ]
    return figure_html("account", wide, caption, rows, narrow=narrow)


def account_svg(run: StoredRun, account: Account, width: int) -> str:
    """A level has two bars: its main parts, and below them the parts of these."""
    unit, bars = _unit(run), [(one, *_bars(one)) for one in account.levels]
    drawn = [part for _, mains, inner in bars for part in (*mains, *inner)]
    named = {
        _css(part): "may be none: see the table" if part.may_be_none else words_of(part.names, unit) for part in drawn
    }
    block = '<rect x="2" y="-7" width="13" height="13" class="{}"/>'
    keys, above = legend([(block.format(css), words) for css, words in named.items()], width, 8, 14)
    sides = [[sum(sign * p.percent for p in some if sign * p.percent > 0) for sign in (1, -1)]
             for _, *both in bars for some in both]  # fmt: skip
    right, left = (min(max(least, *(one[at] for one in sides)), _MOST) for at, least in enumerate((1.0, 0.0)))
    height = above + 20 + _ROW * len(bars) + 44
    frame = Frame.within((width, height), (12, 16, above + 16, 44), (-1.06 * left, 1.06 * right), (0.0, 1.0))
    parts = [keys]
    for value in ticks(frame.x_min, frame.x_max, max(width // 110, 3)):
        parts.append(upright(frame, value, "zero" if value == 0 else "grid"))
        parts.append(text(frame.x(value), height - 26, f"{value:g}", "dim", "middle"))
    parts.append(text(width - 16, height - 8, "% of the ideal rate that is missing", "dim", "end"))
    for at, (one, mains, inner) in enumerate(bars):
        y = above + 20 + _ROW * at
        parts.append(text(frame.x(0) + 6, y + 12, f"{_at(run, one.level)}: {percent_words(one.missing)} %"))
        parts += [*_drawn(frame, mains, y + 18, unit), *_drawn(frame, inner, y + 20 + _BAR, unit)]
    return drawing(width, height, f"Parts of the loss. {account.sentence}", "".join(parts))


def _bars(one: LevelAccount) -> tuple[list[LossPart], list[LossPart]]:
    mains = [*one.within("")]
    inner = [part for main in mains for part in one.within(main.key)]
    return mains, [part for part in inner if abs(part.percent) >= _SHOWN_MIN]


def _css(part: LossPart) -> str:
    return "part unclear" if part.may_be_none else f"part p-{escape(part.key)}"


def _drawn(frame: Frame, parts: Sequence[LossPart], y: float, unit: str) -> Iterator[str]:
    ends = {True: 0.0, False: 0.0}  # of the losses, of the gains
    for part in parts:
        start = ends[part.percent > 0]
        ends[part.percent > 0] = end = start + part.percent
        left, right = sorted((frame.x(start), frame.x(end)))
        title = f"{words_of(part.names, unit)}: {percent_words(part)} %"
        yield (
            f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{_BAR}" class="{_css(part)}">'
            f"<title>{escape(title)}</title></rect>"
        )
        number = percent_words(part).partition(" ")[0]
        if right - left > _LETTER * len(number) + 6:
            yield text((left + right) / 2, y + 13, number, "on-part", "middle")
