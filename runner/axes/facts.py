"""What every axis says about itself, as data. Refuses to hold a rule: rules read these facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.model import LimitKind, Stand, VerdictKind


@dataclass(frozen=True, kw_only=True)
class AxisFacts:
    """One axis.

    name: in plans, results and metrics; plural, as the unit of several levels ("4 cores"). unit: of one. command: the
    word after `scale sweep`. flag: of its levels; its key is "axis.<name>". title: heading of a column of levels.
    given: what the level is, for the axis of a picture.
    rate: the field of Measurement that is fitted. whole: levels are whole numbers.
    must_be_steady: a trial whose rate is not steady is UNSTEADY, and seconds before it settled may be left out.
    standings: of every kind of bottleneck. own_verdict: of a trial whose bottleneck is the server's own.
    needs: the capability of a runtime (runner/runtimes/capabilities.py) without which it cannot be swept; "": none.
    one_without: what to ask for where that is lacking and one level can be measured all the same; "": none can.
    sections: report sections that only this axis has, by their names in runner/report/.
    """

    name: str
    unit: str
    command: str
    flag: str
    title: str
    given: str
    question: str
    example: str
    rate: str
    standings: Mapping[LimitKind, Stand]
    own_verdict: VerdictKind
    whole: bool = True
    must_be_steady: bool = True
    sections: tuple[str, ...] = ()
    needs: str = ""
    one_without: str = ""

    def count(self, level: str) -> str:
        """A level with its unit: "1 core", "4 cores"."""
        return f"{level} {self.unit if level == '1' else self.name}"
