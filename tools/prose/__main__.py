"""Lists each sentence that the prose check refuses, and the number of each kind.

`python -m tools.prose [PART OF A PATH]`
Ends with 1 if there are any.
"""

import sys
from collections import Counter

from tools.prose.rules import offences
from tools.prose.texts import texts


def main() -> int:
    """The exit code."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    counts = Counter[str]()
    for place, sentence in texts():
        if wanted in place:
            for rule, words in offences(sentence):
                counts[rule.kind] += 1
                print(f"{place}: {rule.kind} ({words!r}): {sentence}")
    for kind, number in counts.most_common():
        print(f"{number:6} {kind}")
    return int(bool(counts))


if __name__ == "__main__":
    sys.exit(main())
