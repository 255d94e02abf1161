#!/usr/bin/env bash
# All tests that need a GPU, on the machine at hand.
# Usage: scripts/gpu_test.sh [--sanitize] [--as-is] [BUILD_DIR]
#   BUILD_DIR   where the programs are, build/cuda unless given. It is brought up to date, unless it was configured for sources
#               elsewhere: then it was carried here, and its tests/gpu/test_gpu and cli/synergraph are taken as they are, with the
#               libraries in its lib/, if there are any.
#   --as-is     nothing is built in any case.
#   --sanitize  then compute-sanitizer's memcheck, racecheck and synccheck on a small run, a line a tool.
set -euo pipefail
sanitize=
as_is=
directory=build/cuda
for argument in "$@"; do
  case $argument in
    --sanitize) sanitize=yes ;;
    --as-is) as_is=yes ;;
    -*) sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0"; exit 2 ;;
    *) directory=$argument ;;
  esac
done
root=$(cd "$(dirname "$0")/.." && pwd)
[ -d "$directory" ] || cd "$root"
program=$directory/tests/gpu/test_gpu

ours() { grep -qs "^CMAKE_HOME_DIRECTORY:INTERNAL=$root\$" "$directory/CMakeCache.txt"; }
if [ -z "$as_is" ] && { [ ! -x "$program" ] || ours; }; then
  cd "$root"
  [ -f "$directory/build.ninja" ] || cmake --preset cuda -B "$directory" >/dev/null
  cmake --build "$directory" --target test_gpu synergraph_cli -- --quiet
fi
[ -x "$program" ] || { echo "gpu_test: $program is not there" >&2; exit 1; }
if [ -z "${SYNERGRAPH_PROGRAM:-}" ] && [ -x "$directory/cli/synergraph" ]; then
  SYNERGRAPH_PROGRAM=$(realpath "$directory/cli/synergraph")
  export SYNERGRAPH_PROGRAM  # the tests know where it was built, and not where it is now
fi
[ ! -d "$directory/lib" ] || export LD_LIBRARY_PATH="$(realpath "$directory/lib")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$program" --gtest_brief=1 2>&1 | tee "$log" || status=1
if grep -q 'SKIPPED' "$log"; then
  echo "gpu_test: some tests were skipped: is there a GPU? (synergraph --version lists them)" >&2
  status=1
fi
[ -n "$sanitize" ] || exit "$status"

tool=$(command -v compute-sanitizer || true)
[ -n "$tool" ] || for place in /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer /opt/cuda/bin; do
  if [ -x "$place/compute-sanitizer" ]; then tool=$place/compute-sanitizer; fi
done
[ -n "$tool" ] || { echo "gpu_test: compute-sanitizer is not there" >&2; exit 1; }
# A few steps of small batches with every number of heads, by both precisions, and the evaluator.
small='SmallRun.*'
for kind in memcheck racecheck synccheck; do
  extra=()
  if [ "$kind" = racecheck ]; then extra=(--racecheck-report all); fi
  begun=$SECONDS
  code=0
  timeout 600 "$tool" --tool "$kind" "${extra[@]}" --error-exitcode 9 "$program" --gtest_brief=1 --gtest_filter="$small" >"$log" 2>&1 || code=$?
  case $code in
    0) verdict=clean ;;
    9) verdict=errors ;;
    124) verdict="not done in time" ;;
    *) verdict=failed ;;
  esac
  [ "$code" = 0 ] || status=1
  summary=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY' "$log" | sed 's/^=* *//' | paste -sd ';' - || true)
  echo "$kind: $verdict, $((SECONDS - begun)) s: ${summary:-no summary}"
  [ "$verdict" = clean ] || tail -n 40 "$log" >&2
done
exit "$status"
