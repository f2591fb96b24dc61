"""The two sweeps of `scale ab`: the flags of one variant, what must agree, and the differences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

from scale_sweep.base.errors import UsageError
from scale_sweep.experiment.setting.readers import rule_text
from scale_sweep.model.declared import Sweep
from scale_sweep.sweep.axis import refuse_too_many
from scale_sweep.sweep.settings import SETTINGS
from scale_sweep.sweep.vary import VARIANT

Flags = Mapping[str, str | list[str]]
_WHOLE_RUN = (
    ("axis", "the axis"),
    ("levels", "the levels"),
    ("port", "--port"),
    ("data_dir", "--data-dir"),
    ("disks", "the disks"),
    ("disk_placement", "--disk-placement"),
    ("wal_disk", "--wal-disk"),
    ("disk_free_min_bytes", "--disk-free-min"),
    ("sample_hz", "--sample-hz"),
    ("seed", "--seed"),
    ("network_bits_per_s", "--network-speed"),
    ("order_seed", "--order-seed"),
    ("detect_percent", "--detect"),
)
_DECIDED = {
    "method.replicates": "--replicates",
    "method.until_ci": "--until-ci",
    "method.drift_check": "--drift-check",
    "method.ablation": "--ablation",
    "method.prove": "--prove",
}
REFUSED = (*_DECIDED, "vary")  # keys of settings that are not accepted
_NO_SETTING = "name question origin tags variants_ab replicates replicates_max drift_check sentinel vary".split()
_OF_A_TRIAL = {"connections", "partitions"}  # fields of a load that only a trial fills, from its knobs


def flags_of(text: str, where: str) -> dict[str, str | list[str]]:
    """where: the option that contains the text. Raises UsageError."""
    by_flag = {setting.flag: setting for setting in SETTINGS}
    texts: dict[str, str | list[str]] = {}
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    while words:
        flag, equals, value = words.pop(0).partition("=")
        setting = by_flag.get(flag)
        if setting is None:
            raise UsageError(f"{where}: {flag!r} is not a setting's flag", remedy="docs/settings.md lists the flags")
        if setting.switch:
            value = "1"
        elif not equals:
            if not words:
                raise UsageError(f"{where}: {flag} needs a value")
            value = words.pop(0)
        before = texts.get(setting.key, [])
        texts[setting.key] = [*before, value] if setting.many else value
    return texts


def together(common: Flags, own: Flags) -> dict[str, str | list[str]]:
    flags = dict(common)
    for key, value in own.items():
        before = flags.get(key)
        flags[key] = [*before, *value] if isinstance(value, list) and isinstance(before, list) else value
    return flags


def looks_of(text: str) -> tuple[int, ...]:
    """ "5", or "5,10,20". Raises UsageError."""
    numbers = [int(part) if re.fullmatch(r"\s*[0-9]{1,9}\s*", part) else 0 for part in text.split(",")]
    if min(numbers) < 1 or any(later <= before for before, later in pairwise(numbers)):
        raise UsageError(f"--blocks: {text[:60]!r} is no number of blocks, and not several that rise, like 5,10,20")
    return tuple(numbers)


def variants_of(a: Sweep, b: Sweep, looks: Sequence[int]) -> tuple[Sweep, Sweep]:
    """Raises UsageError for settings that must agree and differ."""
    different = [words for field, words in _WHOLE_RUN if getattr(a, field) != getattr(b, field)]
    if different:
        raise UsageError(f"A and B are one run, and {', '.join(different)} must be the same for both")
    excluded = [flag for key, flag in _DECIDED.items() if "flag" in (a.origin.get(key), b.origin.get(key))]
    excluded += ["vary"] if a.vary or b.vary else []
    if excluded:
        raise UsageError(
            f"{', '.join(excluded)}: not with scale ab, whose trials are in blocks of A B B A",
            remedy="give their number with --blocks",
        )
    factors = {"--blocks": ("blocks", looks[-1]), "a block": ("trials in a block", 4)}
    refuse_too_many({**factors, "the levels": ("levels", len(a.levels))})
    about = words(a, b)
    return tuple(
        replace(
            one,
            name="ab",
            question="Does B write as fast as A?",
            replicates=2 * looks[0],
            drift_check=False,
            sentinel=False,
            until_ci_percent=None,
            ablation=False,
            variants_ab=about,
            looks_ab=tuple(looks) if len(looks) > 1 else (),
        )
        for one in (a, b)
    )  # type: ignore[return-value]


def as_one(sweep: Sweep) -> Sweep:
    return replace(sweep, vary={VARIANT: tuple(sweep.variants_ab)})


def words(a: Sweep, b: Sweep) -> dict[str, str]:
    flat_a, flat_b = dict(_flat(_plain(a))), dict(_flat(_plain(b)))
    names = [n for n in dict.fromkeys([*flat_a, *flat_b]) if flat_a.get(n) != flat_b.get(n)]

    def differences(flat: Mapping[str, str]) -> str:
        return ", ".join(f"{name} {flat.get(name) or 'default'}" for name in names)

    return (
        {"A": differences(flat_a), "B": differences(flat_b)} if names else {"A": "the same as B", "B": "the same as A"}
    )


def _plain(sweep: Sweep) -> dict[str, Any]:
    plain = {k: v for k, v in asdict(sweep).items() if k not in _NO_SETTING}
    plain["load"] = {k: v for k, v in plain["load"].items() if k not in _OF_A_TRIAL}
    plain["knobs"] = {name: rule_text(rule) for name, rule in sweep.knobs.items()}
    return plain


def _flat(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner)
        elif inner not in (None, ""):
            yield name, str(inner)
