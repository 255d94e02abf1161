#!/usr/bin/env bash
# clang-tidy over the library and the program. A file that passed is not looked at again until it, a header
# or the configuration changes.
set -eu
cd "$(dirname "$0")/.."
build=build/release
[ -f $build/compile_commands.json ] || cmake --preset release >/dev/null
mkdir -p $build/tidy
headers=$(find synergraph cli -name '*.h' | sort | xargs cat .clang-tidy | sha256sum | cut -c1-16)

check() {
  file=$1
  stamp="$2/tidy/$(cat "$file" | sha256sum | cut -c1-16)-$3"
  [ -f "$stamp" ] && exit 0
  if output=$(clang-tidy -p "$2" --quiet "$file" 2>/dev/null); then
    touch "$stamp"
  else
    printf '%s\n' "$output"
    exit 1
  fi
}
export -f check
find synergraph cli -name '*.cpp' | sort | xargs -P "$(nproc)" -I{} bash -c 'check "$@"' _ {} $build "$headers"
