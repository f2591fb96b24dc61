"""Property-based tests draw the same examples in every run: what a run says depends on the code alone. And a signal is
one however the tests were started.

`SCALE_EXAMPLES=2000` draws so many at random instead, to look for what these do not show.
"""

import os
import signal

from hypothesis import Phase, settings

asked = int(os.environ.get("SCALE_EXAMPLES", "0"))
settings.register_profile("same", max_examples=40, derandomize=True, database=None, deadline=None)
settings.register_profile("search", max_examples=asked or 1, deadline=None, phases=(Phase.generate,))
settings.load_profile("search" if asked else "same")

# A shell starts background jobs with SIGINT and SIGQUIT ignored, and what ignores one hands that down; tests send both.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
