#!/usr/bin/env bash
# Fuzzes the parsers: scripts/fuzz.sh SECONDS [TARGET...]. Each target (default: all) runs for that
# long from its corpus in fuzz/corpus, as many at a time as there are CPUs; new inputs go to build/asan/corpus.
# Status 1 on a finding.
set -eu
seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
cd "$(dirname "$0")/.."

if [ $# -eq 0 ]; then
  for source in fuzz/fuzz_*.cpp; do
    name=$(basename "$source" .cpp)
    set -- "$@" "${name#fuzz_}"
  done
fi
cmake --preset asan >/dev/null
cmake --build --preset asan --target "${@/#/fuzz_}" -- --quiet

# fuzz NAME SECONDS: prints its last lines, or everything if something was found.
fuzz() {
  new=build/asan/corpus/$1
  log=build/asan/fuzz-$1.log
  mkdir -p "$new"
  if build/asan/fuzz/fuzz_"$1" -max_total_time="$2" -max_len=65536 -rss_limit_mb=2048 -timeout=10 \
    -print_final_stats=1 -artifact_prefix=build/asan/"$1"- "$new" fuzz/corpus/"$1" >"$log" 2>&1; then
    echo "$1: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $2 seconds, nothing found"
  else
    cat "$log"
    return 1
  fi
}
export -f fuzz
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} bash -c 'fuzz "$@"' _ {} "$seconds"
