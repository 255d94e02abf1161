#!/usr/bin/env bash
# Everything that must hold: formatting, release build and tests (GCC), the interactive page (Node.js 20, Chromium), static analysis,
# sanitizer build and tests (Clang), a short fuzz run of every parser. Re-running repeats only what a change touches.
# Usage: scripts/test.sh [--quick]   (--quick: release build and tests only)
set -euo pipefail
cd "$(dirname "$0")/.."
quick=${1:-}
jobs=$(nproc)

# step WHAT: says what begins, and how long the step before took.
step() {
  [ -z "${begun:-}" ] || printf '   (%d:%02d)\n' $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60))
  begun=$SECONDS
  [ -z "$1" ] || printf '\n== %s\n' "$1"
}

echo "This takes up to 35 minutes on two idle cores the first time$([ "$quick" = --quick ] && echo "; --quick about half of that" || true)."
step "packages"
bash scripts/setup.sh compile
{ bash scripts/setup.sh test && bash scripts/setup.sh page && bash scripts/setup.sh docs; } &  # much to unpack: goes on while the compilers work
packages=$!

if [ "$quick" != --quick ]; then
  step "formatting"
  find synergraph capi cli tests benchmarks fuzz web/core -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' | xargs clang-format --dry-run -Werror
fi

step "release build and tests"
# With the code for GPUs, for one kind of them, where there is a compiler for it.
cmake --preset release -DSYNERGRAPH_PRECOMPILE=ON -DSYNERGRAPH_BUILD_BENCHMARKS=OFF -DSYNERGRAPH_CUDA=AUTO \
  -DCMAKE_CUDA_ARCHITECTURES=80-real | grep 'Training on GPUs'
scripts/show_build.sh cmake --build --preset release
wait "$packages"
cmake --preset release >/dev/null  # finds what has come since
echo "   running the tests"
ctest --preset release -j "$jobs" --output-on-failure | grep -v '(Skipped)$' | tail -n 25
[ "$quick" != --quick ] || { step ""; exit 0; }

step "the interactive page is what its sources give"
bash scripts/page.sh --check

step "the documentation site"
/usr/bin/python3 scripts/site.py

step "clang-tidy"
bash scripts/tidy.sh

step "Clang build with AddressSanitizer and UndefinedBehaviorSanitizer, and its tests of what parses or indexes (all: preset asan-all)"
cmake --preset asan >/dev/null
scripts/show_build.sh cmake --build --preset asan
# Not those that compute for long what shorter ones touch, too.
ctest --preset asan -j "$jobs" --output-on-failure -E \
  'TakesUnboundedMemoryOrTime|CurvesReachTheMinimaxTime|AreThoseOfAFineGrid|HaveBoundsThatNoWeightsExceed|SharesTheValueOfAllHeads' | tail -n 12

step "every parser fuzzed for a short time"
bash scripts/fuzz.sh 10
step ""
