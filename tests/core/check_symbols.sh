#!/usr/bin/env bash
# check_symbols.sh NM ISA OBJECT...: fails if an object defines a symbol that other files could share and that is not
# in the namespace of its instruction set.
set -euo pipefail
nm=$1
isa=$2
shift 2
symbols=$("$nm" -C --defined-only --extern-only "$@" | awk 'NF > 2')
[ -n "$symbols" ] || { echo "no symbols in $*"; exit 1; }
# Type information, which sanitizers ask for, is data: any copy of it will do.
if grep -v -e "synergraph::$isa::" -e ' V typeinfo ' <<<"$symbols"; then
  echo "these are not in synergraph::$isa"
  exit 1
fi
