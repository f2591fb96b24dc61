"""A rule: a small function with the kind that it names, and its precedence. Data only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.model import BottleneckKind


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A rule's answer: the figures as a sentence, and what to change."""

    kind: BottleneckKind
    sentence: str
    remedy: str = ""
    link: str = ": "  # joins the sentence to the use of the axis' own resource, in a verdict's reason
    reason: str = ""  # the complete reason, if it needs other words
    noted: bool = False  # the reader of a valid number sees it too


class Precedence(StrEnum):
    """OVERRULES: the number is not the level's, whatever else was full. USED_UP: a given resource was used up; of
    these, the one that the axis varies is checked first, because if two are full the level's is the answer. EXPLAINS:
    why nothing that was given was used up."""

    OVERRULES = "overrules"
    USED_UP = "used up"
    EXPLAINS = "explains"


@dataclass(frozen=True, kw_only=True)
class BottleneckRule:
    """explain: the answer for a window or a second, or None. names: the only kind of its answers. only_on: the rule
    applies only if the axis sweeps this kind; None: always."""

    names: BottleneckKind
    precedence: Precedence
    explain: Callable[[ResourceUse, TrialResources], Explanation | None]
    only_on: BottleneckKind | None = None
