#!/usr/bin/env bash
# Runs a build and says how far it is, in a line every 20 seconds. Everything else that the build says is shown as it comes. The exit status is the
# build's. Usage: scripts/show_build.sh cmake --build FOLDER [OPTION]...
set -uo pipefail
[ $# -gt 0 ] || { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/!p}' "$0" >&2; exit 2; }
every=${SYNERGRAPH_SHOW_EVERY:-20}
duration() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

SECONDS=0
export NINJA_STATUS='[%f/%t] '
"$@" 2>&1 | {
  shown=0 first=
  ninja='^\[([0-9]+)/([0-9]+)\] ' make='^\[ *([0-9]+)%\] '
  while IFS= read -r line; do
    if [[ $line =~ $ninja ]]; then
      done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} what="step $done of $total"
    elif [[ $line =~ $make ]]; then
      done=${BASH_REMATCH[1]} total=100 what="$done %"
    else
      case $line in "ninja: no work to do." | "ninja: Entering directory"* | "Consolidate compiler generated"*) ;; *) printf '%s\n' "$line" ;; esac
      continue
    fi
    first=${first:-$done}  # steps of an earlier build took no time
    if ((SECONDS - shown >= every && done > first)); then
      shown=$SECONDS
      printf '   %s, %s passed, about %s left\n' "$what" "$(duration $SECONDS)" "$(duration $((SECONDS * (total - done) / (done - first))))"
    fi
  done
}
status=${PIPESTATUS[0]}
[ "$status" = 0 ] && printf '   built in %s\n' "$(duration $SECONDS)"
exit "$status"
