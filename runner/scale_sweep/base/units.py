"""Texts such as "4GiB", "30s", "1..12:2", "1..64:x2", "0,2-5" ⇄ numbers."""

from __future__ import annotations

import math
import re

_BINARY = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, **_BINARY}
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "m": 60.0, "min": 60.0, "h": 3600.0}
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_PERCENT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
LEVELS_MAX = 1024
QUANTITY_MAX = 1e18
CPUS_MAX = 65536


def _quantity(text: str, units: dict[str, float] | dict[str, int], what: str, example: str) -> float:
    match = _QUANTITY.fullmatch(text)
    if match is None or match.group(2).lower() not in units:
        raise ValueError(f"{text!r} is not {what}; write it like {example}")
    value = float(match.group(1)) * units[match.group(2).lower()]
    if value > QUANTITY_MAX:
        raise ValueError(f"{text!r} is above {QUANTITY_MAX:g}")
    return value


def parse_bytes(text: str) -> int:
    """Bytes from "512MiB", "4GB" or "1024"; KB is 1000, KiB is 1024."""
    return round(_quantity(text, _BYTES, "an amount of memory", '"4GiB"'))


def format_bytes(count: int) -> str:
    """For people, and read back by parse_bytes: 21495808 → "20.5MiB", 2**30 → "1GiB"."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 2**power:
            return f"{count / 2**power:.4g}{unit}"
    return f"{count}B"


def parse_seconds(text: str) -> float:
    """Seconds from "30s", "1.5m", "250ms" or "10" (seconds)."""
    return _quantity(text, _SECONDS, "a duration", '"30s" or "5m"')


def _percent(text: str) -> float:
    match = _PERCENT.fullmatch(text)
    return float(match.group(1)) if match else math.nan


def parse_percent(text: str) -> float:
    """Percent from "5%" or "0.5 %": above 0 and below 100."""
    if not 0 < (percent := _percent(text)) < 100:
        raise ValueError(f'{text!r} is not a percentage above 0 and below 100; write it like "5%"')
    return percent


HEADROOM_MAX_PERCENT = 10_000.0


def parse_headroom(text: str) -> float:
    """A share from "30%" or "0%": 0 or more, and 100 % is as much again."""
    if math.isnan(percent := _percent(text)):
        raise ValueError(f'{text!r} is not a percentage of 0 or more; write it like "30%"')
    if percent > HEADROOM_MAX_PERCENT:
        raise ValueError(f"{text!r} is above {HEADROOM_MAX_PERCENT:g} %")
    return percent / 100


def parse_count(text: str) -> int:
    """A whole number from "1000", "100k" or "1M" (powers of ten)."""
    value = _quantity(text.replace("_", ""), _COUNTS, "a number", '"3" or "100k"')
    if value != int(value):
        raise ValueError(f"{text!r} is not a whole number")
    return int(value)


def parse_rate(text: str) -> float:
    """Per second, from "0.5", "1000" or "1.5k"."""
    return _quantity(text.replace("_", ""), _COUNTS, "a rate", '"0.5" or "100k"')


def _level(text: str, whole: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{whole!r} is not a range; write it like 1..12, 1..12:2 or 1,2,4,8") from None
    if not 0 < value <= QUANTITY_MAX:
        limit = f"at most {QUANTITY_MAX:g}" if value > 0 else "above 0"
        raise ValueError(f"{whole!r} holds {text}; a level must be {limit}")
    return value


def _range(part: str, whole: str) -> list[float]:
    ends, _, step_text = part.partition(":")
    first_text, _, last_text = ends.partition("..")
    if last_text.startswith("."):
        raise ValueError(f"{whole!r} is not a range; write it with two dots, like 1..12")
    if not first_text or not last_text:
        raise ValueError(f"{whole!r} has an open end; write both ends, like 1..12")
    first, last = _level(first_text, whole), _level(last_text, whole)
    if last < first:
        raise ValueError(f"{whole!r} runs backwards; write it as {last_text}..{first_text}")
    if step_text.startswith("x"):
        return _geometric(first, last, step_text, whole)
    step = _level(step_text, whole) if step_text else 1.0
    if (last - first) / step >= LEVELS_MAX:
        raise ValueError(f"{whole!r} has too many levels; {LEVELS_MAX} at most")
    count = int((last - first) / step + 1e-9) + 1
    return [round(first + i * step, 6) for i in range(count)]


def _geometric(first: float, last: float, step_text: str, whole: str) -> list[float]:
    factor = _level(step_text.removeprefix("x"), whole)
    if factor <= 1:
        raise ValueError(f"{whole!r} grows by {step_text}; a factor must be above 1, like 1..64:x2")
    levels = [first]
    while levels[-1] * factor <= last * (1 + 1e-9):
        levels.append(round(levels[-1] * factor, 6))
        if len(levels) > LEVELS_MAX:
            raise ValueError(f"{whole!r} has too many levels; {LEVELS_MAX} at most")
    return levels


def parse_levels(text: str) -> tuple[float, ...]:
    """Levels of the axis, ascending, without repeats: "1..12", "1..12:2", "1..64:x2", "1,2,4,8" or "0.5,1"."""
    levels: set[float] = set()
    for part in text.replace(" ", "").split(","):
        levels.update(_range(part, text) if ".." in part else [_level(part, text)])
        if len(levels) > LEVELS_MAX:
            raise ValueError(f"{text!r} has too many levels; {LEVELS_MAX} at most")
    return tuple(sorted(levels))


def format_levels(levels: tuple[float, ...]) -> str:
    whole = [int(v) for v in levels if v == int(v)]
    if len(levels) > 2 and list(levels) == list(range(whole[0], whole[0] + len(levels))) if whole else False:
        return f"{whole[0]}..{whole[-1]}"
    return ",".join(format_number(v) for v in levels)


def format_number(value: float) -> str:
    """4.0 → "4", 1.5 → "1.5"."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def counted(value: float, unit: str, plural: str = "") -> str:
    """A number with its unit: "1 core", "4 cores", "0.5 cores", "1,200 rows"."""
    number = f"{int(value):,}" if value == int(value) else format_number(value)
    return f"{number} {unit}" if value == 1 else f"{number} {plural or f'{unit}s'}"


