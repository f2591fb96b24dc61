"""The combinations of what a sweep varies, each on the server that was chosen for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scale_sweep.model import Sweep
from scale_sweep.plan.preparing.choice import Choice, choose
from scale_sweep.plan.preparing.requested import subject_key
from scale_sweep.sweep.vary import SUBJECT_FIELDS, variants


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One combination. sweep: with its server in place of `auto`, and of the varied values only its own."""

    variant: Mapping[str, str]
    sweep: Sweep
    choice: Choice


def arms_of(sweep: Sweep) -> tuple[Arm, ...]:
    """All combinations in the order of the variants. Each distinct server is searched once. Raises as `choose` does."""
    choices: dict[str, Choice] = {}
    found = []
    for variant in variants(sweep):
        said: dict[str, Any] = {name: variant[name] for name in SUBJECT_FIELDS if name in variant}
        asked = replace(sweep, **said)
        key = subject_key(asked)
        if key not in choices:
            choices[key] = choose(asked)
        choice = choices[key]
        chosen = replace(asked, target=choice.facts.name, runtime=choice.runtime, image=choice.image, home=choice.home)
        found.append(Arm(variant=variant, sweep=chosen, choice=choice))
    return tuple(found)
