"""The bound above which a share of a column's values lies, computed from the law of the values. Pure.

The ranges and the choice of a column's law are those of the load generator (loadgen/schema.c, loadgen/laws.c); a test
compares the bounds with the rows that it makes. Refuses laws other than random: with them, the share depends on the
range of time.
"""

from __future__ import annotations

from runner.model import Workload

LAWS = ("walk", "random", "constant", "line", "sine", "square")  # in the order of the load generator
_RANGES = {  # the smallest value, the length of the range, steps in a unit
    "tinyint": (0, 100, 1),
    "smallint": (0, 10_000, 1),
    "int": (0, 1_000_000, 1),
    "bigint": (0, 10**12, 1),
    "utinyint": (0, 200, 1),
    "usmallint": (0, 50_000, 1),
    "uint": (0, 1_000_000, 1),
    "ubigint": (0, 10**12, 1),
    "float": (0, 100, 1000),
    "double": (0, 1000, 0),  # 0: any fraction
}
_METERS = {
    ("current", "float"): (8, 4, 1000),
    ("voltage", "int"): (110, 130, 1),
    ("phase", "float"): (0, 1, 1000),
    ("groupid", "int"): (1, 9, 1),
}


def bound_above(data: Workload, column: str, share: float) -> float:
    """The bound: this share of the values is above it, as nearly as the number of different values allows. Raises
    ValueError with one sentence."""
    law = law_of(data, column)
    if law != "random":
        told = "the share above a bound is the same in every range of time only with --values random"
        raise ValueError(f"selectivity: the values of {column} have the law {law}; {told}")
    kind = next(kind for name, _, kind in (one.partition(":") for one in data.columns) if name == column)
    low, span, steps = _METERS.get((column, kind), _RANGES[kind])
    is_fraction = kind in ("float", "double")
    if is_fraction and data.decimals is not None:
        steps = 10**data.decimals
    if not steps:
        return float(f"{low + span * (1 - share):.10g}")
    values = span * steps + 1
    above = round(share * values)
    if not 0 < above < values:
        raise ValueError(f"selectivity: {column} has {values:,} different values, of which {share:.3%} are {above:,}")
    last = low * steps + values - 1 - above
    return (last + 0.5) / steps if is_fraction else float(last)


def law_of(data: Workload, column: str) -> str:
    """The law of a column. With shares of several laws, columns take places that are spread evenly."""
    shares = dict.fromkeys(LAWS, 0)
    for name, _, text in (part.partition("=") for part in data.values.split(",")):
        shares[name] = int(text or 1)
    number = [one.partition(":")[0] for one in data.columns].index(column)
    at = ((number + 1) * 2654435769 % 2**32) * sum(shares.values()) >> 32
    for law, share in shares.items():
        if at < share:
            return law
        at -= share
    raise AssertionError("a place is below the sum of the shares")
