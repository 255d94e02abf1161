#!/bin/bash
# Builds web/core/synergraph.wasm, the core of the interactive page. Same tools, same bytes.
#
#   web/core/build.sh           writes it
#   web/core/build.sh --check   fails where the one that is kept differs from what the sources give
#
# Needs Debian's clang-19 lld-19 llvm-19 libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 wasi-libc binaryen cmake ninja-build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build/wasm
cmake -S "$here" -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
  ${CMAKE_CXX_COMPILER_LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER=$CMAKE_CXX_COMPILER_LAUNCHER} > /dev/null
cmake --build "$build" -- --quiet
if [ "${1:-}" = --check ]; then
  cmp "$build/small.wasm" "$here/synergraph.wasm" ||
    { echo "web/core/synergraph.wasm is not what the sources give: run web/core/build.sh" >&2; exit 1; }
else
  cp "$build/small.wasm" "$here/synergraph.wasm"
  echo "web/core/synergraph.wasm: $(stat -c %s "$here/synergraph.wasm") bytes, $(gzip -9c "$here/synergraph.wasm" | wc -c) compressed"
fi