def part_of(part: int, whole: int, unit: str) -> str:
    """ "no trial", "the one trial", "none of 4 trials", "1 of 4 trials", "all 4 trials"."""
    if whole < 2:
        return f"the one {unit}" if part else f"no {unit}"
    if part == whole:
        return f"all {counted(whole, unit)}"
    return f"{f'{part:,}' if part else 'none'} of {counted(whole, unit)}"


_PRECISE = 1e-5  # of the value: a narrower interval does not justify more digits
_NEARLY_ZERO = 1e-9
EXPLAINED = "In parentheses: 95 % interval"


def with_interval(value: float, low: float | None, high: float | None, unit: str = "") -> str:
    """A number with its 95 % interval: "1.84 (1.51 to 2.27)". high None: "14.6 (14.3 or more)". low None: the number
    alone. The decimals show one digit of half of the interval, two if the number has three or fewer."""
    ends = [end for end in (low, high) if end is not None and math.isfinite(end)]
    half = sum(abs(end - value) for end in ends) / max(len(ends), 1)
    if low is None or not math.isfinite(value) or half < _PRECISE * abs(value) or half < _NEARLY_ZERO:
        return f"{value:.4g}{unit}"
    places = -math.floor(math.log10(half))
    of_value = 2 - math.floor(math.log10(abs(value))) if abs(value) > _NEARLY_ZERO else places
    if of_value > places:
        places += 1
    places = min(max(places, 0), 12)
    rest = f"to {high:.{places}f}{unit}" if high is not None and math.isfinite(high) else f"{unit} or more".strip()
    return f"{value:.{places}f}{unit} ({low:.{places}f} {rest})"


