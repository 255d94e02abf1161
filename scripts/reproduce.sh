#!/usr/bin/env bash
# Builds synergraph and reproduces the paper: the two worked examples, then the grid of models, trained,
# measured and shown beside the published tables. Interrupted, it continues when run again.
# Usage: scripts/reproduce.sh [OPTION]...   options of `synergraph reproduce`; without any: --preset quick --out out
#   scripts/reproduce.sh --preset paper --seeds 5 --out paper
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/setup.sh build
cmake --preset release -DSYNERGRAPH_BUILD_TESTS=OFF -DSYNERGRAPH_BUILD_BENCHMARKS=OFF -DSYNERGRAPH_WERROR=OFF -DSYNERGRAPH_PRECOMPILE=ON -B build/reproduce >/dev/null
echo "Building the program: about $((11 / $(nproc) + 1)) minutes on $(nproc) idle cores, the first time"
scripts/show_build.sh cmake --build build/reproduce --target synergraph_cli
echo
program=build/reproduce/cli/synergraph

for example in 1 2; do
  echo "Worked example $example"
  echo
  "$program" graph --example $example --eps 0.25,0.05,0.01
  echo
done

out=()
case " $* " in *" --out"*) ;; *) out=(--out out) ;; esac
for argument in "$@"; do
  case $argument in -h | --help) exec "$program" reproduce --help ;; esac
done
exec "$program" reproduce "${out[@]}" "$@"
