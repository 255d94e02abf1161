#!/usr/bin/env bash
# What the shared library exports is what symbols.txt lists, and what the header declares: no more, no less.
# A change of the list is a change of the interface: say so in CHANGELOG.md.
# Usage: check_exports.sh NM LIBRARY HEADER SYMBOLS
set -euo pipefail
exported=$("$1" -D --defined-only "$2" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort)
declared=$(sed -nE 's/^SG_API .*\b(sg_[a-z_]+)\(.*/\1/p' "$3" | LC_ALL=C sort)
diff "$4" <(echo "$exported") || { echo "symbols.txt (<) lists other symbols than the library (>) exports"; exit 1; }
diff "$4" <(echo "$declared") || { echo "symbols.txt (<) lists other symbols than the header (>) declares"; exit 1; }
