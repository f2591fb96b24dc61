"""The bottleneck of a trial: the rules on the whole window, and on each of its seconds. Refuses to judge the number:
that depends on the bottleneck's standing (standing.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.verdict.evidence import ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules import RULES, WORDS, Found, Place, Rule
from scale_sweep.model import Bottleneck, BottleneckKind, Standing


@dataclass(frozen=True, kw_only=True)
class Findings:
    """overruling: all findings that make the number not the server's, whatever else was full. first: the first of all
    other rules that explains the figures; UNKNOWN if none does."""

    overruling: tuple[Found, ...]
    first: Found

    @property
    def bottleneck(self) -> Found:
        """The finding that names the bottleneck."""
        return self.overruling[0] if self.overruling else self.first


def findings(use: ResourceUse, given: TrialResources, axis: AxisFacts) -> Findings:
    """The rules' findings, in their order for this axis."""
    rules = in_order(axis)
    overruling = (rule.find(use, given) for rule in rules if rule.place is Place.OVERRULES)
    others = (rule.find(use, given) for rule in rules if rule.place is not Place.OVERRULES)
    return Findings(
        overruling=tuple(found for found in overruling if found), first=next(found for found in others if found)
    )


def in_order(axis: AxisFacts) -> list[Rule]:
    """The rules that apply on this axis: by place; among used-up resources, the axis' own comes first."""
    asked = [rule for rule in RULES if rule.only_on is None or is_swept(axis, rule.only_on)]
    places = list(Place)

    def rank(rule: Rule) -> tuple[int, bool]:
        others = rule.place is Place.USED_UP and not is_swept(axis, rule.only_on or rule.names)
        return places.index(rule.place), others

    return sorted(asked, key=rank)


def is_swept(axis: AxisFacts, kind: BottleneckKind) -> bool:
    """Whether the axis varies the resource of this bottleneck."""
    return axis.standings[kind].standing is Standing.SWEPT


def swept_words(use: ResourceUse, given: TrialResources, axis: AxisFacts) -> str:
    """How far the resource that the axis varies was used; "" if there is no text for it."""
    return next((told for kind, words in WORDS.items() if is_swept(axis, kind) and (told := words(use, given))), "")


def bottleneck_of(use: ResourceUse, given: TrialResources, axis: AxisFacts) -> Bottleneck:
    """The bottleneck over some time, with the axis' own remedy if it has one."""
    found = findings(use, given, axis).bottleneck
    remedy = axis.standings[found.kind].remedy or found.remedy
    return Bottleneck(kind=found.kind, sentence=found.sentence, remedy=remedy)


def attribute(
    window: ResourceUse, seconds: Sequence[ResourceUse], given: TrialResources, axis: AxisFacts
) -> Bottleneck:
    """The bottleneck over the window, with each kind's share of its seconds."""
    counts = Counter(bottleneck_of(second, given, axis).kind.value for second in seconds)
    shares = {kind: 100 * count / len(seconds) for kind, count in counts.most_common()}
    return replace(bottleneck_of(window, given, axis), shares=shares)
