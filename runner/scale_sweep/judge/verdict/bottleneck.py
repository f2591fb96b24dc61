"""The bottleneck of a trial, from the rules on the window and on each of its seconds; and its meaning on the axis, as a
verdict with reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scale_sweep.base.units import format_rate
from scale_sweep.experiment.axes import AxisFacts
from scale_sweep.judge.verdict.evidence import Explanation, ResourceUse, TrialResources
from scale_sweep.judge.verdict.rules import RULES, WORDS, BottleneckRule, Precedence
from scale_sweep.judge.verdict.rules.load import grows, is_met
from scale_sweep.judge.verdict.thresholds import GENERATOR_ROOM, OTHERS_ROOM
from scale_sweep.model.measured import Bottleneck, BottleneckKind, Standing, VerdictKind


@dataclass(frozen=True, kw_only=True)
class Explanations:
    """overruling: the number is not the server's. first: of all other rules; UNKNOWN if none explains."""

    overruling: tuple[Explanation, ...]
    first: Explanation

    @property
    def bottleneck(self) -> Explanation:
        return self.overruling[0] if self.overruling else self.first


def explanations_of(use: ResourceUse, resources: TrialResources, axis: AxisFacts) -> Explanations:
    rules = in_order(axis)
    overruling = (rule.explain(use, resources) for rule in rules if rule.precedence is Precedence.OVERRULES)
    others = (rule.explain(use, resources) for rule in rules if rule.precedence is not Precedence.OVERRULES)
    return Explanations(overruling=tuple(filter(None, overruling)), first=next(filter(None, others)))


def in_order(axis: AxisFacts) -> list[BottleneckRule]:
    """By precedence; among used-up resources, the axis' own comes first."""
    applicable = [rule for rule in RULES if rule.only_on is None or is_swept(axis, rule.only_on)]
    places = list(Precedence)

    def rank(rule: BottleneckRule) -> tuple[int, bool]:
        others = rule.precedence is Precedence.USED_UP and not is_swept(axis, rule.only_on or rule.names)
        return places.index(rule.precedence), others

    return sorted(applicable, key=rank)


def is_swept(axis: AxisFacts, kind: BottleneckKind) -> bool:
    return axis.standings[kind].standing is Standing.SWEPT


def swept_words(use: ResourceUse, resources: TrialResources, axis: AxisFacts) -> str:
    return next(
        (sentence for kind, words in WORDS.items() if is_swept(axis, kind) and (sentence := words(use, resources))), ""
    )


def bottleneck_of(use: ResourceUse, resources: TrialResources, axis: AxisFacts) -> Bottleneck:
    """With the axis' own remedy if it has one."""
    explanation = explanations_of(use, resources, axis).bottleneck
    remedy = axis.standings[explanation.kind].remedy or explanation.remedy
    if _is_unproven(explanation.kind, resources):  # the flag of the axis is not the tool's
        remedy = explanation.remedy
    return Bottleneck(kind=explanation.kind, sentence=explanation.sentence, remedy=remedy)


def attribute(
    window: ResourceUse, seconds: Sequence[ResourceUse], resources: TrialResources, axis: AxisFacts
) -> Bottleneck:
    """Over the window, with each kind's share of its seconds."""
    counts = Counter(bottleneck_of(second, resources, axis).kind.value for second in seconds)
    shares = {kind: 100 * count / len(seconds) for kind, count in counts.most_common()}
    return replace(bottleneck_of(window, resources, axis), shares=shares)


# Neither swept nor inside the server. An offered rate that was met counts.
EXTERNAL: Mapping[BottleneckKind, VerdictKind] = {
    **dict.fromkeys(BottleneckKind, VerdictKind.RESOURCE_NOT_SATURATED),
    BottleneckKind.OFFERED_RATE: VerdictKind.VALID,
    BottleneckKind.GENERATOR_CEILING: VerdictKind.GENERATOR_BOUND,
    BottleneckKind.GENERATOR_CPU: VerdictKind.GENERATOR_BOUND,
    BottleneckKind.GENERATOR_LATE: VerdictKind.GENERATOR_BOUND,
    BottleneckKind.THROTTLING: VerdictKind.THROTTLED,
}


