#!/usr/bin/env bash
# clang-tidy over the library and the program. Most of its time goes into system headers, so the files of a
# folder are looked at together, as far as their names do not clash. What passed is not looked at again until
# one of its files, a header or the configuration changes.
set -eu
cd "$(dirname "$0")/.."
build=build/release
[ -f $build/generated/synergraph/core/version.h ] || cmake --preset release >/dev/null
mkdir -p $build/tidy
headers=$(find synergraph capi cli -name '*.h' | sort | xargs cat .clang-tidy | sha256sum | cut -c1-16)
flags="-std=c++20 -I. -I$build/generated -Wall -Wextra -Wpedantic -Wconversion -Wno-pass-failed -DSYNERGRAPH_PAGE=\"docs/index.html\"
       -ffp-contract=fast -fno-math-errno -fopenmp-simd"
# The kernels are looked at as they are compiled for AVX2.
kernel_flags="-march=x86-64-v3 -DSYNERGRAPH_ISA=v3 -Wno-psabi"

# check FOLDER BUILD HEADERS FLAGS...
check() {
  files=$(find "$1" -maxdepth 1 -name '*.cpp' | sort)
  unit=$2/tidy/${1//\//-}.cpp
  stamps=$2/tidy/$3
  status=0
  shift 3
  # shellcheck disable=SC2086
  case $unit in *-kernels.cpp) set -- "$@" $kernel_flags ;; esac
  while [ -n "$files" ]; do
    # The files that clash with earlier ones are the next unit.
    later=""
    while :; do
      printf '#include "%s"  // NOLINT(bugprone-suspicious-include)\n' $files >"$unit"
      stamp=$stamps-$(cat $files | sha256sum | cut -c1-16)
      [ ! -f "$stamp" ] || break
      output=$(clang-tidy --quiet "$unit" -- "$@" 2>/dev/null) && { touch "$stamp"; break; }
      clash=$(printf '%s\n' "$output" | sed -nE 's|^(.*/)?([^/ ]+\.cpp):[0-9:]+ error: .*\[clang-diagnostic-error.*|\2|p' | sort -u)
      keep=$(printf '%s\n' $files | grep -v "/\(${clash//$'\n'/\\|}\)\$" || true)
      if [ -z "$clash" ] || [ -z "$keep" ]; then
        printf '%s\n' "$output"
        status=1
        break
      fi
      later="$later $(printf '%s\n' $files | grep -vxF "$keep")"
      files=$keep
    done
    files=$(printf '%s\n' $later | sort)
  done
  return $status
}
export -f check
export kernel_flags
# Folders named cuda need CUDA's headers, which are not everywhere.
find synergraph capi cli -name '*.cpp' -not -path '*/cuda/*' -printf '%h\n' | sort | uniq -c | sort -rn | awk '{ print $2 }' |
  xargs -P "$(nproc)" -I{} bash -c 'check "$@"' _ {} $build "$headers" $flags
