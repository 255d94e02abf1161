#!/usr/bin/env bash
# Rebuilds the interactive page: the core as WebAssembly, then docs/index.html, which the program has inside. Same tools, same bytes.
#
#   scripts/page.sh            builds and tests it
#   scripts/page.sh --check    the same, and fails where what is kept differs from what the sources give
#   scripts/page.sh --quick    checks likewise, but takes the core as it is kept and opens no browser
#
# Needs what scripts/setup.sh page installs (--quick: nothing of it), Node.js 20 with npm, and for the tests the program
# (build/release/cli/synergraph, or SYNERGRAPH) and Chromium (/usr/bin/chromium, or CHROMIUM).
set -euo pipefail
cd "$(dirname "$0")/.."
check=${1:-}

[ "$check" = --quick ] || bash web/core/build.sh $check
cd web
npm install --no-save --silent --no-audit --no-fund  # what the lock file says; ci asks for other systems' packages
npm run --silent build -- --logLevel warn
if [ -n "$check" ]; then
  cmp dist/page.html ../docs/index.html || { echo "docs/index.html is not what the sources give: run scripts/page.sh" >&2; exit 1; }
else
  cp dist/page.html ../docs/index.html
  echo "docs/index.html: $(stat -c %s ../docs/index.html) bytes"
fi
npm test --silent
[ "$check" = --quick ] || npm run --silent test:browser
