#!/usr/bin/env bash
# Builds synergraph and reproduces the paper's two worked examples and its signal-diffusion figure.
# Usage: scripts/reproduce.sh [OUTPUT_DIRECTORY]   (default: out)
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-out}

bash scripts/setup.sh build
cmake --preset release -DSYNERGRAPH_BUILD_TESTS=OFF -DSYNERGRAPH_BUILD_BENCHMARKS=OFF -DSYNERGRAPH_WERROR=OFF -B build/reproduce >/dev/null
cmake --build build/reproduce --target synergraph_cli -- --quiet
program=build/reproduce/cli/synergraph
mkdir -p "$out"

for example in 1 2; do
  echo "Worked example $example"
  echo
  "$program" graph --example $example --eps 0.25,0.05,0.01 | tee "$out/example-$example.txt"
  "$program" graph --example $example --eps 0.25,0.05,0.01 --json >"$out/example-$example.json"
  echo
done
for ending in svg pdf png; do
  "$program" graph --example 2 --figure "$out/diffusion.$ending" --curves "$out/diffusion.csv" >/dev/null
done
echo "Figure: $out/diffusion.svg (also .pdf, .png, and the curves in .csv)"
