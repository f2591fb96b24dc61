"""Commands of the pages without a shown output that only read: a newcomer types them after the tutorial's sweep.

They are run where that sweep was stored, and must end with 0. Refuses commands that measure, install or remove, lines
with a placeholder such as FILE, and commands that a sentence names without their arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tools.walkthrough.pages import command_lines

READ = re.compile(
    r"scale (?:doctor|list|disks list|servers list|schema|dashboards status"
    r"|(?:show|report|verify|watch) last|fit tdengine-cpu|init cpu|site results|size --run last)(?= |$)"
)
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")
NO_ANSWER = 13  # of `scale size`: two levels may be too few for the need
CODES = {"size": (0, NO_ANSWER)}


def unshown(pages: Iterable[str], shown: Iterable[str]) -> list[str]:
    """The commands of the texts, each once, in their order, without the shown ones."""
    lines = dict.fromkeys(line for page in pages for line in command_lines(page))
    left_out = set(shown)
    return [one for one in lines if READ.match(one) and not PLACEHOLDER.search(one) and one not in left_out]


def codes_of(command: str) -> tuple[int, ...]:
    """The exit codes of a command that did what its page says."""
    return CODES.get(command.split()[1], (0,))
