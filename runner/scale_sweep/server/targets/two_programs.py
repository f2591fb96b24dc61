"""A script of sh that keeps two programs of one server together, of which the second needs the first."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

TOOLS = ("setpriv", "sleep", "rm")  # the programs that the script starts
# setpriv: a process whose parent is killed goes with it. The second program ends first: it may ask the first one until
# its own end, and gets ten seconds for what it still wants to store. If one of them ends by itself, the other one is
# killed: what it would say at its end would hide the reason, and its clients would wait for it.
_SCRIPT = """rm -f {ready}
setpriv --pdeathsig KILL {first} &
first=$!
trap 'ended=1' TERM
while [ ! -e {ready} ] && [ ! "$ended" ]; do
  kill -0 $first 2>/dev/null || exit 1
  sleep 0.2
done
code=0
if [ ! "$ended" ]; then
  trap : CHLD
  setpriv --pdeathsig KILL {second} &
  second=$!
  wait $second $first
  trap - CHLD
  trap '' TERM
  [ "$ended" ] || kill -KILL $first $second 2>/dev/null
  kill $second 2>/dev/null
  left=50
  while [ $left -gt 0 ] && kill -0 $second 2>/dev/null; do
    sleep 0.2
    left=$((left - 1))
  done
  kill -KILL $second 2>/dev/null
  wait $second
  code=$?
fi
kill $first 2>/dev/null
wait $first
exit $code
"""


def in_turn(ready: str, first: Sequence[str], second: Sequence[str]) -> str:
    """Runs the first program, then the second as soon as the file `ready` exists, until either ends or the shell is
    told to end. Its code is that of the second."""
    return _SCRIPT.format(ready=shlex.quote(ready), first=shlex.join(first), second=shlex.join(second))
