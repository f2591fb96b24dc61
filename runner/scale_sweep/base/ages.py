"""How old a version of a program is, from the months in which versions came out."""

from __future__ import annotations

from collections.abc import Mapping

OLD_YEARS = 2.0


def released_in(months: Mapping[str, str], version: str) -> str:
    """The month YYYY-MM of the version; "" if it is not known. months: by version, or by the start of several."""
    known = [one for one in months if version.startswith(one) and not version[len(one) : len(one) + 1].isdigit()]
    return months[max(known, key=len)] if known else ""


def age_years(month: str, now: str) -> float:
    """Years between two months. now: a date that begins as YYYY-MM. Raises ValueError for another text."""
    (year, number), (this_year, this_number) = (map(int, text[:7].split("-")) for text in (month, now))
    return max(0.0, this_year - year + (this_number - number) / 12)
