"""Was the generator the limit: near what it makes by itself, or with its own CPUs full?"""

from __future__ import annotations

from runner.model import LimitKind
from runner.units import format_rate
from runner.verdict.evidence import Given, Use
from runner.verdict.rules.rule import Found
from runner.verdict.thresholds import CEILING, CLIENT_FULL


def generator_ceiling(use: Use, given: Given) -> Found | None:
    """The rate is near what the generator makes when nothing takes the rows."""
    ceiling = given.ceiling_rows_per_s
    if not ceiling or use.rows_per_s is None or use.rows_per_s <= CEILING * ceiling:
        return None
    told = f"the generator alone reaches {format_rate(ceiling)} rows/s with these rows"
    return Found(
        kind=LimitKind.GENERATOR_CEILING,
        sentence=told,
        remedy="give the generator more CPUs (--client-cpus) and threads (--write-threads)",
        reason=f"{told}; {format_rate(use.rows_per_s)} is too near to that",
    )


def generator_cpu(use: Use, given: Given) -> Found | None:
    """The generator used up its own CPUs while the server had some left."""
    if use.client_cores is None or not given.client_cpus or given.shared_cpus:
        return None
    share = use.client_cores / given.client_cpus
    if share < CLIENT_FULL:
        return None
    return Found(
        kind=LimitKind.GENERATOR_CPU,
        sentence=f"the generator's CPUs were {100 * share:.0f} % busy",
        remedy="add a client core (--client-cpus), or write in a cheaper way (TDengine: --method stmt instead of sql)",
        link=" while ",
    )