def verdict_of(kind: BottleneckKind, axis: AxisFacts) -> VerdictKind:
    standing = axis.standings[kind].standing
    if standing is Standing.SWEPT:
        return VerdictKind.VALID
    return axis.own_verdict if standing is Standing.OWN else EXTERNAL[kind]


def _is_unproven(kind: BottleneckKind, resources: TrialResources) -> bool:
    """A foreign load's number is the server's only by evidence of its own, and by too few clients only if the level
    says how many."""
    if not resources.is_foreign:
        return False
    return kind is BottleneckKind.UNKNOWN or (kind is BottleneckKind.CONNECTIONS and not resources.grants_clients)


def _verdict(kind: BottleneckKind, resources: TrialResources, axis: AxisFacts) -> VerdictKind:
    verdict = verdict_of(kind, axis)
    is_claimed = verdict is VerdictKind.VALID and _is_unproven(kind, resources)
    return VerdictKind.RESOURCE_NOT_SATURATED if is_claimed else verdict


def may_be_internal(kind: BottleneckKind, use: ResourceUse, resources: TrialResources, axis: AxisFacts) -> bool:
    """Whether the server itself may leave idle what the axis gives it; only a trial with more connections decides. An
    unexplained bottleneck counts only if load generator and machine had idle CPU time."""
    is_own = axis.standings[kind].standing is Standing.OWN
    if not is_own or axis.own_verdict is not VerdictKind.RESOURCE_NOT_SATURATED or resources.offered_per_s:
        return False
    return kind is not BottleneckKind.UNKNOWN or _has_room(use, resources)


def _has_room(use: ResourceUse, resources: TrialResources) -> bool:
    if use.generator_cpu_cores is None or use.server_cpu_cores is None or use.other_cpu_cores is None:
        return False
    lacks = resources.cores - use.server_cpu_cores
    return (
        use.generator_cpu_cores <= GENERATOR_ROOM * resources.generator_cpus and use.taken_cores <= OTHERS_ROOM * lacks
    )


def judge_standing(use: ResourceUse, resources: TrialResources, axis: AxisFacts) -> tuple[VerdictKind, tuple[str, ...]]:
    """Below its offered rate a load is OFFERED_NOT_MET whatever the cause, which the bottleneck names."""
    if is_met(use, resources) is False:
        offered, achieved = format_rate(resources.offered_per_s), format_rate(use.rate_per_s)
        grown = f", and the backlog grew by {format_rate(use.backlog_per_s)} {resources.unit}"
        backlog = grown if grows(use, resources) else ""
        return VerdictKind.OFFERED_NOT_MET, (f"{offered} {resources.unit} offered, {achieved} achieved{backlog}",)
    explanations = explanations_of(use, resources, axis)
    kind = _verdict(explanations.bottleneck.kind, resources, axis)
    named = [explanations.bottleneck] if kind is VerdictKind.VALID else list(explanations.overruling)
    if kind is not VerdictKind.VALID and (not named or explanations.first.kind is not BottleneckKind.UNKNOWN):
        named.append(explanations.first)
    return kind, tuple(dict.fromkeys(reason for each in named for reason in _reasons(each, use, resources, axis)))


def _reasons(explanation: Explanation, use: ResourceUse, resources: TrialResources, axis: AxisFacts) -> tuple[str, ...]:
    if _verdict(explanation.kind, resources, axis) is VerdictKind.VALID and not explanation.noted:
        return ()
    used, opening = swept_words(use, resources, axis), axis.standings[explanation.kind].reason
    if opening:
        return tuple(sentence for sentence in (f"{opening}: {explanation.sentence}", used) if sentence)
    if explanation.reason or not used or explanation.sentence.startswith(used):
        return (explanation.reason or explanation.sentence,)
    return (f"{used}{explanation.link}{explanation.sentence}",)
