#!/bin/sh
# Measures this machine with `scale` and makes one file to send back. README.md beside it explains each step.
set -eu
cd "$(dirname "$0")"

step() { printf '\n== %s\n' "$1"; }
end() { printf '%s\n' "$1" >&2; exit "${2:-3}"; }
free_gb() { df -Pk "$1" | awk 'NR == 2 { print int($4 / 1e6) }'; }

step "1 of 5: the program"
[ -d .venv ] && PATH="$PWD/.venv/bin:$PATH"
if ! command -v scale > /dev/null; then
    wheel=$(ls scale_sweep-*.whl 2> /dev/null | tail -n 1)
    [ -n "$wheel" ] || end "scale is not installed: put its wheel (scale_sweep-*.whl) beside this script"
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet "./$wheel"
    PATH="$PWD/.venv/bin:$PATH"
fi
[ "$(scale --version)" = "scale @VERSION@" ] || echo "note: this kit is of scale @VERSION@, here is $(scale --version)"

step "2 of 5: the machine"
scale doctor

step "3 of 5: the plan, and the space on the disks"
scale plan @WORDS@
for place in . @DATA@; do
    while [ ! -d "$place" ]; do place=$(dirname "$place"); done
    free=$(free_gb "$place")
    echo "$place: $free GB are free; the sweep may need @SPACE@ GB"
    [ "$free" -ge @SPACE@ ] || end "free some space, or make the kit again with --data-dir DIR on a larger disk"
done
if [ "${1:-}" != "-y" ]; then
    printf 'Start the sweep? [y/N] '
    read -r answer
    [ "$answer" = y ] || end "not started" 2
fi

step "4 of 5: the sweep"
code=0
scale sweep @WORDS@ --results results -y --no-metrics || code=$?
# 10: some trials do not count, which the result says
[ "$code" = 0 ] || [ "$code" = 10 ] || end "the sweep did not end: scale resume last --results results continues it" "$code"

step "5 of 5: one file, without names, paths and logs"
file=$(scale export last --redacted --results results)
echo "send this file: $PWD/$file"
echo "look into it: tar -xzOf $file | less"
