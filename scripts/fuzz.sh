#!/usr/bin/env bash
# Fuzzes the parsers: scripts/fuzz.sh SECONDS [TARGET...]. Each target (default: all) runs for that
# long from its corpus in fuzz/corpus; new inputs go to build/fuzz/corpus. Status 1 on a finding.
set -eu
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")/.."

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
if [ $# -eq 0 ]; then
  for source in fuzz/fuzz_*.cpp; do
    name=$(basename "$source" .cpp)
    set -- "$@" "${name#fuzz_}"
  done
fi

status=0
for name in "$@"; do
  new=build/fuzz/corpus/$name
  mkdir -p "$new"
  echo "== $name: $seconds seconds"
  build/fuzz/fuzz/fuzz_"$name" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=1 -artifact_prefix=build/fuzz/"$name"- "$new" fuzz/corpus/"$name" || status=1
done
exit $status
