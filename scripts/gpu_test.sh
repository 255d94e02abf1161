#!/usr/bin/env bash
# All tests that need a GPU, on the machine at hand. Status 1 where one fails or
# is skipped, or there is no GPU.
# Usage: scripts/gpu_test.sh [--sanitize] [--as-is] [BUILD_DIR]
#   BUILD_DIR   where the programs are. build/cuda unless given: that is built
#               if need be. One that was configured for these sources is
#               brought up to date. Any other was carried here: its
#               tests/gpu/test_gpu, tests/gpu/test_gpu_metrics and
#               cli/synergraph are taken as they are, with the libraries in
#               its lib/, if there are any.
#   --as-is     nothing is built in any case.
#   --sanitize  then compute-sanitizer's memcheck, racecheck and synccheck on a
#               small run, a line a tool.
set -euo pipefail
fail() { echo "gpu_test: $*" >&2; exit 1; }
usage() { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0"; }
sanitize=
as_is=
directory=
for argument in "$@"; do
  case $argument in
    --sanitize) sanitize=yes ;;
    --as-is) as_is=yes ;;
    --help | -h) usage; exit 0 ;;
    -*) echo "gpu_test: no option $argument" >&2; usage >&2; exit 2 ;;
    *) [ -z "$directory" ] || fail "two directories: $directory and $argument"
       [ -d "$argument" ] || fail "'$argument' is no directory"
       directory=$(realpath "$argument") ;;
  esac
done
root=$(cd "$(dirname "$0")/.." && pwd)
given=$directory
directory=${directory:-$root/build/cuda}
program=$directory/tests/gpu/test_gpu
metrics=$directory/tests/gpu/test_gpu_metrics
cd "$root"

ours() { grep -qs "^CMAKE_HOME_DIRECTORY:INTERNAL=$root\$" "$directory/CMakeCache.txt"; }
if [ -z "$as_is" ] && { [ -z "$given" ] || ours; }; then
  [ -f "$directory/build.ninja" ] || cmake --preset cuda -B "$directory" >/dev/null
  cmake --build "$directory" --target test_gpu test_gpu_metrics synergraph_cli -- --quiet
fi
for each in "$program" "$metrics"; do
  [ -x "$each" ] || fail "$each is not there"
done
if [ -z "${SYNERGRAPH_PROGRAM:-}" ] && [ -x "$directory/cli/synergraph" ]; then
  SYNERGRAPH_PROGRAM=$directory/cli/synergraph
  export SYNERGRAPH_PROGRAM  # the tests know where it was built, and not where it is now
fi
[ ! -d "$directory/lib" ] || export LD_LIBRARY_PATH="$directory/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# What one test says of the GPU, all would.
"$program" --gtest_filter='SmallRun.InFloat32' >"$log" 2>&1 || true
if grep -q 'SKIPPED' "$log"; then fail "no GPU for these tests: $(grep -A1 ': Skipped' "$log" | tail -n 1)"; fi
for each in "$program" "$metrics"; do
  "$each" --gtest_brief=1 2>&1 | tee "$log" || status=1
  if grep -q 'SKIPPED' "$log"; then
    echo "gpu_test: some tests were skipped" >&2
    status=1
  fi
done
[ -n "$sanitize" ] || exit "$status"

tool=$(command -v compute-sanitizer || true)
[ -n "$tool" ] || for place in /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer /opt/cuda/bin; do
  if [ -x "$place/compute-sanitizer" ]; then tool=$place/compute-sanitizer; fi
done
[ -n "$tool" ] || fail "compute-sanitizer is not there"
# A few steps of small batches with every number of heads, by both precisions, the evaluator, games
# on the loss, and attention of every kind that is measured.
small='SmallRun.*:SmallMetrics.AreAsOnTheCpuForNastyInputs:*LargeMetrics*/2:*MadeMetrics*/1:*HardMetrics*/0:*MadeMetrics*/10'
# racecheck takes a hundred times as long: one system with everything, and one that is made.
tiny='SmallRun.*:*HardMetrics*/0:*MadeMetrics*/10'
for kind in memcheck racecheck synccheck; do
  extra=()
  filter=$small
  if [ "$kind" = racecheck ]; then extra=(--racecheck-report all); filter=$tiny; fi
  for each in "$program" "$metrics"; do
    begun=$SECONDS
    code=0
    timeout 600 "$tool" --tool "$kind" "${extra[@]}" --error-exitcode 9 "$each" --gtest_brief=1 --gtest_filter="$filter" >"$log" 2>&1 || code=$?
    if [ "$code" = 0 ] && { grep -q 'SKIPPED' "$log" || ! grep -q 'PASSED' "$log"; }; then code=1; fi  # nothing ran
    case $code in
      0) verdict=clean ;;
      9) verdict=errors ;;
      124) verdict="not done in time" ;;
      *) verdict=failed ;;
    esac
    [ "$code" = 0 ] || status=1
    summary=$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY|LEAK SUMMARY' "$log" | sed 's/^=* *//' | paste -sd ';' - || true)
    echo "$kind, $(basename "$each"): $verdict, $((SECONDS - begun)) s: ${summary:-no summary}"
    [ "$verdict" = clean ] || tail -n 40 "$log" >&2
  done
done
exit "$status"
