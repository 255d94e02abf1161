#!/usr/bin/env bash
# What a shared library of an archive exports: what public headers declare, and nothing of the private ones.
# Usage: check_exports.sh COMPILER NM ARCHIVE
set -euo pipefail
library=$(mktemp --suffix=.so)
trap 'rm -f "$library"' EXIT
"$1" -shared -o "$library" -Wl,--whole-archive "$3" -Wl,--no-whole-archive
exported=$("$2" -DC --defined-only "$library")
grep -q 'synergraph::measure_heads' <<<"$exported"
if grep -E 'synergraph::(v[0-9]|plain)::|WalkPowers|SlowSignal|FidelityTracker|SurvivalSweep' <<<"$exported"; then
  echo "private symbols are exported"
  exit 1
fi
