#!/usr/bin/env bash
# Where programs and libraries look for the libraries that they need (RPATH, RUNPATH). An empty part of that path is the current
# directory, from which anybody's library would be loaded.
# Usage: check_paths.sh READELF named FILE...: every part begins with "/" or "$ORIGIN"
#        check_paths.sh READELF none FILE...: there is no such path
set -euo pipefail
readelf=$1 wanted=$2
shift 2
for file in "$@"; do
  "$readelf" -h "$file" >/dev/null  # a program or a library, or this fails
  paths=$("$readelf" -dW "$file" | sed -nE 's/.*\((RPATH|RUNPATH)\)[^[]*\[(.*)\]$/\2/p')
  [[ -z $paths ]] && continue
  if [[ $wanted == none ]]; then
    echo "$file looks for libraries in $paths: expected no path of its own" >&2
    exit 1
  fi
  while IFS= read -r -d : part; do
    if [[ $part != /* && $part != '$ORIGIN' && $part != '$ORIGIN/'* ]]; then
      echo "$file looks for libraries in \"$paths\": \"$part\" depends on the current directory" >&2
      exit 1
    fi
  done <<<"$paths:"
done