def change_words(ratio: float, low: float | None, high: float | None) -> str:
    """A ratio as a change with its 95 % interval: 0.958, 0.939, 0.977 → "-4.2 % (-6.1 to -2.3 %)". None as
    `with_interval`."""
    if low is None:
        return f"{_signed(ratio)} %"
    rest = f"to {_signed(high)} %" if high is not None else "% or more"
    return f"{_signed(ratio)} % ({_signed(low)} {rest})"


def _signed(ratio: float) -> str:
    return f"{round(100 * (ratio - 1), 1) + 0.0:+.1f}"  # the sum makes +0.0 of -0.0


def percent_words(percent: float) -> str:
    """A percentage with two digits: 31.4 → "31 %", 3.04 → "3 %", 0.52 → "0.52 %"."""
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def moved_words(percent: float) -> str:
    """A change over a window in percent of the mean: "fell by 12 %"; above 50 % "fell from 190 % to 10 % of its
    mean"."""
    verb = "fell" if percent < 0 else "rose"
    if abs(percent) <= 50:
        return f"{verb} by {abs(percent):.0f} %"
    return f"{verb} from {max(0.0, 100 - percent / 2):.0f} % to {max(0.0, 100 + percent / 2):.0f} % of its mean"


PARTS_MAX = 240


def common_multiple(levels: tuple[float, ...], at_least: int) -> int:
    """The smallest number of parts, at least at_least, that every level divides: ((1, 2, 3), 8) → 12; above PARTS_MAX,
    a multiple of the greatest level."""
    whole = [int(level) for level in levels]
    step = math.lcm(*whole)
    step = step if step <= PARTS_MAX else max(whole)
    return -(-at_least // step) * step


def parse_cpus(text: str) -> tuple[int, ...]:
    """CPU numbers in the order given, from the kernel's list format "0,2-5"."""
    cpus: dict[int, None] = {}
    for part in text.replace(" ", "").strip().split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        if match is None:
            raise ValueError(f"{text!r} is not a CPU list; write it like 0,2-5")
        first = int(match.group(1))
        last = int(match.group(2) or first)
        if last < first or last - first > 4096:
            raise ValueError(f"{text!r} holds the range {part}, which runs backwards or is too long")
        if last >= CPUS_MAX:
            raise ValueError(f"{text!r} holds CPU {last}; {CPUS_MAX - 1} is the highest")
        cpus.update(dict.fromkeys(range(first, last + 1)))
    return tuple(cpus)


def format_cpus(cpus: tuple[int, ...]) -> str:
    """The kernel's list format, ascending: (0, 2, 3) → "0,2-3"."""
    parts: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if parts and cpu == parts[-1][-1] + 1:
            parts[-1].append(cpu)
        else:
            parts.append([cpu])
    return ",".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


_WORDLESS = 1e15  # beyond this, digits mean nothing


def format_rate(rate: float | None, low: float | None = None, high: float | None = None) -> str:
    """A rate for people: "1.23 M"; with its 95 % interval "1.04 M (1.02 to 1.06 M)"; "–" for None."""
    if rate is None or not math.isfinite(rate):
        return "–"
    size = abs(rate)
    units = ((1e9, " G"), (1e6, " M"), (1e3, " k"))
    scale, unit = next(((s, u) for s, u in units if 0.9995 * s <= size < _WORDLESS), (1.0, ""))
    if low is None or size >= _WORDLESS:
        is_short = size < 999.5 * scale or size >= _WORDLESS
        return f"{rate / scale:.3g}{unit}" if is_short else f"{rate / scale:,.0f}{unit}"
    return with_interval(rate / scale, low / scale, high / scale if high is not None else None, unit)


def format_seconds(seconds: float) -> str:
    """A duration for people: 75 → "1 min 15 s"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
