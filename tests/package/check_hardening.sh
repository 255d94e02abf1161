#!/usr/bin/env bash
# What guards programs and libraries against hostile files is in them: read-only tables of addresses (full RELRO), a stack without code and with
# canaries, checked calls of the C library (FORTIFY), code at random addresses (PIE), and targets of jumps that are marked (CET).
# Usage: check_hardening.sh READELF FILE...
set -euo pipefail
readelf=$1
shift
status=0
for file in "$@"; do
  lacks() { echo "$file lacks $*" >&2; status=1; }
  header=$("$readelf" -hW "$file")  # fails where there is no such file
  segments=$("$readelf" -lW "$file") dynamic=$("$readelf" -dW "$file") symbols=$("$readelf" --dyn-syms -W "$file")
  grep -q 'Type: *DYN' <<<"$header" || lacks "random addresses (PIE)"
  grep -q GNU_RELRO <<<"$segments" || lacks "read-only tables of addresses (RELRO)"
  grep -qE 'BIND_NOW|Flags:.*\bNOW\b' <<<"$dynamic" || lacks "full RELRO (-z now)"
  grep -E '^ *GNU_STACK ' <<<"$segments" | grep -q ' RW ' || lacks "a stack without code (-z noexecstack)"
  ! grep -E '^ *LOAD ' <<<"$segments" | grep -q ' RWE ' || lacks "code that cannot be written"
  ! grep -q TEXTREL <<<"$dynamic" || lacks "code without relocations"
  grep -q '__stack_chk_fail' <<<"$symbols" || lacks "guarded stacks (-fstack-protector-strong)"
  grep -qE '__(mem|str|read|pread|f|sn|vsn|v)[a-z]*_chk\b' <<<"$symbols" || lacks "checked calls (_FORTIFY_SOURCE)"
  marked=$(LC_ALL=C grep -oaP '\xf3\x0f\x1e\xfa' "$file" | wc -l)  # endbr64; a few come with the compiler's own files
  [ "$marked" -gt 500 ] || lacks "marked targets of jumps (-fcf-protection): only $marked"
done
exit $status
